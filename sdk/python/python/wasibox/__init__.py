"""A POSIX-flavoured machine for models and people, as WebAssembly, in your process.

>>> import wasibox
>>> with wasibox.Session() as s:
...     s.exec("echo hi | wc -c").stdout
'3\\n'

A :class:`Session` is files, a shell, a Python interpreter that stays, and the history of all that.
:class:`AsyncSession` is the same for asyncio. Sessions are granted nothing but what is said: no host file, no network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from ._session import KeyValues, Session, Stream
from ._tools import Tool, ToolError, tool

if TYPE_CHECKING:
    from ._aio import AsyncKeyValues, AsyncSession, AsyncStream

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
    "FileChange",
    "FileError",
    "InvalidError",
    "KeyValues",
    "Match",
    "Mount",
    "Network",
    "NotFoundError",
    "Outcome",
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


def __getattr__(name: str) -> Any:
    """What asyncio is needed for: importing that takes longer than all else here."""
    if name in ("AsyncKeyValues", "AsyncSession", "AsyncStream"):
        from . import _aio

        return getattr(_aio, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
