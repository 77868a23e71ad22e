"""`uv pip`: pip does the work, on the environment that uv would choose."""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from . import Failure
from .environment import Environment, check_version, find_environment, normalize, say

# Options of `uv pip install` that pip has under the same name, with a value and without.
WITH_VALUE = ("index-url", "extra-index-url", "find-links", "target", "prefix", "no-binary", "only-binary")
PLAIN = ("no-index", "no-deps", "pre", "no-cache-dir", "force-reinstall", "require-hashes", "no-build-isolation", "dry-run")


def plural(number, word="package"):
    return f"{number} {word}{'' if number == 1 else 's'}"


def milliseconds(since):
    return f"{(time.monotonic() - since) * 1000:.0f}ms"


class Parser(argparse.ArgumentParser):
    """A parser whose messages are like uv's."""

    def error(self, message):
        raise Failure(message, "", "For more information, try '--help'.")


def choose(options, *, changes):
    """Returns the environment that a command is for."""
    check_version(options.python if options.python and not os.path.exists(options.python) else None)
    if options.python and os.path.exists(options.python):
        folder = Path(options.python)
        return Environment(folder if folder.is_dir() else folder.parent.parent)
    found = find_environment()
    if options.system or os.environ.get("UV_SYSTEM_PYTHON") in ("1", "true") or (found is None and not changes):
        return Environment()
    if found is None:
        raise Failure(
            "No virtual environment found; run `uv venv` to create an environment, or pass `--system` "
            "to install into a non-virtual environment"
        )
    return found


def parser(name, about):
    made = Parser(prog=f"uv pip {name}", description=about)
    made.add_argument("--python", "-p", metavar="PYTHON", help="the environment, or its interpreter")
    made.add_argument("--system", action="store_true", help="use the system's Python, not a virtual environment")
    made.add_argument("--quiet", "-q", action="count", default=0)
    made.add_argument("--verbose", "-v", action="count", default=0)
    made.add_argument("--offline", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("--no-config", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("--break-system-packages", action="store_true", help=argparse.SUPPRESS)
    return made


def run_pip(environment, words):
    """Runs pip on an environment; fails with pip's message."""
    command = [sys.executable, "-m", "pip"]
    if environment.root:
        command += ["--python", environment.python]
    command += ["--disable-pip-version-check", "--no-input", "--quiet", *words]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0:
        return
    lines = [line for line in done.stderr.splitlines() if not line.startswith("WARNING")]
    wanted = [line.removeprefix("ERROR: ") for line in lines]
    if any("No matching distribution" in line for line in wanted):
        raise Failure(
            "No solution found when resolving dependencies", *(f"  cause: {line}" for line in wanted), status=1
        )
    raise Failure(wanted[0] if wanted else "pip failed", *wanted[1:], status=1)


def report(before, after, started, quiet, *, checked=None):
    """Says what has changed between two states of an environment: versions by name."""
    gone = [(n, v) for n, v in before.items() if after.get(n) != v]
    new = [(n, v) for n, v in after.items() if before.get(n) != v]
    if quiet:
        return
    if not gone and not new and checked is not None:
        say(f"Checked {plural(checked)} in {milliseconds(started)}")
    if gone:
        say(f"Uninstalled {plural(len(gone))} in {milliseconds(started)}")
    if new:
        say(f"Installed {plural(len(new))} in {milliseconds(started)}")
    changes = [(n, 0, "-", v) for n, v in gone] + [(n, 1, "+", v) for n, v in new]
    for name, _, sign, version in sorted(changes):
        say(f" {sign} {name}=={version}")


def install(words):
    made = parser("install", "Install packages.")
    made.add_argument("packages", nargs="*", metavar="PACKAGE")
    made.add_argument("--requirements", "--requirement", "-r", action="append", default=[], metavar="FILE")
    made.add_argument("--constraints", "--constraint", "-c", action="append", default=[], metavar="FILE")
    made.add_argument("--editable", "-e", action="append", default=[], metavar="FOLDER")
    made.add_argument("--upgrade", "-U", action="store_true")
    made.add_argument("--upgrade-package", "-P", action="append", default=[], metavar="PACKAGE")
    made.add_argument("--reinstall", action="store_true")
    made.add_argument("--default-index", "--index", dest="index_url_too", metavar="URL")
    for name in WITH_VALUE:
        made.add_argument(f"--{name}", *(["-i"] if name == "index-url" else []), metavar="VALUE")
    for name in PLAIN:
        made.add_argument(f"--{name}", action="store_true")
    made.add_argument("--no-cache", "-n", dest="no_cache_dir", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args(words)
    if not options.packages and not options.requirements and not options.editable:
        raise Failure(
            "the following required arguments were not provided:",
            "  <PACKAGE|--requirements <REQUIREMENTS>|--editable <EDITABLE>>", "",
            "For more information, try '--help'.",
        )
    for file in [*options.requirements, *options.constraints]:
        if not os.path.exists(file):
            raise Failure(f"File not found: {file}")
    environment = choose(options, changes=True)
    pip = ["install", *options.packages, *options.upgrade_package]
    pip += [word for file in options.requirements for word in ("-r", file)]
    pip += [word for file in options.constraints for word in ("-c", file)]
    pip += [word for folder in options.editable for word in ("-e", folder)]
    pip += ["--upgrade"] if options.upgrade or options.upgrade_package else []
    pip += ["--force-reinstall"] if options.reinstall else []
    pip += ["--index-url", options.index_url_too] if options.index_url_too else []
    given = vars(options)
    for name in WITH_VALUE:
        value = given[name.replace("-", "_")]
        pip += [f"--{name}", value] if value else []
    pip += [f"--{name}" for name in PLAIN if given[name.replace("-", "_")]]
    started = time.monotonic()
    before = environment.versions()
    run_pip(environment, pip)
    after = environment.versions()
    report(before, after, started, options.quiet, checked=len(options.packages) or len(after))


def uninstall(words):
    made = parser("uninstall", "Uninstall packages.")
    made.add_argument("packages", nargs="*", metavar="PACKAGE")
    made.add_argument("--requirements", "--requirement", "-r", action="append", default=[], metavar="FILE")
    made.add_argument("--yes", "-y", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args(words)
    environment = choose(options, changes=True)
    before = environment.versions()
    wanted = [word for file in options.requirements for word in required_names(file)] + options.packages
    present = [name for name in wanted if normalize(name) in before]
    for name in wanted:
        if name not in present:
            say(f"warning: Skipping {name} as it is not installed")
    if not present:
        say("warning: No packages to uninstall")
        return
    started = time.monotonic()
    run_pip(environment, ["uninstall", "-y", *present])
    report(before, environment.versions(), started, options.quiet)


def required_names(file):
    from pip._vendor.packaging.requirements import Requirement

    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        raise Failure(f"File not found: {file}") from None
    plain = (line.split(" #")[0].strip() for line in lines)
    return [Requirement(line).name for line in plain if line and line[0] not in "#-"]


def list_packages(words):
    made = parser("list", "List installed packages.")
    made.add_argument("--format", choices=("columns", "freeze", "json"), default="columns")
    made.add_argument("--exclude", action="append", default=[], metavar="PACKAGE")
    made.add_argument("--editable", "-e", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args(words)
    environment = choose(options, changes=False)
    left_out = {normalize(name) for name in options.exclude}
    rows = [(n, d.version) for n, d in environment.distributions().items() if n not in left_out]
    if options.format == "json":
        print(json.dumps([{"name": n, "version": v} for n, v in rows], separators=(",", ":")))
    elif options.format == "freeze":
        print("".join(f"{n}=={v}\n" for n, v in rows), end="")
    elif rows:
        wide = max(len("Package"), *(len(n) for n, _ in rows))
        tall = max(len("Version"), *(len(v) for _, v in rows))
        for left, right in [("Package", "Version"), ("-" * wide, "-" * tall), *rows]:
            print(f"{left:{wide}} {right}")


def freeze(words):
    made = parser("freeze", "List installed packages as requirements.")
    made.add_argument("--exclude-editable", action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args(words)
    for name, found in choose(options, changes=False).distributions().items():
        print(f"{name}=={found.version}")


def show(words):
    made = parser("show", "Print facts about installed packages.")
    made.add_argument("packages", nargs="+", metavar="PACKAGE")
    made.add_argument("--files", "-f", action="store_true")
    options = made.parse_args(words)
    installed = choose(options, changes=False).distributions()
    missing = [name for name in options.packages if normalize(name) not in installed]
    if missing:
        say(f"warning: Package(s) not found for: {', '.join(missing)}")
    names = [normalize(name) for name in options.packages if name not in missing]
    for at, name in enumerate(names):
        found = installed[name]
        if at:
            print("---")
        users = sorted(n for n, d in installed.items() if name in needs(d))
        print(f"Name: {name}\nVersion: {found.version}\nLocation: {found.locate_file('')}")
        print(f"Requires: {', '.join(sorted(needs(found)))}".rstrip())
        print(f"Required-by: {', '.join(users)}".rstrip())
        if options.files:
            print("Files:", *sorted(str(file) for file in found.files or []), sep="\n  ")
    return 0 if names else 1


def needs(found):
    """Returns the names that a distribution requires here."""
    from pip._vendor.packaging.requirements import Requirement

    wanted = (Requirement(text) for text in found.requires or [])
    return {normalize(r.name) for r in wanted if r.marker is None or r.marker.evaluate({"extra": ""})}


def check(words):
    made = parser("check", "Check that packages fit each other.")
    options = made.parse_args(words)
    installed = choose(options, changes=False).distributions()
    started = time.monotonic()
    faults = list(incompatible(installed))
    say(f"Checked {plural(len(installed))} in {milliseconds(started)}")
    if not faults:
        say("All installed packages are compatible")
        return 0
    say(f"Found {plural(len(faults), 'incompatibility').replace('incompatibilitys', 'incompatibilities')}")
    for line in faults:
        say(line)
    return 1


def incompatible(installed):
    from pip._vendor.packaging.requirements import Requirement

    for name, found in installed.items():
        for text in found.requires or []:
            wanted = Requirement(text)
            if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
                continue
            other = installed.get(normalize(wanted.name))
            if other is None:
                yield f"The package `{name}` requires `{wanted.name}{wanted.specifier}`, but it's not installed"
            elif not wanted.specifier.contains(other.version, prereleases=True):
                yield (f"The package `{name}` requires `{wanted.name}{wanted.specifier}`, "
                       f"but `{other.version}` is installed")


COMMANDS = {
    "install": install,
    "uninstall": uninstall,
    "list": list_packages,
    "freeze": freeze,
    "show": show,
    "check": check,
}
