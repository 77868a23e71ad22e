"""Runs one file of a package's pytest suite in the guest: `pytests.py FILE SKIPS [SECONDS]`.

FILE is below site-packages. SKIPS and what is written are as in regrtest.py; a test's name is
pytest's, from the file on. After SECONDS no further test begins: those that are left count as
`cut`, and each has a line.
"""

import fnmatch
import importlib
import os
import sys
import time
import types
from importlib.machinery import ModuleSpec

# Modules in C that only NumPy's own tests use; they are not part of the image.
TEST_MODULES = {
    f"numpy._core.{name}"
    for name in (
        "_multiarray_tests _operand_flag_tests _rational_tests _simd _struct_ufunc_tests"
        " _umath_tests"
    ).split()
} | {"numpy.linalg.lapack_lite"}


class Absent(types.ModuleType):
    """Stands for such a module: a test that uses it is skipped."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "get_fpu_mode":  # asked for around each test
            return int
        import pytest

        def skip(cls, *args, **kwargs):
            if "PYTEST_CURRENT_TEST" not in os.environ:
                return object.__new__(cls)  # while tests are collected
            pytest.skip(f"needs {self.__name__}")

        # A class: some are types that arrays can have.
        return type(name, (), {"__new__": skip})


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        return ModuleSpec(name, Finder) if name in TEST_MODULES else None

    @staticmethod
    def create_module(spec):
        return Absent(spec.name)

    @staticmethod
    def exec_module(module):
        pass


CUT = "the file's time was up"


def asks_for_64_bits(mark):
    """Whether a mark leaves a test out, or expects it to fail, where pointers have 32 bits."""
    reason = str(mark.kwargs.get("reason")).replace("-", "")
    return mark.name == "xfail_on_32bit" or "32bit" in reason


class Plugin:
    def __init__(self, out, known, end):
        self.out = out
        self.known = known
        self.end = end
        self.counts = dict.fromkeys(("passed", "failed", "skipped", "expected", "cut"), 0)

    def line(self, kind, name, why):
        why = " ".join(str(why).split())[:300]
        print(kind, name, why, sep="\t", file=self.out, flush=True)

    def pytest_collection_modifyitems(self, items):
        import pytest

        for item in items:
            # SciPy and scikit-learn leave out what fails on some system with 32 bits: it shall
            # pass here.
            for node in item.listchain():
                node.own_markers[:] = [m for m in node.own_markers if not asks_for_64_bits(m)]
            module = getattr(item, "module", None)
            if hasattr(module, "_is_32bit"):
                module._is_32bit = lambda: False
            if hasattr(module, "_IS_32BIT"):
                module._IS_32BIT = False
            for pattern, why in self.known:
                if fnmatch.fnmatchcase(item.nodeid, pattern.replace("[", "[[]")):
                    item.add_marker(pytest.mark.skip(reason=why))
                    break

    def pytest_runtest_setup(self, item):
        import pytest

        if time.monotonic() > self.end:
            pytest.skip(CUT)

    def pytest_runtest_logstart(self, nodeid, location):
        print(f"\n{nodeid}", file=sys.__stderr__, flush=True)  # after pytest's dots

    def message(self, report):
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash is not None else str(report.longrepr)
        lines = [line for line in text.strip().splitlines() if line.strip()]
        if not lines:
            return ""
        if lines[0].rstrip() in ("AssertionError:", "AssertionError: ") and len(lines) > 1:
            return " ".join(lines[:3])
        return lines[0]

    def pytest_runtest_logreport(self, report):
        if report.skipped:
            if hasattr(report, "wasxfail"):
                self.counts["expected"] += 1
                self.line("expected", report.nodeid, report.wasxfail)
                return
            why = report.longrepr
            why = why[2] if isinstance(why, tuple) else why
            kind = "cut" if str(why).endswith(CUT) else "skipped"
            self.counts[kind] += 1
            self.line(kind, report.nodeid, why)
        elif report.failed:
            self.counts["failed"] += 1
            self.line("failed", report.nodeid, self.message(report))
        elif report.when == "call":
            self.counts["passed"] += 1

    def pytest_collectreport(self, report):
        if report.failed:
            self.counts["failed"] += 1
            text = str(report.longrepr).strip().splitlines()
            self.line("failed", report.nodeid, text[-1] if text else "")
        elif report.skipped:
            self.counts["skipped"] += 1
            self.line("skipped", report.nodeid, report.longrepr[2])


def main(file, skips, seconds="inf"):
    with open(skips, encoding="utf-8") as lines:
        known = [line.strip().partition(": ")[::2] for line in lines
                 if line.strip() and not line.startswith("#")]
    out = os.fdopen(os.dup(1), "w")
    began = time.monotonic()
    plugin = Plugin(out, known, began + float(seconds))
    whole = next((why for pattern, why in known if pattern == file), None)
    if whole is not None:
        plugin.counts["skipped"] += 1
        plugin.line("skipped", file, whole)
    else:
        sys.meta_path.insert(0, Finder)
        # The image's ctypes is a module, and finds no libraries.
        ctypes = importlib.import_module("ctypes")
        if not hasattr(ctypes, "__path__"):
            ctypes.util = sys.modules["ctypes.util"] = Absent("ctypes.util")
        if file.startswith("scipy/"):
            # A function of ctypes, which test_quadpack imports for some of its tests.
            callbacks = importlib.import_module("scipy._lib._ccallback_c")
            if not hasattr(callbacks, "sine_ctypes"):
                callbacks.sine_ctypes = Absent("ctypes").sine
        import pytest

        site = next(path for path in sys.path if path.endswith("site-packages"))
        os.chdir(site)
        os.dup2(2, 1)
        pytest.main(
            ["-q", "-c", "/dev/null", "--rootdir", site, "--tb=short", "-p", "no:cacheprovider",
             "-p", "no:faulthandler", "-m", "not slow and not single_cpu and not network",
             "-W", "ignore::pytest.PytestUnknownMarkWarning", file],
            plugins=[plugin])
    counts = " ".join(f"{kind}={n}" for kind, n in plugin.counts.items())
    print("done", file, f"{counts} seconds={time.monotonic() - began:.1f}", sep="\t",
          file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
