"""Runs the suites of E2B's packages against a server: run.py RUNNER IMAGE MODULES SOURCES

MODULES is the folder of the modules for JavaScript, SOURCES has clones of the repositories
e2b-dev/E2B (at b8029973) and e2b-dev/code-interpreter (at 7df1757b), named E2B and
code-interpreter. Prints a line for each suite, and ends with 1 if a test fails that
`excluded.toml` does not name.
"""

import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree

from server import serving

OWN = pathlib.Path(__file__).parent
#: The suites with a server: name, folder, the parts that are run.
PYTHON = (
    (
        "e2b-python",
        "E2B/packages/python-sdk",
        ["tests/sync/sandbox_sync", "tests/async/sandbox_async", "tests/sync/api_sync", "tests/async/api_async", "tests/shared/git"],
    ),
    ("interpreter-python", "code-interpreter/python", ["tests/sync", "tests/async", "tests/charts", "tests/images"]),
)
JAVASCRIPT = (
    ("e2b-javascript", "E2B/packages/js-sdk", ["tests/sandbox", "tests/api"]),
    ("interpreter-javascript", "code-interpreter/js", ["tests"]),
)
CONFIG = """import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
const setup = 'tests/globalFetchFallback.setup.ts'
export default defineConfig({ test: {
  setupFiles: existsSync(setup) ? [setup] : [],
  include: ['tests/**/*.test.ts'], exclude: ['tests/runtimes/**', '**/*.browser.test.ts'],
  testTimeout: 30_000, environment: 'node', env: { ...process.env },
} })
"""


def copy_suite(sources, path, folder):
    target = folder / path.replace("/", "-")
    shutil.copytree(sources / path, target, ignore=shutil.ignore_patterns("node_modules", "dist"))
    return target


def run_pytest(suite, paths, env, folder):
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "4"]
    command += ["--timeout", "60", f"--junitxml={report}", *paths]
    # The package under test is the installed one.
    for source in ("e2b", "e2b_code_interpreter"):
        shutil.rmtree(suite / source, ignore_errors=True)
    subprocess.run(command, cwd=suite, env=env, stdout=subprocess.DEVNULL, check=False)
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        file = case.get("classname").replace(".", "/") + ".py"
        state = "skipped" if "skipped" in kinds else "failed" if kinds & {"failure", "error"} else "passed"
        yield f"{file}::{case.get('name')}", state


def run_vitest(suite, paths, env, folder, modules):
    for old in suite.glob("vitest.*"):
        old.unlink()
    (suite / "vitest.config.mts").write_text(CONFIG)
    (suite / "node_modules").symlink_to(modules)
    report = folder / "report.json"
    command = [modules / ".bin/vitest", "run", *paths, "--reporter=json", f"--outputFile={report}"]
    subprocess.run(command, cwd=suite, env=env, capture_output=True, check=False)
    for file in json.loads(report.read_text())["testResults"]:
        name = file["name"].removeprefix(f"{suite}/")
        for test in file["assertionResults"]:
            yield f"{name}::{test['title']}", test["status"]


def main():
    runner, image, modules, sources = (pathlib.Path(arg).resolve() for arg in sys.argv[1:5])
    excluded = tomllib.loads((OWN / "excluded.toml").read_text())
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with serving(runner, image, folder) as env:
            for suite, path, paths in PYTHON + JAVASCRIPT:
                copy = copy_suite(sources, path, folder)
                if (suite, path, paths) in PYTHON:
                    results = list(run_pytest(copy, paths, env, folder))
                else:
                    results = list(run_vitest(copy, paths, env, folder, modules))
                bad += show(suite, results, excluded[suite])
    raise SystemExit(1 if bad or not results else 0)


def show(suite, results, excluded):
    left = [(name, state) for name, state in results if state not in ("skipped", "pending")]
    reasons = {name: next((why for head, why in excluded.items() if name.startswith(head)), None) for name, _ in left}
    failed = [name for name, state in left if state == "failed"]
    without = collections.Counter(reasons[name] for name in failed if reasons[name])
    bad = [name for name in failed if not reasons[name]]
    passed = sum(state == "passed" for _, state in left)
    applies = passed + len(bad)
    print(f"{suite}: {passed} of {applies} that apply pass, {passed} of {len(left)} in all; without: {dict(without)}")
    for name in bad:
        print(f"  failed: {name}")
    sys.stdout.flush()
    return len(bad)


main()
