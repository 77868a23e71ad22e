"""What packages ask NumPy for while they are built: its headers."""

import os


def get_include():
    return os.path.join(os.path.dirname(__file__), "_core", "include")
