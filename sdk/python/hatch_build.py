"""Sets the tags of a wheel: the interpreters and platforms that it supports."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Tags(BuildHookInterface):
    """Tags for one native module for all versions of CPython from 3.10, by its stable ABI."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Sets the tags. Raises an error if there is no native module to build a wheel of."""
        if not (Path(self.root) / "python/wasibox/_native.abi3.so").is_file():
            raise RuntimeError("there is no native module here: use `cargo xtask dist --sdk`")
        # `cargo xtask dist --sdk` sets the platform that auditwheel has found. Without it, the
        # wheel is only for machines like this one.
        plain = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        platform = os.environ.get("WASIBOX_WHEEL_PLATFORM") or plain
        build_data["pure_python"] = False
        build_data["tag"] = f"cp310-abi3-{platform}"
