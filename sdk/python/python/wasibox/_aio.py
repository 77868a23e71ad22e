"""Sessions for asyncio."""

from __future__ import annotations

import asyncio
import functools
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, List, TypeVar

from . import _native, _options, _tools
from ._coroutines import SessionCoroutines
from ._engine import Engine
from ._outcome import Chunk, Outcome
from ._session import KeyValues, Session

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Literal, Tuple

    from ._options import Network, Workspace
    from ._tools import AnyTool
    from ._types import Command, Limits, Mounts, OnOutput, Stdin, StrPath

T = TypeVar("T")


async def _in_thread(act: Callable[[], T]) -> T:
    """Runs a function on a thread of the package, not of the loop's executor."""
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
        # Nobody waits for the result if the loop was closed.
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, error, value)

    _native.spawn(act, done)
    return await future


def _in_loop(callback: OnOutput | None) -> OnOutput | None:
    """Returns a function that calls `callback` in the loop and may be called on any thread."""
    if callback is None:
        return None
    loop = asyncio.get_running_loop()
    return lambda text: loop.call_soon_threadsafe(callback, text)


class AsyncSession(SessionCoroutines):
    """A :class:`Session` whose methods are coroutines::

        async with wasibox.AsyncSession() as s:
            outcome = await s.exec("echo hi | wc -c")

    Without ``async with``, open a session with ``await AsyncSession.create(...)``. Cancelling the
    task of a call ends the guest.
    """

    def __init__(self, **options: Any) -> None:
        """Takes the options of :class:`Session`.

        The session is opened by ``async with``, or by the first call.
        """
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
        """Opens a session; see :class:`Session` for the options."""
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
        """Creates a session from what :meth:`export` has written; see :meth:`Session.load`."""
        load = functools.partial(Session.load, source, **options)
        loop = asyncio.get_running_loop()
        return cls.of(await _in_thread(functools.partial(_tools.in_loop, loop, load)))

    @classmethod
    def of(cls, session: Session) -> AsyncSession:
        """Returns an object with coroutines for the same session."""
        made = cls.__new__(cls)
        made._make, made._made, made._making = None, session, None
        return made

    async def set_tools(self, tools: Iterable[AnyTool]) -> None:
        """Replaces the functions that guests may call."""
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
        """The session with methods that block. It must be open already."""
        if self._made is None:
            raise RuntimeError("the session has not begun: use `async with` or `create`")
        return self._made

    # Calls. The callbacks of output are called in the loop.

    async def _run(
        self,
        options: str,
        stdin: Stdin,
        on_stdout: OnOutput | None,
        on_stderr: OnOutput | None,
        check: bool,
    ) -> Outcome:
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
        """Runs a command, and yields its output as it is written::

            async with s.stream("make") as output:
                async for chunk in output:
                    print(chunk.text, end="")
            output.outcome.exit_code

        Leaving the block early ends the command.
        """
        return AsyncStream(self, _options.command(command, env=env, cwd=cwd, timeout=timeout), stdin)

    async def interrupt(self) -> None:
        """Ends the running call. If there is none, ends the next one."""
        (await self._session()).interrupt()

    # History.

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Undoes all calls of a block if the block raises; see :meth:`Session.transaction`."""
        begun = await self._do(Session._begin_block)
        try:
            yield self
        except BaseException:
            await asyncio.shield(self._do(Session._roll_back, begun))
            raise
        finally:
            await asyncio.shield(self._do(Session._end_block))

    async def fork(self, name: str | None = None) -> AsyncSession:
        """Returns a copy of the session; see :meth:`Session.fork`."""
        return type(self).of(await self._do(Session.fork, name))

    async def fork_many(self, count: int) -> list[AsyncSession]:
        """Returns ``count`` copies of the session; see :meth:`Session.fork_many`."""
        return [type(self).of(fork) for fork in await self._do(Session.fork_many, count)]

    def map(
        self, commands: Iterable[Command], *, at_once: int | None = None, **options: Any
    ) -> AsyncGenerator[Tuple[int, Outcome], None]:
        """Runs each command in a fork of its own, and yields ``(index, outcome)`` as each ends.

        See :meth:`Session.map`. Cancelling the task that reads ends the commands that run, and so
        does closing the iterator::

            async with contextlib.aclosing(s.map(commands, timeout=60)) as outcomes:
                async for index, outcome in outcomes:
                    if outcome.ok:
                        break  # the others are ended before the block is left
        """
        from ._aio_forks import map_over_forks

        def call_of(command: Command) -> Callable[[AsyncSession], Coroutine[Any, Any, Outcome]]:
            return lambda fork: fork.exec(command, **options)

        return map_over_forks(self, [call_of(command) for command in commands], at_once)

    @property
    def kv(self) -> AsyncKeyValues:
        """The session's keys and values; see :attr:`Session.kv`."""
        return AsyncKeyValues(self)

    # Closing.

    async def close(self) -> None:
        """Closes the session; see :meth:`Session.close`."""
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
    """The keys and values of a session."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    async def get(self, key: str) -> bytes | None:
        """Returns the value of a key, or None if there is none."""
        return await self._session._do(lambda s: KeyValues(s).get(key))

    async def set(self, key: str, value: bytes | str) -> None:
        """Sets the value of a key."""
        await self._session._do(lambda s: KeyValues(s).__setitem__(key, value))

    async def delete(self, key: str) -> bool:
        """Removes a key. Returns whether it existed."""
        return await self._session._do(lambda s: KeyValues(s).pop(key, None) is not None)

    async def keys(self) -> List[str]:
        """Returns the keys, sorted."""
        return await self._session._do(lambda s: [*KeyValues(s)])


class AsyncStream:
    """The output of a command as it is written; see :meth:`AsyncSession.stream`."""

    #: The maximum number of chunks that wait for the reader. The command waits while there are so
    #: many.
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
            # This runs on a thread that reads output. While the thread waits, the command does,
            # too.
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
                # Callers may iterate again.
                self._chunks.put_nowait(None)
                if not task.cancelled():
                    task.result()
                return
            self._room.release()
            yield chunk

    @property
    def outcome(self) -> Outcome:
        """The command's outcome. Its output must have been read to the end."""
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
