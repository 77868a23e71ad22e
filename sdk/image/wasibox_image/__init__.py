"""The image of Wasibox, compressed, for the package ``wasibox``, which unpacks it at its first use."""

from __future__ import annotations

from pathlib import Path

__version__ = "0.1.0"


def bundle() -> Path:
    """The folder with the image and its machine code."""
    return Path(__file__).parent / "data"
