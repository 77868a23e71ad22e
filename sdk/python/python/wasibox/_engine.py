"""Engines: an image and what its sessions share."""

from __future__ import annotations

import json
import os
import sys
import threading

from . import _native
from ._errors import WasiboxError, raising

# Neither typing nor pathlib at run time: they take longer to import than the native module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from ._types import StrPath

    Progress = Callable[[str], None]

_lock = threading.Lock()
#: The default engine, and the process that it is of: a copy of a process has none of its parent's workers.
_default: tuple[int, Engine] | None = None


def worker_program() -> str | None:
    """The program that sessions' processes run, in this package."""
    path = os.path.join(os.path.dirname(__file__), "bin", "runner")
    return path if os.path.isfile(path) else None


def _cache() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "wasibox")


def _on_terminal(line: str) -> None:
    """Tells a person what takes time; a program's log is left alone."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"wasibox: {line}", file=sys.stderr)


def default_image(progress: Progress = _on_terminal) -> str:
    """The image of ``$WASIBOX_IMAGE``, else that of the package ``wasibox-image``, unpacked at its first use."""
    named = os.environ.get("WASIBOX_IMAGE")
    if named:
        return named
    try:
        import wasibox_image
    except ImportError:
        raise WasiboxError(
            "there is no image: install wasibox-image, or name one in WASIBOX_IMAGE"
        ) from None
    with raising():
        return _native.unpack(wasibox_image.bundle(), os.path.join(_cache(), "images"), None, progress)


class Engine:
    """An image and what its sessions share: machine code, workers, the rule who is awake.

    Sessions that name none share :func:`default_engine`.
    """

    def __init__(
        self,
        image: StrPath | None = None,
        *,
        isolation: Literal["process", "threads"] = "process",
        warm: int = 2,
        awake: int = 32,
        idle: float = 60.0,
        require_walls: bool = False,
        artifacts: StrPath | None = None,
        program: StrPath | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Opens an image.

        Args:
            image: the image's file; by default that of ``$WASIBOX_IMAGE`` or of the package ``wasibox-image``.
            isolation: ``process`` puts each session into a process with a jail; ``threads`` runs guests in this process, with
                WebAssembly as the only wall.
            warm: processes that are kept ready for sessions to come.
            awake: sessions that have a process at once; a call of one more puts the one to sleep that was used longest ago.
            idle: seconds without a call after which a session goes to sleep; 0: never.
            require_walls: refuse to run on a host that lacks a wall of the jail.
            artifacts: where machine code is kept; by default ``~/.cache/wasibox/aot``.
            program: the program for processes, instead of the package's.
            progress: told of what takes time, a line each, on another thread; by default a terminal is.
        """
        report = _on_terminal if progress is None else progress
        path = default_image(report) if image is None else image
        if program is None and not os.environ.get("WASIBOX_WORKER"):
            program = worker_program()
        options = {
            "image": os.path.abspath(path),
            "program": None if program is None else os.path.abspath(program),
            "artifacts": None if artifacts is None else os.path.abspath(artifacts),
            "isolation": isolation,
            "warm": warm,
            "awake": awake,
            "idle": idle,
            "require_walls": require_walls,
        }
        with raising():
            self._native = _native.Engine(json.dumps(options), report)

    @property
    def awake(self) -> int:
        """How many sessions have a process now."""
        return self._native.awake()

    def warm_up(self) -> None:
        """Waits until the processes that are kept ready are ready."""
        self._native.warm_up()

    def sessions(self, store: StrPath) -> list[str]:
        """The names of a store's sessions."""
        with raising():
            return self._native.sessions(os.fspath(store))

    def remove(self, store: StrPath, name: str) -> None:
        """Forgets a session of a store that nobody uses."""
        with raising():
            self._native.remove(os.fspath(store), name)


def default_engine() -> Engine:
    """The engine of sessions that name none, made at its first use."""
    global _default
    with _lock:
        if _default is None or _default[0] != os.getpid():
            _default = (os.getpid(), Engine())
        return _default[1]
