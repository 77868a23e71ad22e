"""Names of what calls are given. Annotations alone speak of them: importing this package does without typing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from ._options import Mount

StrPath = Union[str, "os.PathLike[str]"]
#: A preset, or limits by name: ``{"memory": "1G", "timeout": 10}``. docs/policy.md lists them.
Limits = Union[str, Mapping[str, Any]]
#: By the path that guests see.
Mounts = Mapping[str, Union[StrPath, Mount]]
Stdin = Union[bytes, str, None]
OnOutput = Callable[[str], Any]
#: A script for the session's shell, or the arguments of one command.
Command = Union[str, Sequence[str]]
