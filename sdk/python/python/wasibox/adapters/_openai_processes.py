"""Processes that continue from call to call, for :mod:`wasibox.adapters.openai_agents`.

They are processes of the session (:meth:`wasibox.Session.start_process`), which keep it awake. One
with ``tty`` has a terminal. One without has no input, and writes to a file, because of the output
that nobody has read the session keeps only the last part.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence

from agents.sandbox.errors import ExecTransportError
from agents.sandbox.session.pty_output import collect_pty_output
from agents.sandbox.session.pty_types import (
    PTY_PROCESSES_MAX,
    PTY_PROCESSES_WARNING,
    PtyExecUpdate,
    allocate_pty_process_id,
    clamp_pty_yield_time_ms,
    process_id_to_prune_from_meta,
    resolve_pty_write_yield_time_ms,
)

from .. import AsyncSession, NotFoundError, WasiboxError

logger = logging.getLogger(__name__)

#: Scripts that begin a command, so that a missing one has the shell's message and status. `$0` is the
#: file for its output.
_ON_TERMINAL = 'exec "$@"'
_IN_FILE = 'exec "$@" < /dev/null > "$0" 2>&1'

#: The maximum number of bytes of one read.
_PART = 1 << 20
#: The minimum and the maximum number of seconds between two looks at a file.
_SOON, _LATE = 0.005, 0.1
#: The maximum number of seconds of one wait, because a wait continues when its task is cancelled.
_WAIT = 1.0
#: The exit code of a process that is no longer known.
_KILLED = 137
_SIGKILL = 9


@dataclasses.dataclass
class Entry:
    """A process."""

    #: Its number in the session.
    number: int
    #: The file for its output; none if it has a terminal.
    file: str | None
    last_used: float = dataclasses.field(default_factory=time.monotonic)
    #: The number of bytes of its output that were read.
    offset: int = 0
    chunks: deque[bytes] = dataclasses.field(default_factory=deque)
    lock: asyncio.Lock = dataclasses.field(default_factory=asyncio.Lock)
    #: The exit code, once the process has ended and its output was read to the end.
    exit_code: int | None = None


class Processes:
    """The processes of one session."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session
        self._reserved: set[int] = set()
        self._begun = 0
        #: The processes by the framework's numbers for them.
        self.alive: dict[int, Entry] = {}

    async def begin(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        tty: bool,
        seconds: float | None,
        max_tokens: int | None,
    ) -> PtyExecUpdate:
        """Begins a process, and returns the output of its first `seconds`."""
        await self._make_room()
        self._begun += 1
        file = None if tty else f"/tmp/.wasibox-process-{self._begun}-{time.time_ns():x}"
        begin = [_ON_TERMINAL, "sh"] if file is None else [_IN_FILE, file]
        try:
            begun = await self._session.start_process(
                ["sh", "-c", *begin, *argv], cwd=cwd, env=env, terminal=tty
            )
        except WasiboxError as e:
            raise ExecTransportError(command=list(argv), cause=e, message=str(e)) from e
        entry = Entry(number=begun.process, file=file)
        process_id = allocate_pty_process_id(self._reserved)
        self._reserved.add(process_id)
        self.alive[process_id] = entry
        milliseconds = 10_000 if seconds is None else int(seconds * 1000)
        return await self._update(
            process_id, entry, clamp_pty_yield_time_ms(milliseconds), max_tokens
        )

    async def write(
        self,
        process_id: int,
        entry: Entry,
        chars: str,
        *,
        seconds: float | None,
        max_tokens: int | None,
    ) -> PtyExecUpdate:
        """Types at a process's terminal, and returns its output of the next `seconds`."""
        if chars:
            if entry.file is not None:
                # The framework's own tool recognises this text.
                raise RuntimeError("stdin is not available for this process")
            try:
                await self._session.write_process(entry.number, chars)
            except NotFoundError:
                entry.exit_code = _KILLED
            except WasiboxError as e:
                # A process that has just ended reads nothing more. Its output says why.
                if await self._is_running(entry):
                    raise ExecTransportError(command=["write_stdin"], cause=e, message=str(e)) from e
        milliseconds = 250 if seconds is None else int(seconds * 1000)
        update = await self._update(
            process_id,
            entry,
            resolve_pty_write_yield_time_ms(yield_time_ms=milliseconds, input_empty=not chars),
            max_tokens,
        )
        entry.last_used = time.monotonic()
        return update

    async def _is_running(self, entry: Entry) -> bool:
        known = {process.process: process for process in await self._session.processes()}
        return entry.number in known and known[entry.number].status == "running"

    async def end_all(self) -> None:
        """Ends all processes."""
        entries = list(self.alive.values())
        self.alive.clear()
        self._reserved.clear()
        for entry in entries:
            await self._end(entry)

    async def _end(self, entry: Entry) -> None:
        # If the session is closed, its processes have already ended.
        with contextlib.suppress(WasiboxError):
            await self._session.kill_process(entry.number, _SIGKILL)
            if entry.file is not None:
                await self._session.delete(entry.file)

    async def _make_room(self) -> None:
        """Ends the least recently used process if there are too many."""
        if len(self.alive) + 1 >= PTY_PROCESSES_WARNING:
            logger.warning("%s processes of exec_command are alive", len(self.alive) + 1)
        if len(self.alive) < PTY_PROCESSES_MAX:
            return
        known = [(n, e.last_used, e.exit_code is not None) for n, e in self.alive.items()]
        oldest = process_id_to_prune_from_meta(known)
        if oldest is not None:
            self._reserved.discard(oldest)
            await self._end(self.alive.pop(oldest))

    async def _update(
        self, process_id: int, entry: Entry, milliseconds: int, max_tokens: int | None
    ) -> PtyExecUpdate:
        pause = _SOON

        async def look(_deadline: float) -> None:
            await self._look(entry, None)

        async def wait(remaining: float) -> None:
            nonlocal pause
            # Output in a file does not end a wait, the end of the process does.
            longest = _WAIT if entry.file is None else pause
            pause = _SOON if await self._look(entry, min(longest, remaining)) else min(pause * 2, _LATE)

        output, tokens, is_over = await collect_pty_output(
            output_chunks=entry.chunks,
            output_lock=entry.lock,
            output_notify=asyncio.Event(),
            is_done=lambda: entry.exit_code is not None,
            yield_time_ms=milliseconds,
            max_output_tokens=max_tokens,
            poll_output=look,
            wait_for_output=wait,
        )
        if not is_over:
            return PtyExecUpdate(
                process_id=process_id, output=output, exit_code=None, original_token_count=tokens
            )
        if self.alive.pop(process_id, None) is not None:
            self._reserved.discard(process_id)
            await self._end(entry)
        return PtyExecUpdate(
            process_id=None,
            output=output,
            exit_code=entry.exit_code,
            original_token_count=tokens,
        )

    async def _look(self, entry: Entry, wait: float | None) -> bool:
        """Reads the new output of a process, and its exit code if it has ended.

        Waits for at most `wait` seconds. Returns whether there was output.
        """
        if entry.exit_code is not None:
            return False
        before = entry.offset
        after = entry.offset if entry.file is None else None
        try:
            read = await self._session.read_process(
                entry.number, wait=wait, after=after, max_output=_PART
            )
        except NotFoundError:
            entry.exit_code = _KILLED
            return False
        if entry.file is not None:
            await self._read_file(entry, entry.file)
        else:
            if read.dropped:
                entry.chunks.append(b"\r\n[%d bytes are no longer kept]\r\n" % read.dropped)
            if read.output:
                entry.chunks.append(read.output.encode())
            entry.offset = read.next
        # The state is later than the output, so more may have come.
        is_read = entry.file is not None or read.next >= read.process.written
        if read.process.status != "running" and is_read:
            entry.exit_code = _KILLED if read.process.status == "lost" else read.process.exit_code
        return entry.offset > before

    async def _read_file(self, entry: Entry, file: str) -> None:
        # A process that has not begun has no file yet.
        with contextlib.suppress(FileNotFoundError):
            while part := await self.download(file, entry.offset):
                entry.chunks.append(part)
                entry.offset += len(part)

    async def download(self, path: str, offset: int, limit: int = _PART) -> bytes:
        """Returns at most `limit` bytes of a file, from an offset."""
        request = {"path": path, "offset": offset, "limit": min(limit, _PART)}
        answer = await self._session.files({"download": request})
        return base64.b64decode(answer["data"]["data"])
