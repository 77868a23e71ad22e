"""``python -m wasibox``, ``wasibox``: the command line, which the package brings with it."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec


def main() -> None:
    """Becomes the program of the command line, with the image of the package ``wasibox-image``."""
    program = os.path.join(os.path.dirname(__file__), "bin", "runner")
    if not os.path.isfile(program):
        sys.exit("wasibox: this package has no program for the command line")
    if not os.environ.get("WASIBOX_BUNDLE"):
        # It may be installed elsewhere than this package, as for one user or for all.
        image = find_spec("wasibox_image")
        if image is not None and image.origin is not None:
            os.environ["WASIBOX_BUNDLE"] = os.path.join(os.path.dirname(image.origin), "data")
    # By its first argument the program knows what it is called.
    os.execv(program, ["wasibox", *sys.argv[1:]])


if __name__ == "__main__":
    main()
