"""Sessions for asyncio."""

from __future__ import annotations

import asyncio
import functools
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, List, TypeVar

from . import _native, _options, _tools
from ._engine import Engine
from ._outcome import Applied, Chunk, Commit, Entry, Match, Outcome
from ._session import KeyValues, Session

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Literal

    from ._options import Network, Workspace
    from ._tools import AnyTool
    from ._types import Command, Limits, Mounts, OnOutput, Stdin, StrPath

T = TypeVar("T")


async def _in_thread(act: Callable[[], T]) -> T:
    """Does something on a thread of the package's, which is not among those of the loop's executor."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(error: BaseException | None, value: T) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def done(error: BaseException | None, value: T) -> None:
        # In a loop that was closed, nothing waits.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error, value)

    _native.spawn(act, done)
    return await future


def _in_loop(callback: OnOutput | None) -> OnOutput | None:
    """A function that calls another one in the loop, from whatever thread."""
    if callback is None:
        return None
    loop = asyncio.get_running_loop()
    return lambda text: loop.call_soon_threadsafe(callback, text)


class AsyncSession:
    """A :class:`Session` whose methods are coroutines. Cancelling a call's task ends the guest::

        async with wasibox.AsyncSession() as s:
            outcome = await s.exec("echo hi | wc -c")

    Outside of ``async with``, begin with ``await AsyncSession.create(...)``.
    """

    def __init__(self, **options: Any) -> None:
        """Takes what :class:`Session` takes. The session begins at ``async with``, or at its first call."""
        self._make: Callable[[], Session] | None = functools.partial(Session, **options)
        self._made: Session | None = None
        self._making: asyncio.Lock | None = None

    @classmethod
    async def create(
        cls,
        *,
        store: StrPath | None = None,
        name: str | None = None,
        open: Literal["any", "create", "open"] = "any",
        policy: StrPath | Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        mounts: Mounts | None = None,
        workspace: StrPath | Workspace | None = None,
        network: str | Sequence[str] | Network | None = None,
        tools: Iterable[AnyTool] = (),
        engine: Engine | None = None,
    ) -> AsyncSession:
        """Opens a session, as :class:`Session` does."""
        session = cls(
            store=store,
            name=name,
            open=open,
            policy=policy,
            limits=limits,
            mounts=mounts,
            workspace=workspace,
            network=network,
            tools=tools,
            engine=engine,
        )
        await session._session()
        return session

    @classmethod
    async def load(cls, source: bytes | StrPath, **options: Any) -> AsyncSession:
        """A session out of what :meth:`export` has written; see :meth:`Session.load`."""
        load = functools.partial(Session.load, source, **options)
        loop = asyncio.get_running_loop()
        return cls.of(await _in_thread(functools.partial(_tools.in_loop, loop, load)))

    @classmethod
    def of(cls, session: Session) -> AsyncSession:
        """The same session with coroutines."""
        made = cls.__new__(cls)
        made._make, made._made, made._making = None, session, None
        return made

    async def set_tools(self, tools: Iterable[AnyTool]) -> None:
        """Makes these the functions that guests may call, in place of those before."""
        loop, session = asyncio.get_running_loop(), await self._session()
        give = functools.partial(session.set_tools, list(tools))
        await _in_thread(functools.partial(_tools.in_loop, loop, give))

    async def _session(self) -> Session:
        if self._made is None:
            if self._making is None:
                self._making = asyncio.Lock()
            async with self._making:
                if self._made is None:
                    assert self._make is not None
                    loop = asyncio.get_running_loop()
                    make = functools.partial(_tools.in_loop, loop, self._make)
                    self._made = await _in_thread(make)
        return self._made

    async def _do(self, method: Callable[..., T], *args: Any, **options: Any) -> T:
        session = await self._session()
        return await _in_thread(functools.partial(method, session, *args, **options))

    @property
    def sync(self) -> Session:
        """The session itself. It must have begun."""
        if self._made is None:
            raise RuntimeError("the session has not begun: use `async with` or `create`")
        return self._made

    # Calls.

    async def exec(
        self,
        command: Command,
        *,
        stdin: Stdin = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = None,
        max_output: int | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        list_files: bool = True,
        keep_background: bool = False,
        check: bool = False,
    ) -> Outcome:
        """Runs a command to its end; see :meth:`Session.exec`. Output's callbacks are called in the loop."""
        what, value = ("script", command) if isinstance(command, str) else ("argv", list(command))
        options = _options.call(
            what,
            value,
            env=env,
            cwd=cwd,
            timeout=timeout,
            max_output=max_output,
            list_files=list_files,
            keep_background=keep_background,
        )
        outcome = await self._call(options, stdin, _in_loop(on_stdout), _in_loop(on_stderr))
        return outcome.check() if check else outcome

    async def python(
        self,
        code: str,
        *,
        stdin: Stdin = None,
        timeout: float | None = None,
        max_output: int | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        check: bool = False,
    ) -> Outcome:
        """Runs a cell in the session's Python interpreter; see :meth:`Session.python`."""
        options = _options.cell("python", code, timeout=timeout, max_output=max_output)
        outcome = await self._call(options, stdin, _in_loop(on_stdout), _in_loop(on_stderr))
        return outcome.check() if check else outcome

    async def javascript(
        self,
        code: str,
        *,
        stdin: Stdin = None,
        timeout: float | None = None,
        max_output: int | None = None,
        on_stdout: OnOutput | None = None,
        on_stderr: OnOutput | None = None,
        check: bool = False,
    ) -> Outcome:
        """Runs a cell in the session's JavaScript interpreter; see :meth:`Session.javascript`."""
        options = _options.cell("javascript", code, timeout=timeout, max_output=max_output)
        outcome = await self._call(options, stdin, _in_loop(on_stdout), _in_loop(on_stderr))
        return outcome.check() if check else outcome

    async def _call(
        self,
        options: str,
        stdin: Stdin,
        on_stdout: OnOutput | None,
        on_stderr: OnOutput | None,
    ) -> Outcome:
        session = await self._session()
        cancel = _native.Cancel()
        act = functools.partial(session._call, options, stdin, on_stdout, on_stderr, cancel)
        try:
            return await _in_thread(act)
        except asyncio.CancelledError:
            cancel.cancel()
            raise

    def stream(
        self,
        command: Command,
        *,
        stdin: Stdin = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = None,
    ) -> AsyncStream:
        """Runs a command and gives its output as it comes::

            async with s.stream("make") as output:
                async for chunk in output:
                    print(chunk.text, end="")
            output.outcome.exit_code

        Leaving the block early ends the command.
        """
        what, value = ("script", command) if isinstance(command, str) else ("argv", list(command))
        options = _options.call(
            what,
            value,
            env=env,
            cwd=cwd,
            timeout=timeout,
            max_output=None,
            list_files=True,
            keep_background=False,
        )
        return AsyncStream(self, options, stdin)

    async def interrupt(self) -> None:
        """Ends the call that runs, or the next one if none does."""
        (await self._session()).interrupt()

    async def reset(self) -> None:
        """Ends the Python interpreter; the next cell begins a new one."""
        await self._do(Session.reset)

    # Files.

    async def read(self, path: str) -> bytes:
        """A file's bytes."""
        return await self._do(Session.read, path)

    async def read_text(self, path: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """A file's text."""
        return await self._do(Session.read_text, path, encoding, errors)

    async def write(
        self, path: str, data: bytes | bytearray | memoryview | str, *, mode: int | None = None
    ) -> None:
        """Makes a file's content this; folders above it are made."""
        await self._do(Session.write, path, data, mode=mode)

    async def files(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Any request about files, in the words of docs/files.md."""
        return await self._do(Session.files, request)

    async def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> str:
        """Replaces text; see :meth:`Session.edit`."""
        return await self._do(Session.edit, path, old, new, replace_all=replace_all)

    async def patch(self, patch: str) -> List[str]:
        """Applies a unified diff, all of it or nothing; gives the files' paths."""
        return await self._do(Session.patch, patch)

    async def list(self, path: str = ".", *, depth: int = 1, hidden: bool = True) -> List[Entry]:
        """What is in a directory, so many levels deep."""
        return await self._do(Session.list, path, depth=depth, hidden=hidden)

    async def glob(
        self, pattern: str, path: str = ".", *, hidden: bool = False, limit: int = 1000
    ) -> List[str]:
        """Paths that fit a pattern."""
        return await self._do(Session.glob, pattern, path, hidden=hidden, limit=limit)

    async def grep(
        self,
        pattern: str,
        path: str = ".",
        *,
        ignore_case: bool = False,
        literal: bool = False,
        include: Sequence[str] = (),
        limit: int = 200,
    ) -> List[Match]:
        """Lines that match a pattern; see :meth:`Session.grep`."""
        return await self._do(
            Session.grep,
            pattern,
            path,
            ignore_case=ignore_case,
            literal=literal,
            include=include,
            limit=limit,
        )

    async def stat(self, path: str, *, follow: bool = True) -> Entry:
        """What is at a path."""
        return await self._do(Session.stat, path, follow=follow)

    async def exists(self, path: str) -> bool:
        """Whether something is at a path."""
        return await self._do(Session.exists, path)

    async def delete(self, path: str, *, recursive: bool = False) -> int:
        """Removes a file or, with ``recursive``, a directory."""
        return await self._do(Session.delete, path, recursive=recursive)

    async def move(self, source: str, target: str) -> None:
        """Gives a file or a directory another name."""
        await self._do(Session.move, source, target)

    async def make_dir(self, path: str) -> None:
        """Makes a directory and those above it."""
        await self._do(Session.make_dir, path)

    # History.

    async def history(self) -> List[Commit]:
        """All commits, the oldest first."""
        return await self._do(Session.history)

    async def undo(self) -> int:
        """Goes back to the commit before this one; gives its number."""
        return await self._do(Session.undo)

    async def redo(self) -> int:
        """Goes forward again after :meth:`undo`."""
        return await self._do(Session.redo)

    async def snapshot(self, tag: str | None = None) -> int:
        """The number of the commit that it is at, to :meth:`restore` later."""
        return await self._do(Session.snapshot, tag)

    async def restore(self, commit: int | str) -> int:
        """Makes everything as it was at a commit."""
        return await self._do(Session.restore, commit)

    async def tags(self) -> dict[str, int]:
        """The names of commits."""
        return await self._do(Session.tags)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Calls that count together: if the block raises, the session is as if none had been made."""
        begun = await self.snapshot()
        try:
            yield self
        except BaseException:
            await asyncio.shield(self._do(Session._roll_back, begun))
            raise

    async def fork(self, name: str | None = None) -> AsyncSession:
        """A second session that is what this one is."""
        return type(self).of(await self._do(Session.fork, name))

    async def export(self, path: StrPath | None = None, *, history: bool = False) -> bytes | None:
        """Writes the session into a file (``.wbs``); without a path gives the bytes."""
        return await self._do(Session.export, path, history=history)

    async def log(self) -> List[dict[str, Any]]:
        """The session's log, the oldest entry first."""
        return await self._do(Session.log)

    @property
    def kv(self) -> AsyncKeyValues:
        """The session's key-values."""
        return AsyncKeyValues(self)

    # The workspace.

    async def workspace_diff(self, *paths: str) -> str:
        """What a session over a host's folder has changed of it, as git writes it."""
        return await self._do(Session.workspace_diff, *paths)

    async def workspace_apply(self, *paths: str) -> Applied:
        """Brings what the session has changed back to the host's folder."""
        return await self._do(Session.workspace_apply, *paths)

    # Its life.

    async def park(self) -> None:
        """Gives process and memory back until the next call."""
        await self._do(Session.park)

    async def close(self) -> None:
        """Lets go of the session."""
        if self._made is not None:
            await _in_thread(self._made.close)

    async def __aenter__(self) -> AsyncSession:
        await self._session()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return "<wasibox.AsyncSession, not begun>" if self._made is None else f"<Async{repr(self._made)[9:]}"


class AsyncKeyValues:
    """A session's key-values."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, key: str) -> bytes | None:
        """A value, None if there is none."""
        return await self._session._do(lambda s: KeyValues(s).get(key))

    async def set(self, key: str, value: bytes | str) -> None:
        """Sets a value."""
        await self._session._do(lambda s: KeyValues(s).__setitem__(key, value))

    async def delete(self, key: str) -> bool:
        """Takes a value out; whether it was there."""
        return await self._session._do(lambda s: KeyValues(s).pop(key, None) is not None)

    async def keys(self) -> List[str]:
        """The keys in their order."""
        return await self._session._do(lambda s: [*KeyValues(s)])


class AsyncStream:
    """A command's output as it comes."""

    #: Chunks that wait for the reader at most; the command waits then.
    _MOST = 64

    def __init__(self, session: AsyncSession, options: str, stdin: Stdin) -> None:
        self._session, self._options, self._stdin = session, options, stdin
        self._task: asyncio.Task[Outcome] | None = None
        self._chunks: asyncio.Queue[Chunk | None] = asyncio.Queue()
        self._room = threading.Semaphore(self._MOST)
        self._is_left = False

    def _put(self, stream: Literal["stdout", "stderr"]) -> OnOutput:
        loop = asyncio.get_running_loop()

        def put(text: str) -> None:
            # On a thread that reads output: while it waits, so does the command.
            while not self._is_left:
                if self._room.acquire(timeout=0.05):
                    loop.call_soon_threadsafe(self._chunks.put_nowait, Chunk(stream, text))
                    return

        return put

    def _begin(self) -> asyncio.Task[Outcome]:
        if self._task is None:
            call = self._session._call(
                self._options, self._stdin, self._put("stdout"), self._put("stderr")
            )
            self._task = asyncio.ensure_future(call)
            self._task.add_done_callback(lambda _: self._chunks.put_nowait(None))
        return self._task

    async def __aiter__(self) -> AsyncIterator[Chunk]:
        task = self._begin()
        while True:
            chunk = await self._chunks.get()
            if chunk is None:
                # For callers that ask again.
                self._chunks.put_nowait(None)
                if not task.cancelled():
                    task.result()
                return
            self._room.release()
            yield chunk

    @property
    def outcome(self) -> Outcome:
        """What became of the command, once its output was read to the end."""
        if self._task is None or not self._task.done():
            raise RuntimeError("the command has not ended: read its output first")
        return self._task.result()

    async def __aenter__(self) -> AsyncStream:
        self._begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        task = self._begin()
        self._is_left = True
        if not task.done():
            task.cancel()
        await asyncio.wait([task])
