"""Runs one test module of CPython's in the guest: `regrtest.py MODULE SKIPS`.

SKIPS is a file of `PATTERN: reason` lines; a pattern is a test's dotted name without
`test.`, with `*`. Standard output gets one line per test that did not simply pass and a
last line with the counts; each is tab-separated: kind, test, reason. Standard error gets the
name of each test as it begins, so that the caller knows which one ended the process.
"""

import fnmatch
import importlib
import os
import sys
import time
import unittest


def reason(error):
    """One line that says what went wrong."""
    kind, value, _ = error
    text = str(value).strip().replace("\t", " ")
    first = text.splitlines()[0] if text else ""
    return f"{kind.__name__}: {first}"[:300]


def is_absent(error):
    """Whether a module is missing that only tests use."""
    name = getattr(error, "name", None) or ""
    return isinstance(error, ImportError) and name.startswith("_test")


class Result(unittest.TestResult):
    def __init__(self, out):
        super().__init__()
        self.out = out
        self.counts = dict.fromkeys(("passed", "failed", "skipped", "expected"), 0)
        self.failed = False

    def report(self, kind, test, why):
        name = test.id() if hasattr(test, "id") else str(test)
        why = " ".join(str(why).split())
        print(kind, name.removeprefix("test."), why, sep="\t", file=self.out, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.failed = False
        print(test.id().removeprefix("test."), file=sys.__stderr__, flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        if self.failed:
            self.counts["failed"] += 1

    def addSuccess(self, test):
        self.counts["passed"] += 1

    def addError(self, test, err):
        if is_absent(err[1]):
            return self.addSkip(test, reason(err))
        super().addError(test, err)
        if isinstance(test, unittest.TestCase):
            self.failed = True
        else:
            self.counts["failed"] += 1  # a class's or module's fixture
        self.report("failed", test, reason(err))

    addFailure = addError

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None and not is_absent(err[1]):
            self.failed = True
            self.report("failed", subtest, reason(err))

    def addSkip(self, test, why):
        self.counts["skipped"] += 1
        self.report("skipped", test, why)

    def addExpectedFailure(self, test, err):
        self.counts["expected"] += 1

    def addUnexpectedSuccess(self, test):
        self.counts["passed"] += 1
        self.report("unexpected", test, "passes although it is marked as failing")


def skips(file):
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            line = line.strip()
            if line and not line.startswith("#"):
                pattern, _, why = line.partition(": ")
                yield pattern, why


def each(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


# Modules that are left out on WASI for want of sockets, and only use some of the loopback.
OVER_SOCKETS = {"test_epoll", "test_poll", "test_select", "test_selectors"}


def main(module, file):
    out = os.fdopen(os.dup(1), "w")
    result = Result(out)
    known = list(skips(file))
    began = time.monotonic()
    whole = next((why for pattern, why in known if pattern == module), None)
    try:
        if whole is not None:
            raise unittest.SkipTest(whole)
        from test import support

        # The sandbox has processes, which the suite does not expect of WASI.
        support.has_subprocess_support = True
        support.use_resources = ["subprocess", "cpu", "walltime", "decimal", "curses"]
        os.environ.setdefault("TERM", "xterm-256color")
        if module in OVER_SOCKETS:
            support.has_socket_support, support.is_wasi = True, False
        support.verbose = 0
        from test.support import threading_helper

        # Nor threads.
        threading_helper.can_start_thread = True
        os.makedirs("/tmp/t", exist_ok=True)
        os.chdir("/tmp/t")
        tests = unittest.TestLoader()
        suite = tests.loadTestsFromModule(importlib.import_module(f"test.{module}"))
    except unittest.SkipTest as skip:
        result.counts["skipped"] += 1
        result.report("skipped", module, skip)
    except BaseException as error:
        kind = "skipped" if is_absent(error) else "failed"
        result.counts[kind] += 1
        result.report(kind, module, reason((type(error), error, None)))
    else:
        for test in each(suite):
            name = test.id().removeprefix("test.")
            for pattern, why in known:
                if fnmatch.fnmatchcase(name, pattern):
                    setattr(test, getattr(test, "_testMethodName", "runTest"),
                            unittest.skip(why)(lambda: None))
                    break
        suite.run(result)
    counts = " ".join(f"{kind}={n}" for kind, n in result.counts.items())
    print("done", module, f"{counts} seconds={time.monotonic() - began:.1f}", sep="\t",
          file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
