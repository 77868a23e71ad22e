"""Sets the tag of the wheel: it holds machine code, but no module for an interpreter."""

from __future__ import annotations

import os
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tags(BuildHookInterface):
    """A tag for all versions of Python on one platform, that of the machine code."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Sets the tag."""
        # `cargo xtask dist --sdk` sets the platform of the runner, whose engine the code is for.
        plain = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        platform = os.environ.get("WASIBOX_WHEEL_PLATFORM") or plain
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
