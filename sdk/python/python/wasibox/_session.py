"""Sessions."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import json
import os
import threading
from collections.abc import MutableMapping

from . import _native, _options, _outcome
from ._engine import Engine, default_engine
from ._errors import raising
from ._outcome import Applied, Commit, Entry, Match, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import Any, List, Literal

    from ._options import Network, Workspace
    from ._stream import Stream
    from ._tools import AnyTool
    from ._types import Command, Limits, Mounts, OnOutput, Stdin, StrPath

# Threads that have reported the end of their call release Python's lock before the interpreter
# ends.
atexit.register(_native.settle)


def _given(tools: Iterable[AnyTool]) -> List[_native.HostTool]:
    """Tools for the native module. What reads their signatures is imported for the first one."""
    made = list(tools)
    if not made:
        return []
    from . import _tools

    return _tools.native(made)


def _bytes(data: bytes | bytearray | memoryview | str | None) -> bytes:
    if data is None:
        return b""
    return data.encode() if isinstance(data, str) else bytes(data)


class _Texts:
    """Calls functions with text, whatever bytes come: characters that are not whole wait for the rest."""

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


class Session:
    """Files, a shell, a Python interpreter that stays, and the history of all that.

    It is granted nothing but what is said here. Calls of a session come one after another, from whatever thread; sessions
    run beside each other. A session without a store is gone when it is closed.
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
            store: the file (``.wbx``) that keeps it; it is made if it is not there.
            name: its name, in a store ``default`` if nothing is said.
            open: whether to open the one of that name or make it, or only one of both.
            policy: a policy file, or the same words as a mapping. What follows comes before it.
            limits: ``"strict"``, ``"normal"``, ``"permissive"``, or limits by name: ``{"memory": "1G", "timeout": 10}``.
            mounts: host files and folders by the path that guests see: ``{"/data": "data"}``, read-only, or a :class:`Mount`.
            workspace: a folder or a zip that the session works in.
            network: rules of the requests that guests may make: ``"GET https://api.example.com/"``.
            tools: functions that guests may call, as commands and from Python; see :func:`wasibox.tool`.
            engine: what it runs on; by default :func:`default_engine`.
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
        """A session out of what :meth:`export` has written: bytes, or a file (``.wbs``). It brings no grants and no tools with it."""
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
        """Makes these the functions that guests may call, in place of those before."""
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
        """Runs a command to its end. One that fails is an outcome, not an exception.

        Args:
            command: a script for the session's shell, which continues with the directory, variables and
                functions of the script before; or a list of arguments, run without the shell.
            stdin: what it reads.
            env: variables; of a script they stay for the next one, as after ``export``.
            cwd: the directory; of a script it stays for the next one, as after ``cd``.
            timeout: seconds; never more than the session's policy has.
            max_output: bytes of output that are kept, 16 MiB if nothing is said.
            on_stdout: called with output as it comes, on another thread. What it raises ends the command, and is raised here.
            on_stderr: the same for standard error.
            list_files: whether the outcome lists changed files.
            keep_background: whether processes that are left go on.
            check: whether a failure raises :class:`CommandError`.
        """
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
        outcome = self._call(options, stdin, on_stdout, on_stderr, _native.Cancel())
        return outcome.check() if check else outcome

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
        """Runs a cell in the session's Python interpreter, which stays: variables and imports are there for the next one.

        The value of the last expression is :attr:`Outcome.value`, pictures are :attr:`Outcome.figures`.
        """
        options = _options.cell("python", code, timeout=timeout, max_output=max_output)
        outcome = self._call(options, stdin, on_stdout, on_stderr, _native.Cancel())
        return outcome.check() if check else outcome

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
        """The same in the session's JavaScript interpreter: ``await`` and ``import`` are allowed at its top."""
        options = _options.cell("javascript", code, timeout=timeout, max_output=max_output)
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
        # Only the main thread hears of signals. `current_thread` would make an object of every thread.
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
        """Runs a command and gives its output as it comes::

            with s.stream("make") as output:
                for chunk in output:
                    print(chunk.text, end="")
            output.outcome.exit_code

        A loop that ends early ends the command.
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
        from ._stream import Stream

        return Stream(self, options, stdin)

    def interrupt(self) -> None:
        """Ends the call that runs, from another thread; or the next one, if none does."""
        with raising():
            self._native.interrupt()

    def reset(self) -> None:
        """Ends the interpreters; the next cell begins a new one."""
        with raising():
            self._native.reset()

    # Files. Relative paths are from the directory that the shell is in.

    def read(self, path: str) -> bytes:
        """A file's bytes."""
        with raising():
            return self._native.read(path)

    def read_text(self, path: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """A file's text."""
        return self.read(path).decode(encoding, errors)

    def write(
        self, path: str, data: bytes | bytearray | memoryview | str, *, mode: int | None = None
    ) -> None:
        """Makes a file's content this; folders above it are made. A text is written as UTF-8."""
        with raising():
            self._native.write(path, _bytes(data), mode)

    def files(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Any request about files, in the words of docs/files.md: ``{"grep": {"pattern": "x"}}``."""
        with raising():
            answer: dict[str, Any] = json.loads(self._native.files(json.dumps(request)))
        return answer

    def edit(self, path: str, old: str, new: str, *, replace_all: bool = False) -> str:
        """Replaces text, which must be there once unless all of it is meant. Gives the place with its line numbers."""
        edits = [{"old": old, "new": new, "replace_all": replace_all}]
        shown: str = self.files({"edit": {"path": path, "edits": edits}})["edited"]["shown"]
        return shown

    def patch(self, patch: str) -> List[str]:
        """Applies a unified diff, all of it or nothing; gives the files' paths."""
        done = self.files({"apply_patch": {"patch": patch}})["patched"]
        return [file["path"] for file in done["files"]]

    def list(self, path: str = ".", *, depth: int = 1, hidden: bool = True) -> List[Entry]:
        """What is in a directory, so many levels deep."""
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
        """Paths that fit a pattern: ``*``, ``?``, ``[...]``, ``{a,b}``, ``**``."""
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
        """Lines that match a pattern (Perl's, unless it is ``literal``) in a file, or in all below a directory."""
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
        """What is at a path."""
        return _outcome.entry(self.files({"stat": {"path": path, "follow": follow}})["stat"])

    def exists(self, path: str) -> bool:
        """Whether something is at a path."""
        try:
            self.stat(path)
        except FileNotFoundError:
            return False
        return True

    def delete(self, path: str, *, recursive: bool = False) -> int:
        """Removes a file or, with ``recursive``, a directory; gives how many were removed."""
        count: int = self.files({"delete": {"path": path, "recursive": recursive}})["deleted"][
            "count"
        ]
        return count

    def move(self, source: str, target: str) -> None:
        """Gives a file or a directory another name."""
        self.files({"move": {"from": source, "to": target}})

    def make_dir(self, path: str) -> None:
        """Makes a directory and those above it."""
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
        """The number of the commit that it is at: what the last call has left."""
        with raising():
            return self._native.head()

    def history(self) -> List[Commit]:
        """All commits, the oldest first, those that were undone too."""
        with raising():
            return [Commit(**commit) for commit in json.loads(self._native.history())]

    def undo(self) -> int:
        """Goes back to the commit before this one, with files, shell and interpreters; gives its number."""
        with raising():
            return self._native.undo()

    def redo(self) -> int:
        """Goes forward again after :meth:`undo`, if nothing was done since."""
        with raising():
            return self._native.redo()

    def snapshot(self, tag: str | None = None) -> int:
        """The number of the commit that it is at, to :meth:`restore` later; with a tag that leads to it."""
        with raising():
            number = self._native.head()
            if tag is not None:
                self._native.tag(tag, number)
            return number

    def restore(self, commit: int | str) -> int:
        """Makes everything as it was at a commit, by a new one, which can be undone; gives its number."""
        with raising():
            number = dict(self._native.tags()).get(commit) if isinstance(commit, str) else commit
            if number is None:
                raise _native.NativeError("missing", f"no tag '{commit}'", None)
            return self._native.restore(number)

    def tags(self) -> dict[str, int]:
        """The names of commits."""
        with raising():
            return dict(self._native.tags())

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Session]:
        """Calls that count together: if the block raises, the session is as if none had been made."""
        begun = self.head
        try:
            yield self
        except BaseException:
            self._roll_back(begun)
            raise

    def _roll_back(self, number: int) -> None:
        with raising():
            self._native.roll_back(number)

    def fork(self, name: str | None = None) -> Session:
        """A second session that is what this one is, and shares with it what neither changes."""
        with raising():
            return type(self)._of(self._engine, self._native.fork(name))

    def export(self, path: StrPath | None = None, *, history: bool = False) -> bytes | None:
        """Writes the session as it is, or with all its history, into a file (``.wbs``); without a path gives the bytes.

        :meth:`load` makes a session of it, here or elsewhere.
        """
        with raising():
            if path is None:
                return self._native.export(history)
            self._native.export_file(os.fspath(path), history)
            return None

    def log(self) -> List[dict[str, Any]]:
        """The session's log, the oldest entry first: calls, requests, with times in nanoseconds since the epoch."""
        with raising():
            entries: List[dict[str, Any]] = json.loads(self._native.log())
        return entries

    @property
    def kv(self) -> KeyValues:
        """The session's key-values, which outlive calls and undo; guests have them as the command ``kv``."""
        return KeyValues(self)

    # The workspace.

    def workspace_diff(self, *paths: str) -> str:
        """What a session over a host's folder has changed of it, as git writes it."""
        with raising():
            text, _ = self._native.workspace_diff(list(paths))
        return text.decode("utf-8", "replace")

    def workspace_apply(self, *paths: str) -> Applied:
        """Brings what the session has changed back to the host's folder. The session runs nothing more after this."""
        with raising():
            done, left = self._native.workspace_apply(list(paths))
        return Applied(done, left)

    # Its life.

    def park(self) -> None:
        """Gives process and memory back until the next call."""
        with raising():
            self._native.park()

    @property
    def is_awake(self) -> bool:
        """Whether it has a process now."""
        with raising():
            return self._native.is_awake()

    @property
    def missing_walls(self) -> List[str] | None:
        """The walls of the jail that this host lacks; None before the first call, or without a process."""
        with raising():
            return self._native.missing_walls()

    def close(self) -> None:
        """Lets go of the session. One without a store is gone with that."""
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
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
    """A session's key-values."""

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
