"""Checks that apply to all adapters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import wasibox

FOLDER = Path(wasibox.__file__).parent / "adapters"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))


def test_importing_the_package_imports_no_framework():
    code = "import sys, wasibox, wasibox.adapters; print(*{name.split('.')[0] for name in sys.modules})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"agents", "autogen_core", "deepagents", "inspect_ai", "pydantic", "pydantic_ai", "smolagents", "PIL"} & set(told)
    assert "wasibox" in told


def test_each_has_tests_and_a_section():
    here = Path(__file__).parent
    guide = (here.parents[2] / "docs/sdk-python.md").read_text()
    assert NAMES == ["autogen", "deepagents", "inspect", "openai_agents", "pydantic_ai", "smolagents"]
    for name in NAMES:
        assert (here / f"test_{name}.py").is_file(), name
        assert name == "inspect" or f"wasibox.adapters.{name}." in guide, name
