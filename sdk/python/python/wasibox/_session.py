"""Sessions."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import json
import os
import threading
from collections.abc import MutableMapping

from . import _native, _options, _outcome, _protocol
from ._engine import Engine, default_engine
from ._errors import NotFoundError, WasiboxError, raising
from ._outcome import Applied, Commit, Entry, Match, Outcome
from ._processes import SessionProcesses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, List, Literal, Tuple

    from ._options import Network, Workspace
    from ._stream import Stream
    from ._tools import AnyTool
    from ._types import Command, Limits, Mounts, OnOutput, Stdin, StrPath

# Waits at the end of the interpreter for threads that have reported the end of their call, because
# they must release Python's lock before the interpreter ends.
atexit.register(_native.settle)


def _given(tools: Iterable[AnyTool]) -> List[_native.HostTool]:
    """Returns tools for the native module. Their code is imported only if there are some."""
    made = list(tools)
    if not made:
        return []
    from . import _tools

    return _tools.native(made)


def _bytes(data: bytes | bytearray | memoryview | str | None) -> bytes:
    if data is None:
        return b""
    if isinstance(data, str):
        return data.encode()
    # `bytes(3)` would be three zeros.
    return bytes(memoryview(data))


class _Texts:
    """Decodes output and passes it to functions as text. Partial characters wait for the rest."""

    def __init__(self, on_stdout: OnOutput | None, on_stderr: OnOutput | None) -> None:
        make = codecs.getincrementaldecoder("utf-8")
        self._streams = [(make("replace"), on_stdout), (make("replace"), on_stderr)]

    def __call__(self, is_stderr: bool, data: bytes, final: bool = False) -> None:
        decoder, callback = self._streams[is_stderr]
        text = decoder.decode(data, final)
        if text and callback is not None:
            callback(text)

    def end(self) -> None:
        self(False, b"", True)
        self(True, b"", True)


class Session(SessionProcesses):
    """Files, a shell, interpreters that stay between calls, and the history of them all.

    A session may use only what it is granted when it is opened. Its methods may be called on any
    thread. The calls of one session run one after another, and different sessions run in parallel.
    A session without a store is lost when it is closed.
    """

    def __init__(
        self,
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
    ) -> None:
        """Opens a session.

        Args:
            store: the file (``.wbx``) that keeps the session. It is created if it does not exist.
            name: the session's name; in a store it is ``default`` by default.
            open: ``any`` opens the session of that name, or creates it if there is none. ``create``
                only creates, and ``open`` only opens.
            policy: a policy file, or a mapping with the same terms. The options below take
                precedence.
            limits: ``"strict"``, ``"normal"`` or ``"permissive"``, or limits by name, such as
                ``{"memory": "1G", "timeout": 10}``.
            mounts: host files and folders by the paths that guests see, such as
                ``{"/data": "data"}``. They are read-only; a :class:`Mount` may allow writing.
            workspace: a folder or a zip on the host that the session works in.
            network: rules for the HTTP requests that guests may make, such as
                ``"GET https://api.example.com/"``. By default there is no network.
            tools: functions that guests may call as commands, from Python and from JavaScript; see
                :func:`wasibox.tool`.
            engine: the engine that runs the session; by default :func:`default_engine`.
        """
        opener = _options.opener(
            store=store,
            name=name,
            open=open,
            policy=policy,
            limits=limits,
            mounts=mounts,
            workspace=workspace,
            network=network,
        )
        given = _given(tools)
        self._engine = engine or default_engine()
        with raising():
            self._native = self._engine._native.open(opener)
            if given:
                self._native.set_tools(given)

    @classmethod
    def _of(cls, engine: Engine, native: _native.Session) -> Session:
        session = cls.__new__(cls)
        session._engine, session._native = engine, native
        return session

    @classmethod
    def load(
        cls,
        source: bytes | StrPath,
        *,
        store: StrPath | None = None,
        name: str | None = None,
        policy: StrPath | Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        mounts: Mounts | None = None,
        network: str | Sequence[str] | Network | None = None,
        tools: Iterable[AnyTool] = (),
        engine: Engine | None = None,
    ) -> Session:
        """Creates a session from a snapshot of :meth:`export`, which is bytes or a file (``.wbs``).

        A snapshot contains no grants and no tools, so they must be given here. The options are
        those of :class:`Session`.
        """
        opener = _options.opener(
            store=store,
            name=name,
            open="any",
            policy=policy,
            limits=limits,
            mounts=mounts,
            workspace=None,
            network=network,
        )
        given = _given(tools)
        engine = engine or default_engine()
        with raising():
            if isinstance(source, (bytes, bytearray, memoryview)):
                loaded = engine._native.load(opener, bytes(source))
            else:
                loaded = engine._native.load_file(opener, os.fspath(source))
            if given:
                loaded.set_tools(given)
        return cls._of(engine, loaded)

    def set_tools(self, tools: Iterable[AnyTool]) -> None:
        """Replaces the functions that guests may call."""
        given = _given(tools)
        with raising():
            self._native.set_tools(given)

    # Calls.

    def exec(
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
        """Runs a command to its end. A command that fails is an outcome, not an exception.

        Args:
            command: a script for the session's shell, which continues with the directory, variables and
                functions of the script before; or a list of arguments, which runs without the
                shell.
            stdin: the standard input.
            env: environment variables. Those of a script stay for the next one, as after
                ``export``.
            cwd: the directory. That of a script stays for the next one, as after ``cd``.
            timeout: the time limit in seconds, which cannot exceed that of the session's policy.
            max_output: the maximum number of bytes of output; 16 MiB by default.
            on_stdout: a function that is called with output as it is written, on another thread. If
                it raises an exception, the command is ended, and the exception is raised here.
            on_stderr: the same for standard error.
            list_files: whether the outcome lists changed files.
            keep_background: whether processes that the command leaves running continue.
            check: whether a failure raises :class:`CommandError`.
        """
        options = _options.command(
            command,
            env=env,
            cwd=cwd,
            timeout=timeout,
            max_output=max_output,
            list_files=list_files,
            keep_background=keep_background,
        )
        return self._run(options, stdin, on_stdout, on_stderr, check)

    def python(
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
        """Runs a cell in the session's Python interpreter.

        The interpreter stays, so the next cell has the variables and imports of this one. The value
        of the last expression is :attr:`Outcome.value`, and pictures are :attr:`Outcome.figures`.
        The options are those of :meth:`exec`.
        """
        options = _options.call("python", code, timeout=timeout, max_output=max_output)
        return self._run(options, stdin, on_stdout, on_stderr, check)

    def javascript(
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
        """Runs a cell in the session's JavaScript interpreter; see :meth:`python`.

        Top-level ``await`` and ``import`` are allowed.
        """
        options = _options.call("javascript", code, timeout=timeout, max_output=max_output)
        return self._run(options, stdin, on_stdout, on_stderr, check)

    def _run(
        self,
        options: str,
        stdin: Stdin,
        on_stdout: OnOutput | None,
        on_stderr: OnOutput | None,
        check: bool,
    ) -> Outcome:
        outcome = self._call(options, stdin, on_stdout, on_stderr, _native.Cancel())
        return outcome.check() if check else outcome

    def _call(
        self,
        options: str,
        stdin: Stdin,
        on_stdout: OnOutput | None,
        on_stderr: OnOutput | None,
        cancel: _native.Cancel,
    ) -> Outcome:
        texts = None
        if on_stdout is not None or on_stderr is not None:
            texts = _Texts(on_stdout, on_stderr)
        # Only the main thread handles signals. `current_thread` is not used because it would create
        # an object for each thread.
        is_main = threading.get_ident() == threading.main_thread().ident
        with raising():
            result = self._native.call(options, _bytes(stdin), texts, cancel, is_main)
        if texts is not None:
            texts.end()
        return _outcome.of_native(result, self.read)

    def stream(
        self,
        command: Command,
        *,
        stdin: Stdin = None,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = None,
    ) -> Stream:
        """Runs a command, and yields its output as it is written::

            with s.stream("make") as output:
                for chunk in output:
                    print(chunk.text, end="")
            output.outcome.exit_code

        Leaving the block early ends the command. The options are those of :meth:`exec`.
        """
        from ._stream import Stream

        return Stream(self, _options.command(command, env=env, cwd=cwd, timeout=timeout), stdin)

    def interrupt(self) -> None:
        """Ends the running call, from another thread. If there is none, ends the next one."""
        with raising():
            self._native.interrupt()

    def reset(self) -> None:
        """Ends the interpreters. The next cell begins a new one."""
        self._apply("reset")

    def _apply(self, request: Any) -> Any:
        """Carries out a request of the protocol."""
        with raising():
            return json.loads(self._native.apply(json.dumps(request)))

    # Files. Relative paths start at the current directory of the shell.

    def read(self, path: str) -> bytes:
        """Returns the bytes of a file."""
        with raising():
            return self._native.read(path)

    def read_text(self, path: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Returns the text of a file."""
        return self.read(path).decode(encoding, errors)

    def write(
        self, path: str, data: bytes | bytearray | memoryview | str, *, mode: int | None = None
    ) -> None:
        """Replaces the contents of a file. Missing folders above it are created.

        Args:
            path: the path of the file.
            data: the new contents; a text is written as UTF-8.
            mode: the permission bits of the file.
        """
        with raising():
            self._native.write(path, _bytes(data), mode)

    def files(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Carries out a file request, such as ``{"grep": {"pattern": "x"}}``. Returns the answer.

        docs/files.md describes all requests and answers.
        """
        answer: dict[str, Any] = self._apply({"files": request})
        return answer

    def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> str:
        """Replaces text in a file, and returns the changed place with line numbers.

        The text ``old`` must occur exactly once, unless ``replace_all`` is true.
        """
        edits = [{"old": old, "new": new, "replace_all": replace_all}]
        shown: str = self.files({"edit": {"path": path, "edits": edits}})["edited"]["shown"]
        return shown

    def patch(self, patch: str) -> List[str]:
        """Applies a unified diff completely or not at all, and returns the paths of the files."""
        done = self.files({"apply_patch": {"patch": patch}})["patched"]
        return [file["path"] for file in done["files"]]

    def list(self, path: str = ".", *, depth: int = 1, hidden: bool = True) -> List[Entry]:
        """Returns the entries of a directory, ``depth`` levels deep."""
        found: List[Entry] = []
        while True:
            request = {"path": path, "depth": depth, "hidden": hidden, "offset": len(found)}
            listing = self.files({"ls": request})["entries"]
            found += [_outcome.entry(one) for one in listing["entries"]]
            if listing["next_offset"] is None or not listing["entries"]:
                return found

    def glob(
        self, pattern: str, path: str = ".", *, hidden: bool = False, limit: int = 1000
    ) -> List[str]:
        """Returns the paths that match a pattern, which may have ``*?[...]{a,b}`` and ``**``."""
        request = {"pattern": pattern, "path": path, "hidden": hidden, "limit": limit}
        paths: List[str] = self.files({"glob": request})["paths"]["paths"]
        return paths

    def grep(
        self,
        pattern: str,
        path: str = ".",
        *,
        ignore_case: bool = False,
        literal: bool = False,
        include: Sequence[str] = (),
        limit: int = 200,
    ) -> List[Match]:
        """Returns the lines that match a pattern in a file, or in all files below a directory.

        The pattern is a regular expression in Perl's syntax, or with ``literal`` a plain text.
        """
        request = {
            "pattern": pattern,
            "path": path,
            "ignore_case": ignore_case,
            "syntax": "literal" if literal else "perl",
            "include": list(include),
            "limit": limit,
        }
        matches = self.files({"grep": request})["matches"]
        return [
            Match(file["path"], line["number"], line["text"])
            for file in matches["files"]
            for line in file["lines"]
            if line["matches"]
        ]

    def stat(self, path: str, *, follow: bool = True) -> Entry:
        """Returns the entry of a path. With ``follow``, a symbolic link means its target."""
        return _outcome.entry(self.files({"stat": {"path": path, "follow": follow}})["stat"])

    def exists(self, path: str) -> bool:
        """Returns whether a path exists."""
        try:
            self.stat(path)
        except FileNotFoundError:
            return False
        return True

    def delete(self, path: str, *, recursive: bool = False) -> int:
        """Removes a file or, with ``recursive``, a directory. Returns how many were removed."""
        count: int = self.files({"delete": {"path": path, "recursive": recursive}})["deleted"][
            "count"
        ]
        return count

    def move(self, source: str, target: str) -> None:
        """Renames or moves a file or a directory."""
        self.files({"move": {"from": source, "to": target}})

    def make_dir(self, path: str) -> None:
        """Creates a directory, and the missing directories above it."""
        self.files({"make_dir": {"path": path}})

    # History.

    @property
    def name(self) -> str:
        """The session's name."""
        with raising():
            return self._native.name()

    @property
    def cwd(self) -> str:
        """The directory in which the next script begins."""
        with raising():
            return self._native.directory()

    @property
    def head(self) -> int:
        """The number of the current commit, which is the state after the last call."""
        return self._move("head")

    def history(self) -> List[Commit]:
        """Returns all commits, the oldest first, with those that were undone."""
        return [_protocol.commit_of(commit) for commit in self._apply({"history": {"list": {"last": None}}})]

    def _move(self, request: Any) -> int:
        """Carries out a request about the history. Returns the number of the resulting commit."""
        number: int = self._apply({"history": request})["number"]
        return number

    def undo(self) -> int:
        """Goes back to the commit before the current one, with files, shell and interpreters.

        Returns the number of that commit.
        """
        return self._move("undo")

    def redo(self) -> int:
        """Reverts an :meth:`undo`, if no call was made since. Returns the number of the commit."""
        return self._move("redo")

    def snapshot(self, tag: str | None = None) -> int:
        """Returns the number of the current commit, for :meth:`restore`.

        With a tag, the commit can also be restored by that name.
        """
        number = self.head
        if tag is not None:
            self._apply({"history": {"tag": {"name": tag, "number": number}}})
        return number

    def restore(self, commit: int | str) -> int:
        """Restores the state of a commit, given by its number or a tag.

        This makes a new commit, which can be undone. Returns the number of the new commit.
        """
        number = self.tags().get(commit) if isinstance(commit, str) else commit
        if number is None:
            raise NotFoundError(f"no tag '{commit}'")
        return self._move({"restore": number})

    def tags(self) -> dict[str, int]:
        """Returns the tags, with the numbers of their commits."""
        tags: dict[str, int] = self._apply({"history": "tags"})
        return tags

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Begins a block of calls. If the block raises an exception, none of them has any effect.

        Their commits are then discarded for good.
        """
        begun = self._begin_block()
        try:
            yield self
        except BaseException:
            self._roll_back(begun)
            raise
        finally:
            self._end_block()

    def _begin_block(self) -> int:
        # The commit to return to must not be merged with later ones meanwhile.
        with raising():
            self._native.keep_commits(True)
        return self.head

    def _roll_back(self, number: int) -> None:
        self._move({"roll_back": number})

    def _end_block(self) -> None:
        with contextlib.suppress(WasiboxError), raising():
            self._native.keep_commits(False)

    def fork(self, name: str | None = None) -> Session:
        """Returns a copy of the session. The two share all data that neither changes."""
        with raising():
            return type(self)._of(self._engine, self._native.fork(name))

    def fork_many(self, count: int) -> List[Session]:
        """Returns ``count`` copies of the session, which are made at once.

        A copy takes a worker only while it is used.
        """
        with raising():
            forks = self._native.fork_many(count)
            return [type(self)._of(self._engine, fork) for fork in forks]

    def map(
        self, commands: Iterable[Command], *, at_once: int | None = None, **options: Any
    ) -> Iterator[Tuple[int, Outcome]]:
        """Runs each command in a fork of its own, and yields ``(index, outcome)`` as each ends.

        The session itself does not change. An exception of a call, as with ``check``, is raised
        here. Leaving the loop early ends the commands that run::

            for index, outcome in s.map(["make test", "make lint"], timeout=60):
                print(index, outcome.exit_code)

        Args:
            commands: scripts or lists of arguments, as for :meth:`exec`.
            at_once: how many run at the same time; the number of processors by default.
            options: the options of :meth:`exec`, for each command.
        """
        from ._forks import map_over_forks

        def call_of(command: Command) -> Callable[[Session], Outcome]:
            return lambda fork: fork.exec(command, **options)

        return map_over_forks(self, [call_of(command) for command in commands], at_once)

    def export(self, path: StrPath | None = None, *, history: bool = False) -> bytes | None:
        """Writes a snapshot of the session to a file (``.wbs``). Without a path, returns its bytes.

        With ``history``, the snapshot has all commits, otherwise only the current one. :meth:`load`
        creates a session from a snapshot, on this machine or another one.
        """
        with raising():
            if path is None:
                return self._native.export(history)
            self._native.export_file(os.fspath(path), history)
            return None

    def log(self) -> List[dict[str, Any]]:
        """Returns the session's log of calls and requests, the oldest entry first.

        Times are in nanoseconds since the epoch.
        """
        with raising():
            entries: List[dict[str, Any]] = json.loads(self._native.log())
        return entries

    @property
    def kv(self) -> KeyValues:
        """The session's keys and values, which undo does not change.

        Guests read and write them with the command ``kv``.
        """
        return KeyValues(self)

    # The workspace.

    def workspace_diff(self, *paths: str) -> str:
        """Returns the session's changes to the host folder of its workspace, as a diff like git's.

        With paths, only of these and everything below them.
        """
        text: str = self._apply({"workspace": {"diff": paths}})["text"]
        return text

    def workspace_apply(self, *paths: str) -> Applied:
        """Applies the session's changes to the host folder of its workspace.

        With paths, only these and everything below them. Files that have changed on the host
        meanwhile are left as they are (:attr:`Applied.left`). The session can run no more calls
        after this.
        """
        applied = self._apply({"workspace": {"apply": paths}})
        return Applied(applied["done"], [(path, why) for path, why in applied["left"]])

    # Sleeping and closing.

    def park(self) -> None:
        """Frees the session's process and memory until the next call."""
        with raising():
            self._native.park()

    @property
    def is_awake(self) -> bool:
        """Whether the session has a process or threads now."""
        with raising():
            return self._native.is_awake()

    @property
    def missing_walls(self) -> List[str] | None:
        """The walls of the jail that this host lacks.

        None before the first call, and if the session has no process of its own.
        """
        with raising():
            return self._native.missing_walls()

    def close(self) -> None:
        """Closes the session. A session without a store is lost."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether the session is closed."""
        return self._native.is_closed()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return "<wasibox.Session, closed>"
        return f"<wasibox.Session {self.name!r}>"


class KeyValues(MutableMapping[str, bytes]):
    """The keys and values of a session, as a mapping."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, key: str) -> bytes:
        with raising():
            value = self._session._native.value(os.fsencode(key))
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: bytes | str) -> None:
        with raising():
            self._session._native.set_value(os.fsencode(key), _bytes(value))

    def __delitem__(self, key: str) -> None:
        with raising():
            if not self._session._native.remove_value(os.fsencode(key)):
                raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        with raising():
            return iter([os.fsdecode(key) for key in self._session._native.keys()])

    def __len__(self) -> int:
        with raising():
            return len(self._session._native.keys())
