"""The results of calls."""

from __future__ import annotations

import json

from ._errors import CommandError, WasiboxError
from ._protocol import Commit, EntryFields, FileChange, OutcomeFields, entry_fields_of, outcome_fields
from ._record import Record, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

__all__ = ["Applied", "Chunk", "Commit", "Entry", "Figure", "FileChange", "Match", "Outcome"]

#: The maximum number of pictures of one outcome, and the maximum number of bytes of each.
_PICTURES, _PICTURE = 16, 8 << 20


class Figure(Record):
    """A picture file that a call has created or changed."""

    path: str
    mime_type: str
    data: bytes = field(repr=False)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self.mime_type == "image/svg+xml":
            return {self.mime_type: self.data.decode("utf-8", "replace")}
        return {self.mime_type: _base64(self.data)}


class Outcome(OutcomeFields):
    """How a command or a cell ended. A command that fails has an outcome, too."""

    #: Standard output as text. Bytes that are not UTF-8 are replaced; :attr:`stdout_bytes` has
    #: them.
    stdout: str
    #: Standard error as text, like :attr:`stdout`.
    stderr: str
    #: Standard output as bytes.
    stdout_bytes: bytes = field(repr=False)
    #: Standard error as bytes.
    stderr_bytes: bytes = field(repr=False)
    #: The value of a cell's last expression: the value itself if JSON can express it, otherwise its
    #: ``repr``; None if it is too long (:attr:`value_bytes`).
    value: Any = None
    #: The ``repr`` of the value; of a long one the beginning and the end.
    value_repr: str | None = None
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
        """Returns the data that Jupyter shows: the output, the value and the pictures."""
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
        parts.append(f"[the value was cut: it has at least {outcome.value_bytes} bytes]")
    if outcome.stderr:
        parts.append(f"[stderr]\n{cut(outcome.stderr)}")
    if outcome.limit_hit:
        parts.append(f"[limit: {outcome.limit_hit}]")
    if outcome.exit_code:
        parts.append(f"[exit code {outcome.exit_code}]")
    return "\n".join(part for part in parts if part)


def of_native(native: tuple[int, bytes, bytes, str], read: Callable[[str], bytes]) -> Outcome:
    """Returns the outcome for the result of a native call."""
    _, stdout, stderr, rest = native
    more: dict[str, Any] = json.loads(rest)
    value_repr = more.get("value")
    is_whole = more.get("value_bytes") is None
    return Outcome(
        **outcome_fields(more),
        stdout=stdout.decode("utf-8", "replace"),
        stderr=stderr.decode("utf-8", "replace"),
        stdout_bytes=stdout,
        stderr_bytes=stderr,
        # A part of a value could be taken for another value.
        value=more.get("value_json", value_repr if is_whole else None),
        value_repr=value_repr,
        _read=read,
    )


class Chunk(Record):
    """A piece of a command's output."""

    stream: Literal["stdout", "stderr"]
    text: str


class Entry(EntryFields):
    """A file, directory or other node, as ``list`` and ``stat`` return it."""

    @property
    def is_dir(self) -> bool:
        """Whether this is a directory."""
        return self.kind == "directory"


def entry(native: dict[str, Any]) -> Entry:
    """Returns the entry for one in an answer of the native module."""
    return Entry(**entry_fields_of(native).__dict__)


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
