"""Processes that continue from call to call, for :mod:`wasibox.adapters.openai_agents`.

The calls of a session run one after another, so a process that outlives its call is a background
process of the session. It writes to a file, which is read as it grows. A process with ``tty`` reads
its input from a named pipe.

The machine has no terminal: ``isatty()`` is false. This module does what a terminal's driver would
do with typed characters (:meth:`_Typed.parts`): ``^C`` and ``^\\`` are signals, ``^D`` at the
beginning of a line is the end of input, a carriage return ends a line, and typed characters are
shown.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Union

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

from .. import AsyncSession, WasiboxError

logger = logging.getLogger(__name__)

#: A script that begins a process. Its arguments are the folder of the process, whether it has input
#: (`1`), and the command. It prints the process id of the shell that waits for the process.
#:
#: A second process holds the pipe open between two writes, and ending it is the end of input.
#: Without `set -m`, background processes would ignore SIGINT and SIGQUIT.
_BEGIN = """
set -m
d=$1 tty=$2; shift 2
mkdir -p "$d" && : > "$d/out" || exit
in=/dev/null
if [ "$tty" = 1 ]; then
    in=$d/in
    mkfifo "$in" || exit
    sleep 2147483647 > "$in" 2> /dev/null &
    echo $! > "$d/holder"
fi
{
    setsid sh -c 'd=$1; shift; echo $$ > "$d/pid"; exec "$@"' sh "$d" "$@" < "$in" > "$d/out" 2>&1
    echo $? > "$d/.status" && mv "$d/.status" "$d/status"
} > /dev/null 2>&1 &
echo $!
"""

#: A script that ends a process with its whole group, and removes its folder.
_END = """
d=$1
kill -KILL -- "-$(cat "$d/pid")"
kill -KILL "$(cat "$d/holder")" "$2"
rm -rf "$d"
"""

#: The number of seconds for which a process may leave its input unread.
_WRITE_TIMEOUT = 10.0
#: The minimum and the maximum number of seconds between two looks at the output.
_SOON, _LATE = 0.005, 0.1
#: The interval in seconds at which a session with processes gets a request. Without requests it
#: would go to sleep, which ends its processes.
_AWAKE = 15.0
#: The exit code of a process that ended with its session's process.
_KILLED = 137

_SIGNALS = {"\x03": "INT", "\x1c": "QUIT"}
_SHOWN = {"\x03": "^C", "\x1c": "^\\", "\x04": "", "\n": "\r\n"}


@dataclasses.dataclass(frozen=True)
class _Signal:
    name: str


class _End:
    """The end of input."""


Part = Union[bytes, _Signal, _End]


class _Typed:
    """The state of a terminal's driver: interprets typed characters."""

    def __init__(self) -> None:
        self._is_line_empty = True

    def parts(self, chars: str) -> Iterator[Part]:
        """Yields bytes, signals and the end of input, in order."""
        text = ""
        for char in chars.replace("\r", "\n"):
            if char in _SIGNALS:
                # A driver would drop the incomplete line. Here it is written, because an earlier
                # part of it may already have been.
                if text:
                    yield text.encode()
                yield _Signal(_SIGNALS[char])
                text, self._is_line_empty = "", True
            elif char == "\x04":
                if text:
                    yield text.encode()
                if self._is_line_empty:
                    yield _End()
                text, self._is_line_empty = "", True
            else:
                text += char
                self._is_line_empty = char == "\n"
        if text:
            yield text.encode()


def shown(chars: str) -> bytes:
    """Returns what a terminal shows for typed characters."""
    return "".join(_SHOWN.get(char, char) for char in chars.replace("\r", "\n")).encode()


@dataclasses.dataclass
class Entry:
    """A process."""

    folder: str
    #: The process id of the shell that waits for it.
    waiter: str
    tty: bool
    typed: _Typed = dataclasses.field(default_factory=_Typed)
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
        self._watch: asyncio.Task[None] | None = None
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
        self._begun += 1
        folder = f"/tmp/.wasibox-process-{self._begun}-{time.time_ns():x}"
        command = ["sh", "-c", _BEGIN, "sh", folder, "1" if tty else "0", *argv]
        try:
            outcome = await self._session.exec(
                command, cwd=cwd, env=env, list_files=False, keep_background=True
            )
        except WasiboxError as e:
            raise ExecTransportError(command=list(argv), cause=e, message=str(e)) from e
        if not outcome.ok:
            why = outcome.stderr.strip() or f"exit code {outcome.exit_code}"
            raise ExecTransportError(command=list(argv), message=f"the process could not begin: {why}")
        entry = Entry(folder=folder, waiter=outcome.stdout.strip(), tty=tty)
        process_id = allocate_pty_process_id(self._reserved)
        self._reserved.add(process_id)
        await self._make_room()
        self.alive[process_id] = entry
        self._stay_awake()
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
        """Writes to a process, and returns its output of the next `seconds`."""
        if chars:
            if not entry.tty:
                # The framework's own tool recognises this text.
                raise RuntimeError("stdin is not available for this process")
            entry.chunks.append(shown(chars))
            for part in entry.typed.parts(chars):
                await self._type(entry, part)
        milliseconds = 250 if seconds is None else int(seconds * 1000)
        update = await self._update(
            process_id,
            entry,
            resolve_pty_write_yield_time_ms(yield_time_ms=milliseconds, input_empty=not chars),
            max_tokens,
        )
        entry.last_used = time.monotonic()
        return update

    async def _type(self, entry: Entry, part: Part) -> None:
        if isinstance(part, _Signal):
            script = f'kill -{part.name} -- "-$(cat "$1/pid")"'
        elif isinstance(part, _End):
            script = 'kill "$(cat "$1/holder")"'
        else:
            # If the process has ended, opening the pipe would wait for ever.
            script = '[ -e "$1/status" ] || exec cat > "$1/in"'
        outcome = await self._session.exec(
            ["sh", "-c", script, "sh", entry.folder],
            stdin=part if isinstance(part, bytes) else None,
            timeout=_WRITE_TIMEOUT,
            list_files=False,
        )
        if outcome.limit_hit == "timeout":
            raise ExecTransportError(
                command=["write_stdin"],
                message=f"the process has not read its input in {_WRITE_TIMEOUT:g} s",
            )

    async def end_all(self) -> None:
        """Ends all processes."""
        entries = list(self.alive.values())
        self.alive.clear()
        self._reserved.clear()
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
        for entry in entries:
            await self._end(entry)

    async def _end(self, entry: Entry) -> None:
        # If the session is closed, its processes have already ended.
        with contextlib.suppress(WasiboxError):
            await self._session.exec(
                ["sh", "-c", _END, "sh", entry.folder, entry.waiter], list_files=False
            )

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
        await self._look(entry)
        if entry.exit_code is None and not await self._is_alive(entry):
            # The process may have ended since the first look.
            await self._look(entry)
            if entry.exit_code is None:
                entry.exit_code = _KILLED

        async def look(_deadline: float) -> None:
            nonlocal pause
            pause = _SOON if await self._look(entry) else min(pause * 2, _LATE)

        async def wait(remaining: float) -> None:
            await asyncio.sleep(min(pause, remaining))

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

    async def _look(self, entry: Entry) -> bool:
        """Reads the new output of a process, and its exit code if it has ended.

        Returns whether there was output.
        """
        if entry.exit_code is not None:
            return False
        files = {}
        with contextlib.suppress(FileNotFoundError):
            files = {file.path: file for file in await self._session.list(entry.folder)}
        before = entry.offset
        size = files["out"].size if "out" in files else 0
        while entry.offset < size:
            part = await self.download(f"{entry.folder}/out", entry.offset)
            if not part:
                break
            entry.chunks.append(part)
            entry.offset += len(part)
        if "status" in files:
            # The list of files was made after the end of the process, so all output was read.
            entry.exit_code = int(await self._session.read(f"{entry.folder}/status"))
        return entry.offset > before

    async def _is_alive(self, entry: Entry) -> bool:
        outcome = await self._session.exec(["kill", "-0", entry.waiter], list_files=False)
        return outcome.ok

    async def download(self, path: str, offset: int, limit: int = 1 << 20) -> bytes:
        """Returns at most `limit` bytes of a file, from an offset."""
        request = {"path": path, "offset": offset, "limit": min(limit, 1 << 20)}
        answer = await self._session.files({"download": request})
        return base64.b64decode(answer["data"]["data"])

    def _stay_awake(self) -> None:
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._stay())

    async def _stay(self) -> None:
        while self.alive:
            await asyncio.sleep(_AWAKE)
            if self._session.sync.closed:
                return
            with contextlib.suppress(WasiboxError):
                await self._session.stat("/")
