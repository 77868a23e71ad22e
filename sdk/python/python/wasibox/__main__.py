"""``python -m wasibox``, ``wasibox``: the command line, which the package brings with it."""

from __future__ import annotations

import os
import sys

from ._engine import worker_program


def main() -> None:
    """Becomes the program ``runner``."""
    program = worker_program()
    if program is None:
        sys.exit("wasibox: this package has no program `runner`")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
