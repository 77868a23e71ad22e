"""Names for the types of arguments.

Only annotations use them, because importing this package must not import typing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

from ._options import Mount

StrPath = Union[str, "os.PathLike[str]"]
#: A preset, or limits by name, such as ``{"memory": "1G", "timeout": 10}``. docs/policy.md lists
#: them.
Limits = Union[str, Mapping[str, Any]]
#: Host paths or mounts, by the paths that guests see.
Mounts = Mapping[str, Union[StrPath, Mount]]
Stdin = Union[bytes, str, None]
OnOutput = Callable[[str], Any]
#: A script for the session's shell, or the arguments of one command.
Command = Union[str, Sequence[str]]
