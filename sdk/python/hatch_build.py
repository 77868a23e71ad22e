"""Says for which interpreters and platforms a wheel is."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tags(BuildHookInterface):
    """One native module for all versions of CPython from 3.10 on, by its stable ABI."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Names the tags; without the native module there is nothing to build."""
        if not (Path(self.root) / "python/wasibox/_native.abi3.so").is_file():
            raise RuntimeError("there is no native module here: use `cargo xtask dist --sdk`")
        # `cargo xtask dist --sdk` has asked auditwheel. Without it, nothing is promised about other machines.
        plain = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        platform = os.environ.get("WASIBOX_WHEEL_PLATFORM") or plain
        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{platform}"
