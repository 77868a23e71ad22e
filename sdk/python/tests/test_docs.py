"""Every block of Python in the documents and the package's README runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = [
    "README.md",
    "docs/sdk-python.md",
    "docs/host-tools.md",
    "docs/start.md",
    "docs/recipes.md",
    "sdk/python/README.md",
]
BLOCKS = [
    pytest.param(block, id=f"{name}-{n}")
    for name in DOCUMENTS
    for n, block in enumerate(re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.M | re.S))
]


@pytest.mark.parametrize("block", BLOCKS)
def test_it_runs(block, tmp_path):
    # Each block runs in a process of its own, as a reader would run it. It is written to a file
    # because smolagents reads the source of tools.
    file = tmp_path / "block.py"
    file.write_text(block)
    done = subprocess.run(
        [sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_there_are_blocks():
    assert len(BLOCKS) >= 6
