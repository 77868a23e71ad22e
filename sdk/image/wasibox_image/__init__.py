"""The image of Wasibox, compressed, for the package ``wasibox``, which unpacks it at its first use."""

from __future__ import annotations

import os

__version__ = "0.1.0"


def bundle() -> str:
    """The folder with the image and its machine code."""
    return os.path.join(os.path.dirname(__file__), "data")
