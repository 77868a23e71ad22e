"""A POSIX-flavoured machine for models and people, as WebAssembly, in your process.

>>> import wasibox
>>> with wasibox.Session() as s:
...     s.exec("echo hi | wc -c").stdout
'3\\n'

A :class:`Session` has files, a shell, interpreters that keep their state between calls, and the
history of them all. :class:`AsyncSession` has the same methods for asyncio. A session may use only
what you grant it: by default it has no host files and no network.
"""

from __future__ import annotations

from ._engine import Engine, default_engine
from ._errors import (
    BusyError,
    CancelledError,
    ClosedError,
    CommandError,
    ConflictError,
    FileError,
    InvalidError,
    NotFoundError,
    WasiboxError,
)
from ._options import Mount, Network, Workspace
from ._outcome import Applied, Chunk, Commit, Entry, Figure, FileChange, Match, Outcome
from ._processes import ExposedPort, ProcessOutput
from ._protocol import Port, Process
from ._session import KeyValues, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._aio import AsyncKeyValues, AsyncSession, AsyncStream
    from ._stream import Stream
    from ._tools import Tool, ToolError, tool

__version__ = "0.1.0"

__all__ = [
    "Applied",
    "AsyncKeyValues",
    "AsyncSession",
    "AsyncStream",
    "BusyError",
    "CancelledError",
    "Chunk",
    "ClosedError",
    "CommandError",
    "Commit",
    "ConflictError",
    "Engine",
    "Entry",
    "Figure",
    "ExposedPort",
    "FileChange",
    "FileError",
    "InvalidError",
    "KeyValues",
    "Match",
    "Mount",
    "Network",
    "NotFoundError",
    "Outcome",
    "Port",
    "Process",
    "ProcessOutput",
    "Session",
    "Stream",
    "Tool",
    "ToolError",
    "WasiboxError",
    "Workspace",
    "__version__",
    "default_engine",
    "tool",
]


#: The names whose modules need asyncio, inspect, queue or typing, which take longer to import than
#: everything else here. They are imported when they are first used.
_LATE = {
    "AsyncKeyValues": "_aio",
    "AsyncSession": "_aio",
    "AsyncStream": "_aio",
    "Stream": "_stream",
    "Tool": "_tools",
    "ToolError": "_tools",
    "tool": "_tools",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f".{_LATE[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
