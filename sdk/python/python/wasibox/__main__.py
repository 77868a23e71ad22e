"""The command line, ``wasibox`` or ``python -m wasibox``, whose program is part of the package."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec


def main() -> None:
    """Replaces this process with the program of the command line.

    The program uses the image of the package ``wasibox-image``. Only ``wasibox kernel`` is a part of
    this package, because the kernel is a program in Python.
    """
    if sys.argv[1:2] == ["kernel"]:
        from .jupyter import _install

        return _install.main(sys.argv[2:])
    program = os.path.join(os.path.dirname(__file__), "bin", "runner")
    if not os.path.isfile(program):
        sys.exit("wasibox: this package has no program for the command line")
    if not os.environ.get("WASIBOX_BUNDLE"):
        # The image may be installed in another place than this package, such as for one user only.
        image = find_spec("wasibox_image")
        if image is not None and image.origin is not None:
            os.environ["WASIBOX_BUNDLE"] = os.path.join(os.path.dirname(image.origin), "data")
    # The first argument tells the program its name.
    os.execv(program, ["wasibox", *sys.argv[1:]])


if __name__ == "__main__":
    main()
