"""Engines: an image with all that its sessions share."""

from __future__ import annotations

import json
import os
import sys
import threading

from . import _native
from ._errors import WasiboxError, raising

# typing and pathlib are not imported at run time, because they take longer to import than the
# native module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Literal

    from ._types import StrPath

    Progress = Callable[[str], None]

_lock = threading.Lock()
#: The default engine and the number of the process that made it. A forked process makes an engine
#: of its own, because the workers belong to its parent.
_default: tuple[int, Engine] | None = None


def worker_program() -> str | None:
    """Returns the path of this package's program for workers, or None if it has none."""
    path = os.path.join(os.path.dirname(__file__), "bin", "runner")
    return path if os.path.isfile(path) else None


def _cache() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "wasibox")


def _on_terminal(line: str) -> None:
    """Prints a line about a slow step if standard error is a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        print(f"wasibox: {line}", file=sys.stderr)


def default_image(progress: Progress = _on_terminal) -> str:
    """Returns the path of the default image.

    This is ``$WASIBOX_IMAGE`` if it is set. Otherwise it is the image of the package
    ``wasibox-image``, which is unpacked when it is first used.
    """
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
    """An image with all that its sessions share: machine code, workers, a limit of awake sessions.

    Sessions that are opened without an engine share :func:`default_engine`.
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
        prepare_timeout: float = 1800.0,
        artifacts: StrPath | None = None,
        program: StrPath | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Opens an image.

        Args:
            image: the file of the image. By default this is ``$WASIBOX_IMAGE``, or the image of the
                package ``wasibox-image``.
            isolation: ``process`` runs each session in a jailed process of its own; ``threads``
                runs guests in this process, with WebAssembly as the only wall.
            warm: the number of processes that are kept ready for new sessions.
            awake: the maximum number of sessions that have a process at the same time. A call of
                another session puts the least recently used one to sleep.
            idle: the seconds without a call after which a session goes to sleep; 0 means never.
            require_walls: whether to refuse a host that lacks a wall of the jail.
            prepare_timeout: the seconds that compiling and preparing the image's programs may take,
                which is done once; 0 means no limit.
            artifacts: the folder that caches machine code; by default ``~/.cache/wasibox/aot``.
            program: the program for processes, instead of the package's.
            progress: a function that is called with a line for each slow step, on another thread.
                By default, the lines are printed if standard error is a terminal.
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
            "prepare_timeout": prepare_timeout,
        }
        with raising():
            self._native = _native.Engine(json.dumps(options), report)

    @property
    def awake(self) -> int:
        """The number of sessions that have a process now."""
        return self._native.awake()

    def warm_up(self) -> None:
        """Waits until the processes for new sessions (``warm``) are ready."""
        self._native.warm_up()

    def sessions(self, store: StrPath) -> list[str]:
        """Returns the names of a store's sessions."""
        with raising():
            return self._native.sessions(os.fspath(store))

    def remove(self, store: StrPath, name: str) -> None:
        """Removes a session from a store. The session must not be in use."""
        with raising():
            self._native.remove(os.fspath(store), name)


def default_engine() -> Engine:
    """Returns the engine of sessions that are opened without one, made at its first use."""
    global _default
    with _lock:
        if _default is None or _default[0] != os.getpid():
            _default = (os.getpid(), Engine())
        return _default[1]
