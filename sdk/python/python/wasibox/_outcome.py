"""What calls give."""

from __future__ import annotations

import json

from ._errors import CommandError, WasiboxError
from ._record import Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Literal

#: Pictures that Jupyter shows of one result, and bytes of each.
_PICTURES, _PICTURE = 16, 8 << 20


class FileChange(Record):
    """A file that a call has made, changed or removed."""

    path: str
    change: Literal["created", "modified", "deleted"]
    size: int
    mime_type: str | None = None
    sha256: str | None = None


class Figure(Record):
    """A picture that a call has made."""

    path: str
    mime_type: str
    data: bytes = field(repr=False)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self.mime_type == "image/svg+xml":
            return {self.mime_type: self.data.decode("utf-8", "replace")}
        return {self.mime_type: _base64(self.data)}


class Outcome(Record):
    """What became of a command or a cell. A command that fails is an outcome, too."""

    #: What a shell would report; 124 after the time limit, 130 after a cancellation, 137 after the output limit.
    exit_code: int
    #: Output as text; bytes that are not UTF-8 are replaced, and stand in :attr:`stdout_bytes`.
    stdout: str
    stderr: str
    stdout_bytes: bytes = field(repr=False)
    stderr_bytes: bytes = field(repr=False)
    #: Seconds, by the clock and of all guests' CPU time.
    duration: float
    cpu_time: float
    #: Most bytes that the guests' memories had together.
    peak_memory: int
    #: The limit that ended the call, else the first that it ran into.
    limit_hit: str | None = None
    #: Output was cut at its limit.
    truncated: bool = False
    files: list[FileChange] = field(default_factory=list)
    #: More files may have changed than are listed.
    files_truncated: bool = False
    #: The value of a cell's last expression: itself where it is plain data (what JSON has), else as ``repr`` writes it;
    #: None if it is too long (:attr:`value_bytes`).
    value: Any = None
    #: The same as ``repr`` writes it; of a long one the beginning and the end.
    value_repr: str | None = None
    #: How many bytes the value has at least, if it was cut: at 64 KiB of text, 1 MiB of JSON, ``max_output``.
    value_bytes: int | None = None
    #: Processes that were left and ended with the call, and those that go on (``keep_background``).
    ended: list[str] = field(default_factory=list)
    background: list[str] = field(default_factory=list)
    #: The cell's interpreter has ended; the next cell goes on from before this one.
    put_back: bool = False
    #: The commit that the call has made.
    commit: int | None = None
    _read: Callable[[str], bytes] | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """Whether the exit code is 0."""
        return self.exit_code == 0

    def check(self) -> Outcome:
        """The outcome itself.

        Raises:
            CommandError: if the exit code is not 0.
        """
        if not self.ok:
            raise CommandError(self)
        return self

    @property
    def figures(self) -> list[Figure]:
        """The pictures that the call has made, as they are in the session now."""
        found = []
        for file in self.files:
            is_picture = (file.mime_type or "").startswith("image/")
            if file.change == "deleted" or not is_picture or file.size > _PICTURE or self._read is None:
                continue
            try:
                found.append(Figure(file.path, str(file.mime_type), self._read(file.path)))
            except WasiboxError:
                # Gone meanwhile, or the session is closed: its name is in the list.
                continue
            if len(found) == _PICTURES:
                break
        return found

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """What Jupyter shows: output, the value, pictures."""
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
    """An outcome as a text; what has come out of the sandbox goes through `cut`."""
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
    """The outcome that the native module tells."""
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
        # Part of a value would pass for another one.
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
    """Output as it comes."""

    stream: Literal["stdout", "stderr"]
    text: str


class Commit(Record):
    """What a session was when a call had returned."""

    number: int
    parent: int | None
    #: What was called.
    command: str
    exit_code: int | None
    #: When it began, in seconds since the epoch; how long it took.
    time: float
    duration: float
    changed_files: int
    #: Names that it was given.
    tags: Sequence[str] = ()


class Entry(Record):
    """A file as ``list`` and ``stat`` tell of it."""

    path: str
    kind: Literal["file", "directory", "symlink", "fifo", "socket", "device"]
    size: int
    #: Permission bits.
    mode: int
    #: Seconds since the epoch.
    modified: float
    #: What a symbolic link names.
    target: str | None = None

    @property
    def is_dir(self) -> bool:
        """Whether it is a directory."""
        return self.kind == "directory"


def entry(native: dict[str, Any]) -> Entry:
    """An entry that the native module tells."""
    return Entry(**{**native, "modified": native["modified"] / 1e9})


class Match(Record):
    """A line that ``grep`` has found."""

    path: str
    line: int
    text: str


class Applied(Record):
    """What was brought back to a workspace's folder."""

    done: list[str]
    #: Paths that were left as they are, and why.
    left: list[tuple[str, str]]
