"""The command line of `uv`."""

import argparse
import os
import sys

from . import FOLLOWED, Failure
from .environment import Environment, VERSION, check_version, find_environment, make_environment, say

HELP = """Usage: uv COMMAND [OPTION]... [ARG]...

A thin front of pip and venv, in the words of uv.

  uv pip install [-r FILE] [-U] PACKAGE...   install packages; --system without an environment
  uv pip uninstall|list|freeze|show|check    the same of pip, for the environment
  uv venv [FOLDER]                           make a virtual environment, .venv by default
  uv run [--with PACKAGE] COMMAND|FILE.py    run a command in the project's environment
  uvx PACKAGE [ARG]...                       run a command of a package (also uv tool run)
  uv python find|list                        say which Python there is
  uv --version

Packages are those that pip finds, where the policy allows the requests: such without native code.
Environments see the packages of the image.

Examples:
  uv venv && uv pip install requests         an environment with a package
  uv run --with rich python -c 'import rich' a package for one command
"""

REFUSED = {
    "add": "edit dependencies in pyproject.toml; uv run installs them",
    "remove": "edit dependencies in pyproject.toml",
    "init": "write a pyproject.toml",
    "sync": "uv run installs what pyproject.toml names",
    "lock": "there are no lock files",
    "upgrade": "use uv pip install -U",
    "export": "use uv pip freeze",
    "tree": "use uv pip list, or uv pip show",
    "format": "nothing formats code here",
    "audit": "nothing knows of advisories here",
    "build": "use python3 -m build, where it is installed",
    "publish": "nothing can be published from here",
    "auth": "nothing can be published from here",
    "cache": "the folder ~/.cache/uv can be removed",
    "self": "it is a part of the image",
    "tool": "uv tool run PACKAGE, or uvx, runs a command; nothing is installed for good",
    "workspace": "there are no workspaces",
}
PIP_REFUSED = {"compile": "use uv pip freeze", "sync": "use uv pip install -r", "tree": "use uv pip show"}


def unknown(name, usage):
    return Failure(
        f"unrecognized subcommand '{name}'", "", f"Usage: {usage} [OPTIONS] <COMMAND>", "",
        "For more information, try '--help'.",
    )


def make_venv(words):
    made = argparse.ArgumentParser(prog="uv venv", description="Make a virtual environment.")
    made.add_argument("path", nargs="?", default=".venv", metavar="FOLDER")
    made.add_argument("--python", "-p", metavar="VERSION")
    made.add_argument("--clear", "-c", action="store_true", help="replace one that is there")
    made.add_argument("--allow-existing", action="store_true", help="keep one that is there")
    made.add_argument("--prompt", metavar="TEXT")
    for name in ("--seed", "--system-site-packages", "--no-project", "--quiet", "-q", "--relocatable", "--offline", "--no-config"):
        made.add_argument(name, action="store_true", help=argparse.SUPPRESS)
    options = made.parse_args(words)
    check_version(options.python)
    make_environment(
        options.path,
        clear=options.clear or os.environ.get("UV_VENV_CLEAR") in ("1", "true"),
        keep=options.allow_existing,
        prompt=options.prompt,
    )


def python(words):
    name = words[0] if words else None
    if name == "find":
        check_version(words[1] if len(words) > 1 else None)
        print((find_environment() or Environment()).python)
    elif name == "list":
        print(f"cpython-{VERSION}-wasi-wasm32-none    {sys.executable}")
    elif name in ("install", "uninstall", "upgrade", "pin"):
        check_version(words[1] if len(words) > 1 else None)
        say(f"Python {VERSION} is already installed" if name == "install" else f"Python {VERSION} stays as it is")
    else:
        raise unknown(name or "", "uv python")


def dispatch(words):
    while words and words[0] in ("--quiet", "-q", "--offline", "--no-config", "--no-cache", "--no-progress", "--color"):
        words = words[2 if words[0] == "--color" else 1:]
    name = words[0] if words else None
    rest = words[1:]
    if name in ("--version", "-V"):
        print(f"uv {FOLLOWED} (Wasibox: a front of pip and venv in the words of this version)")
        return 0
    if name in ("help", "--help", "-h"):
        print(HELP, end="")
        return 0
    if name is None:
        print(HELP, end="", file=sys.stderr)
        return 2
    if name == "pip":
        from .pip import COMMANDS

        command = rest[0] if rest else None
        if command in COMMANDS:
            return COMMANDS[command](rest[1:])
        if command in PIP_REFUSED:
            raise Failure(f"`uv pip {command}` is not here: {PIP_REFUSED[command]}")
        if command in (None, "help", "--help", "-h"):
            print(HELP, end="")
            return 0
        raise unknown(command, "uv pip")
    if name == "run" or (name == "tool" and rest[:1] == ["run"]):
        from .run import run, tool_run

        return run(rest) if name == "run" else tool_run(rest[1:])
    if name in ("venv", "virtualenv", "v"):
        return make_venv(rest)
    if name == "python":
        return python(rest)
    if name in REFUSED:
        raise Failure(f"`uv {name}` is not here: {REFUSED[name]}")
    raise unknown(name, "uv")


def main(words):
    """Runs the command line; returns the exit status."""
    try:
        return dispatch(words) or 0
    except Failure as failure:
        say(f"error: {failure}")
        for line in failure.more:
            say(line)
        return failure.status
