"""The examples run, and print the lines that they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[3] / "examples/python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_prints_what_it_promises(example, tmp_path):
    promised = example.read_text().split("\n# prints:\n")[1]
    expected = "".join(line.removeprefix("# ") + "\n" for line in promised.splitlines())
    done = subprocess.run(
        [sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, expected), done.stderr


def test_there_are_examples():
    assert len(EXAMPLES) >= 3
