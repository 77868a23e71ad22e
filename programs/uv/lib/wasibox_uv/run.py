"""`uv run` and `uvx`: a command in an environment that has what it needs."""

import hashlib
import os
import re
import sys
import time
import tomllib
from pathlib import Path

from . import Failure
from .environment import Environment, check_version, find_environment, is_environment, make_environment, normalize, say
from .pip import report, run_pip

# The block of a script with its requirements (PEP 723).
BLOCK = re.compile(r"(?m)^# /// script$\s(?P<content>(^#(| .*)$\s)+)^# ///$")

WITH_VALUE = {
    "--with": "packages", "--with-requirements": "files", "--python": "python", "-p": "python", "--extra": "extras",
    "--env-file": None, "--group": "groups", "--package": None, "--directory": "folder", "--project": None,
}
PLAIN = {
    "--no-project": "alone", "--isolated": None, "--quiet": None, "-q": None, "--frozen": None, "--locked": None,
    "--no-sync": "alone", "--all-extras": None, "--script": "script", "-s": "script", "--module": "module",
    "-m": "module", "--no-dev": "no_dev", "--active": None, "--offline": None, "--exact": None, "-v": None,
    "--verbose": None, "--no-config": None,
}


def split(words):
    """Splits options of `uv run` from the command."""
    options = {"packages": [], "files": [], "extras": [], "groups": []}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        name, equals, value = words[at].partition("=")
        at += 1
        if name == "--":
            break
        if name in PLAIN and not equals:
            options[PLAIN[name]] = True
            if PLAIN[name] == "module":
                break
            continue
        if name not in WITH_VALUE:
            raise Failure(f"unexpected argument '{name}' found", "", "For more information, try '--help'.")
        if not equals:
            if at >= len(words):
                raise Failure(f"a value is required for '{name}' but none was supplied")
            value = words[at]
            at += 1
        key = WITH_VALUE[name]
        if isinstance(options.get(key), list):
            options[key] += value.split(",") if key == "packages" else [value]
        else:
            options[key] = value
    return options, words[at:]


def run(words):
    options, command = split(words)
    if options.get("folder"):
        os.chdir(options["folder"])
    check_version(options.get("python"))
    if not command:
        raise Failure("Provide a command or script to invoke with `uv run <command>` or `uv run <script>.py`.")
    first = command[0]
    is_script = options.get("script") or (first.endswith((".py", ".pyw")) and not options.get("module"))
    needed = script_requirements(first) if is_script and os.path.isfile(first) else None
    environment = Environment() if needed is not None else chosen_environment(options)
    extra = [*(needed or []), *options["packages"]]
    variables = environment.variables()
    if extra or options["files"]:
        variables["PYTHONPATH"] = os.pathsep.join(
            filter(None, [extra_packages(extra, options["files"]), os.environ.get("PYTHONPATH")])
        )
    if first == "-":
        argv = [environment.python, "-", *command[1:]]
    elif options.get("module"):
        argv = [environment.python, "-m", *command]
    elif is_script or os.path.isdir(first):
        argv = [environment.python, *command]
    elif first in ("python", "python3"):
        argv = [environment.python, *command[1:]]
    else:
        argv = command
    return start(argv, variables)


def start(argv, variables):
    """Replaces the process by the command."""
    bin_folder = variables.get("PYTHONPATH", "").split(os.pathsep)[0]
    if bin_folder and os.path.isdir(os.path.join(bin_folder, "bin")):
        variables["PATH"] = os.path.join(bin_folder, "bin") + os.pathsep + variables.get("PATH", os.defpath)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execvpe(argv[0], argv, variables)
    except OSError:
        raise Failure(f"Failed to spawn: {argv[0]}", "  cause: No such file or directory (os error 2)") from None


def script_requirements(path):
    """Returns the requirements that a script names for itself, or None."""
    text = Path(path).read_text(errors="replace")
    found = BLOCK.search(text)
    if found is None:
        return None
    lines = found.group("content").splitlines(keepends=True)
    block = "".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)
    try:
        return tomllib.loads(block).get("dependencies", [])
    except tomllib.TOMLDecodeError as e:
        raise Failure(f"the block `script` of {path} is not TOML: {e}") from None


def chosen_environment(options):
    """Returns the project's environment with its dependencies, else the nearest one, else the system's."""
    here = Path.cwd()
    projects = (folder for folder in (here, *here.parents) if (folder / "pyproject.toml").is_file())
    folder = None if options.get("alone") else next(projects, None)
    if folder is None:
        return find_environment() or Environment()
    try:
        settings = tomllib.loads((folder / "pyproject.toml").read_text())
    except tomllib.TOMLDecodeError as e:
        raise Failure("Failed to parse: `pyproject.toml`", f"  cause: {e}") from None
    if "project" not in settings:
        return find_environment() or Environment()
    wanted = list(settings["project"].get("dependencies", []))
    groups = [*options["groups"], *([] if options.get("no_dev") else ["dev"])]
    for group in groups:
        wanted += [r for r in settings.get("dependency-groups", {}).get(group, []) if isinstance(r, str)]
    for extra in options["extras"]:
        wanted += settings["project"].get("optional-dependencies", {}).get(extra, [])
    place = folder / ".venv"
    environment = Environment(place) if is_environment(place) else make_environment(place)
    missing = [text for text in wanted if not is_satisfied(text, environment.distributions())]
    if missing:
        started = time.monotonic()
        before = environment.versions()
        run_pip(environment, ["install", *missing])
        report(before, environment.versions(), started, False)
    return environment


def is_satisfied(text, installed):
    from pip._vendor.packaging.requirements import Requirement

    wanted = Requirement(text)
    if wanted.marker is not None and not wanted.marker.evaluate():
        return True
    found = installed.get(normalize(wanted.name))
    return found is not None and wanted.specifier.contains(found.version, prereleases=True)


def extra_packages(packages, files):
    """Returns a folder with packages, which is kept for the next time."""
    texts = [*sorted(packages), *(Path(file).read_text() for file in files)]
    key = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    cache = os.environ.get("UV_CACHE_DIR") or os.path.join(os.path.expanduser("~"), ".cache/uv")
    folder = Path(cache) / "environments" / key
    if not (folder / ".complete").is_file():
        started = time.monotonic()
        words = ["install", "--target", str(folder), "--upgrade", *packages]
        run_pip(Environment(), [*words, *(word for file in files for word in ("-r", file))])
        (folder / ".complete").touch()
        say(f"Installed {', '.join(packages) or 'packages'} in {(time.monotonic() - started) * 1000:.0f}ms")
    return str(folder)


def tool_run(words):
    """Runs a command of a package: `uvx PACKAGE[@VERSION] [ARG]...`, `uvx --from PACKAGE COMMAND`."""
    source, packages = None, []
    while words and words[0].startswith("-"):
        name, equals, value = words[0].partition("=")
        words = words[1:]
        if name in ("--from", "--with", "--python", "-p"):
            if not equals:
                if not words:
                    raise Failure(f"a value is required for '{name}' but none was supplied")
                value, words = words[0], words[1:]
            if name == "--from":
                source = value
            elif name == "--with":
                packages += value.split(",")
            else:
                check_version(value)
        elif name not in ("--isolated", "--quiet", "-q", "--offline", "--no-config"):
            raise Failure(f"unexpected argument '{name}' found", "", "For more information, try '--help'.")
    if not words:
        raise Failure("Provide a command to run with `uvx <command>`.", "", "See `uvx --help` for more information.")
    command, _, version = words[0].partition("@")
    if source is None:
        source = f"{command}=={version}" if version and version != "latest" else command
    folder = extra_packages([source, *packages], [])
    variables = {**os.environ, "PYTHONPATH": folder}
    return start([command, *words[1:]], variables)
