"""Environments: which one a command means, and what is installed there."""

import importlib.metadata
import os
import sys
import venv
from pathlib import Path

from . import Failure

VERSION = ".".join(map(str, sys.version_info[:3]))
SITE = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"


class Environment:
    """An interpreter with its packages: a virtual environment, or the system's."""

    def __init__(self, root=None):
        self.root = root and Path(root)

    @property
    def python(self):
        return str(self.root / "bin/python") if self.root else sys.executable

    def distributions(self):
        """Returns what is installed, by normalized name."""
        if self.root:
            found = importlib.metadata.distributions(path=[str(self.root / SITE)])
        else:
            found = importlib.metadata.distributions()
        named = ((d.metadata["Name"], d) for d in found)
        return dict(sorted((normalize(name), d) for name, d in named if name))

    def versions(self):
        """Returns the versions of what is installed now, by normalized name."""
        return {name: d.version for name, d in self.distributions().items()}

    def variables(self):
        """Returns the variables of a command that runs in the environment."""
        if not self.root:
            return dict(os.environ)
        path = f"{self.root / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {**os.environ, "VIRTUAL_ENV": str(self.root), "PATH": path}


def normalize(name):
    """Returns a package's name in the form in which names are compared (PEP 503)."""
    return "-".join(part for part in name.lower().replace("_", "-").replace(".", "-").split("-") if part)


def is_environment(path):
    return (Path(path) / "pyvenv.cfg").is_file()


def find_environment():
    """Returns the environment of VIRTUAL_ENV, or the nearest `.venv` upwards; None without one."""
    named = os.environ.get("VIRTUAL_ENV")
    if named:
        return Environment(named)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if is_environment(folder / ".venv"):
            return Environment(folder / ".venv")
    return None


def check_version(wanted):
    """Fails if another version of Python is wanted than there is."""
    number = (wanted or "").removeprefix("python").removeprefix("cpython").lstrip("@")
    number = number.removeprefix("==").removeprefix("~=")
    if not number or not number[0].isdigit():
        return
    if not (VERSION + ".").startswith(number.removesuffix(".*") + "."):
        raise Failure(
            f"No interpreter found for Python {number} in managed installations or search path",
            f"hint: Python {VERSION} is the only one here, and no other can be downloaded",
        )


def make_environment(path, *, clear=False, keep=False, prompt=None):
    """Makes a virtual environment, and says so. It sees the system's packages, because those with
    native code are nowhere else."""
    path = Path(path)
    say(f"Using CPython {VERSION} interpreter at: {sys.executable}")
    say(f"Creating virtual environment at: {path}")
    if is_environment(path) and not clear and not keep:
        raise Failure(
            "Failed to create virtual environment",
            f"  cause: A virtual environment already exists at: {path}",
            "",
            "hint: Use the `--clear` flag or set `UV_VENV_CLEAR=1` to replace the existing virtual environment",
        )
    venv.create(path, clear=clear, with_pip=False, symlinks=True, system_site_packages=True, prompt=prompt)
    say(f"Activate with: source {path}/bin/activate")
    return Environment(path)


def say(line):
    print(line, file=sys.stderr)
