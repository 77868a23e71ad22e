"""The compressed image of Wasibox, which the package ``wasibox`` unpacks when it is first used."""

from __future__ import annotations

import os

__version__ = "0.1.0"


def bundle() -> str:
    """Returns the path of the folder with the image and its machine code."""
    return os.path.join(os.path.dirname(__file__), "data")
