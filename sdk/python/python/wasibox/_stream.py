"""Streams: the output of a command as it is written."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from . import _native
from ._errors import CancelledError
from ._outcome import Chunk, Outcome

if TYPE_CHECKING:
    from types import TracebackType

    from ._session import Session
    from ._types import OnOutput, Stdin


class Stream(Iterable[Chunk]):
    """The output of a command as it is written; see :meth:`wasibox.Session.stream`."""

    #: The maximum number of chunks that wait for the reader. When it is reached, the command
    #: waits.
    _MOST = 64

    def __init__(self, session: Session, options: str, stdin: Stdin) -> None:
        self._chunks: queue.Queue[Chunk | None] = queue.Queue(self._MOST)
        self._cancel = _native.Cancel()
        self._is_left = False
        self._outcome: Outcome | None = None
        self._error: BaseException | None = None

        def put(stream: Literal["stdout", "stderr"]) -> OnOutput:
            return lambda text: self._put(Chunk(stream, text))

        def act() -> Outcome:
            return session._call(options, stdin, put("stdout"), put("stderr"), self._cancel)

        def done(error: BaseException | None, outcome: Outcome | None) -> None:
            self._error, self._outcome = error, outcome
            self._put(None)

        self._ended = threading.Event()
        _native.spawn(act, done)

    def _put(self, chunk: Chunk | None) -> None:
        while not self._is_left:
            with contextlib.suppress(queue.Full):
                self._chunks.put(chunk, timeout=0.05)
                break
        if chunk is None:
            self._ended.set()

    def __iter__(self) -> Iterator[Chunk]:
        while True:
            chunk = self._chunks.get()
            if chunk is None:
                # Callers may iterate again.
                self._chunks.put(None)
                if self._error is not None:
                    raise self._error
                return
            yield chunk

    @property
    def outcome(self) -> Outcome:
        """The command's outcome. Reading it waits for the command's end, and skips unread output.

        Raises:
            CancelledError: if :meth:`close` has ended the command.
        """
        for _ in self:
            pass
        if self._outcome is None:
            raise CancelledError("the command was ended")
        return self._outcome

    def close(self) -> None:
        """Ends the command if it is running."""
        if not self._ended.is_set():
            self._is_left = True
            self._cancel.cancel()
            self._ended.wait()
            with contextlib.suppress(queue.Empty):
                while True:
                    self._chunks.get_nowait()
            self._chunks.put(None)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
