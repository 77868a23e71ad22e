"""The results of calls."""

from __future__ import annotations

import json

from ._errors import CommandError, WasiboxError
from ._record import Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal

#: The maximum number of pictures of one outcome, and the maximum number of bytes of each.
_PICTURES, _PICTURE = 16, 8 << 20


class FileChange(Record):
    """A file that a call has created, changed or removed."""

    path: str
    change: Literal["created", "modified", "deleted"]
    size: int
    mime_type: str | None = None
    sha256: str | None = None


class Figure(Record):
    """A picture file that a call has created or changed."""

    path: str
    mime_type: str
    data: bytes = field(repr=False)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self.mime_type == "image/svg+xml":
            return {self.mime_type: self.data.decode("utf-8", "replace")}
        return {self.mime_type: _base64(self.data)}


class Outcome(Record):
    """How a command or a cell ended. A command that fails has an outcome, too."""

    #: The exit code as a shell would report it: 124 after the time limit, 152 after the limit of
    #: CPU time, 130 after a cancellation, 137 after the output limit.
    exit_code: int
    #: Standard output as text. Bytes that are not UTF-8 are replaced; :attr:`stdout_bytes` has
    #: them.
    stdout: str
    #: Standard error as text, like :attr:`stdout`.
    stderr: str
    #: Standard output as bytes.
    stdout_bytes: bytes = field(repr=False)
    #: Standard error as bytes.
    stderr_bytes: bytes = field(repr=False)
    #: The elapsed time in seconds.
    duration: float
    #: The CPU time of all guests in seconds.
    cpu_time: float
    #: The maximum number of bytes that the memories of all guests had together.
    peak_memory: int
    #: The limit that ended the call, otherwise the first limit that it ran into.
    limit_hit: str | None = None
    #: Whether output was cut at its limit.
    truncated: bool = False
    #: The files that the call has created, changed or removed.
    files: list[FileChange] = field(default_factory=list)
    #: Whether more files may have changed than are listed.
    files_truncated: bool = False
    #: The value of a cell's last expression. Plain data (which JSON can represent) is the value
    #: itself; any other value is its ``repr``. None if the value was cut (:attr:`value_bytes`).
    value: Any = None
    #: The ``repr`` of the value. A long one is cut in the middle.
    value_repr: str | None = None
    #: The minimum number of bytes of the value if it was cut, at 64 KiB of text, 1 MiB of JSON or
    #: ``max_output``; otherwise None.
    value_bytes: int | None = None
    #: The processes that the command left running, and that ended with the call.
    ended: list[str] = field(default_factory=list)
    #: The processes that the command left running, and that continue (``keep_background``).
    background: list[str] = field(default_factory=list)
    #: Whether the cell's interpreter has ended. The next cell continues from the state before this
    #: one.
    put_back: bool = False
    #: The number of the commit that the call has made.
    commit: int | None = None
    _read: Callable[[str], bytes] | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    def check(self) -> Outcome:
        """Returns the outcome itself if the command has succeeded.

        Raises:
            CommandError: if the exit code is not 0.
        """
        if not self.ok:
            raise CommandError(self)
        return self

    @property
    def figures(self) -> list[Figure]:
        """The pictures among :attr:`files`, with their current contents in the session.

        There are at most 16 of them, each of at most 8 MiB.
        """
        found = []
        for file in self.files:
            is_picture = (file.mime_type or "").startswith("image/")
            if file.change == "deleted" or not is_picture or file.size > _PICTURE or self._read is None:
                continue
            try:
                found.append(Figure(file.path, str(file.mime_type), self._read(file.path)))
            except WasiboxError:
                # The file was removed meanwhile, or the session is closed.
                continue
            if len(found) == _PICTURES:
                break
        return found

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Returns what Jupyter shows: the output, the value and the pictures."""
        text = in_words(self)
        figures = self.figures
        if not figures:
            return {"text/plain": text}
        import html

        shown = f"<pre>{html.escape(text)}</pre>" if text else ""
        shown += "".join(_in_html(figure) for figure in figures)
        bundle: dict[str, Any] = {"text/plain": text, "text/html": shown}
        if len(figures) == 1:
            bundle.update(figures[0]._repr_mimebundle_())
        return bundle


def _in_html(figure: Figure) -> str:
    import html

    source = f"data:{figure.mime_type};base64,{_base64(figure.data)}"
    return f'<img alt="{html.escape(figure.path)}" src="{source}">'


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def _plain(text: str) -> str:
    return text.rstrip("\n")


def in_words(outcome: Outcome, cut: Callable[[str], str] = _plain) -> str:
    """Returns an outcome as a text. `cut` shortens each text that is from the sandbox."""
    parts = [cut(outcome.stdout)]
    if outcome.value_repr is not None:
        parts.append(cut(outcome.value_repr))
    if outcome.value_bytes is not None:
        parts.append(f"[the value is not whole: {outcome.value_bytes} bytes at least]")
    if outcome.stderr:
        parts.append(f"[stderr]\n{cut(outcome.stderr)}")
    if outcome.limit_hit:
        parts.append(f"[limit: {outcome.limit_hit}]")
    if outcome.exit_code:
        parts.append(f"[exit code {outcome.exit_code}]")
    return "\n".join(part for part in parts if part)


def of_native(native: tuple[int, bytes, bytes, str], read: Callable[[str], bytes]) -> Outcome:
    """Returns the outcome for the result of a native call."""
    exit_code, stdout, stderr, rest = native
    more: dict[str, Any] = json.loads(rest)
    value_repr = more.get("value")
    value_bytes = more.get("value_bytes")
    return Outcome(
        exit_code=exit_code,
        stdout=stdout.decode("utf-8", "replace"),
        stderr=stderr.decode("utf-8", "replace"),
        stdout_bytes=stdout,
        stderr_bytes=stderr,
        duration=more["duration_ms"] / 1e3,
        cpu_time=more["cpu_ms"] / 1e3,
        peak_memory=more["peak_memory"],
        limit_hit=more["limit_hit"],
        truncated=more["truncated"],
        files=[FileChange(**file) for file in more["files"]],
        files_truncated=more["files_truncated"],
        # A part of a value could be mistaken for the whole value.
        value=more.get("value_json", value_repr if value_bytes is None else None),
        value_repr=value_repr,
        value_bytes=value_bytes,
        ended=more["ended"],
        background=more["background"],
        put_back=more.get("put_back", False),
        commit=more.get("commit"),
        _read=read,
    )


class Chunk(Record):
    """A piece of a command's output."""

    stream: Literal["stdout", "stderr"]
    text: str


class Commit(Record):
    """The state of a session after a call."""

    #: The number of the commit.
    number: int
    #: The number of the commit before it.
    parent: int | None
    #: The command or cell of the call.
    command: str
    #: The exit code of the call.
    exit_code: int | None
    #: The start of the call, in seconds since the epoch.
    time: float
    #: The duration of the call in seconds.
    duration: float
    #: The number of files that the call has changed.
    changed_files: int
    #: The tags of the commit.
    tags: Sequence[str] = ()


class Entry(Record):
    """A file, directory or other node, as ``list`` and ``stat`` return it."""

    path: str
    kind: Literal["file", "directory", "symlink", "fifo", "socket", "device"]
    #: The size in bytes.
    size: int
    #: The permission bits.
    mode: int
    #: The time of the last change of the contents, in seconds since the epoch.
    modified: float
    #: The target of a symbolic link.
    target: str | None = None

    @property
    def is_dir(self) -> bool:
        """Whether this is a directory."""
        return self.kind == "directory"


def entry(native: dict[str, Any]) -> Entry:
    """Returns the entry for one in an answer of the native module."""
    return Entry(**{**native, "modified": native["modified"] / 1e9})


class Match(Record):
    """A line that ``grep`` has found."""

    path: str
    #: The number of the line, from 1.
    line: int
    text: str


class Applied(Record):
    """The result of applying a session's changes to the workspace's folder on the host."""

    #: The paths that were changed.
    done: list[str]
    #: The paths that were left as they are, each with the reason.
    left: list[tuple[str, str]]
