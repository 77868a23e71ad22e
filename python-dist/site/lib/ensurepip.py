"""Puts the image's own pip into a virtual environment (`python3 -m venv DIR` asks for that).

CPython's module of that name carries a wheel; here pip is copied from the image.
"""

import glob
import os
import shutil
import sys
import sysconfig


def _files():
    source = sysconfig.get_path("purelib", vars={"base": sys.base_prefix})
    found = [os.path.join(source, "pip"), *glob.glob(os.path.join(source, "pip-*.dist-info"))]
    if len(found) != 2 or not os.path.isdir(found[0]):
        raise ModuleNotFoundError("pip is not part of this image "
                                  "(python3 -m venv --without-pip works)", name="pip")
    return found


def version():
    """The version of pip that is installed."""
    return os.path.basename(_files()[1])[len("pip-") : -len(".dist-info")]


def bootstrap(*, root=None, upgrade=False, user=False, altinstall=False, default_pip=False,
              verbosity=0):
    """Installs pip; the image itself has it."""
    if root is not None or user:
        raise ValueError("pip can be put into virtual environments only")
    if altinstall and default_pip:
        raise ValueError("Cannot use altinstall and default_pip together")
    files = _files()
    if sys.prefix == sys.base_prefix:
        print(f"Requirement already satisfied: pip in {os.path.dirname(files[0])}")
        return
    for file in files:
        target = os.path.join(sysconfig.get_path("purelib"), os.path.basename(file))
        shutil.copytree(file, target, dirs_exist_ok=True)
    names = ["pip{}.{}".format(*sys.version_info)]
    names += [] if altinstall else ["pip3"]
    names += ["pip"] if default_pip else []
    for name in names:
        script = os.path.join(sysconfig.get_path("scripts"), name)
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!{sys.executable}\nimport sys\n\n"
                       "from pip._internal.cli.main import main\n\nsys.exit(main())\n")
        os.chmod(script, 0o755)


def _main(argv=None):
    import argparse

    parser = argparse.ArgumentParser(prog="python -m ensurepip")
    parser.add_argument("--version", action="version", version=f"pip {version()}")
    parser.add_argument("-v", "--verbose", action="count", default=0, dest="verbosity")
    parser.add_argument("-U", "--upgrade", action="store_true", default=False)
    parser.add_argument("--user", action="store_true", default=False)
    parser.add_argument("--root", default=None)
    parser.add_argument("--altinstall", action="store_true", default=False)
    parser.add_argument("--default-pip", action="store_true", default=False)
    bootstrap(**vars(parser.parse_args(argv)))


if __name__ == "__main__":
    _main()
