"""What calls raise."""

from __future__ import annotations

import errno

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from ._outcome import Outcome


class WasiboxError(Exception):
    """Something could not be done. Those that callers tell apart have classes of their own."""


class InvalidError(WasiboxError, ValueError):
    """The request makes no sense."""


class NotFoundError(WasiboxError, LookupError):
    """It speaks of a session, a commit or a command that is not there."""


class ConflictError(WasiboxError):
    """It does not go together with what is there, such as a name that is taken."""


class BusyError(WasiboxError):
    """Another process, or another call, has what it needs."""


class CancelledError(WasiboxError):
    """The call was cancelled before it began."""


class ClosedError(WasiboxError, ValueError):
    """The session was closed."""


class FileError(WasiboxError, OSError):
    """A request about a file cannot be done; :attr:`code` says why in a word."""

    #: ``not_found``, ``ambiguous``, ``no_match``, ...; what the file system says has C's name: ``ENOSPC``.
    code: str

    def __init__(self, text: str, code: str) -> None:
        number = _ERRNO.get(code) or getattr(errno, code, None)
        if number is None:
            super().__init__(text)
        else:
            super().__init__(number, text)
        self.code = code
        self._text = text

    def __str__(self) -> str:
        return self._text


# The same for those who expect Python's own classes.


class _MissingFile(FileError, FileNotFoundError):
    pass


class _ExistingFile(FileError, FileExistsError):
    pass


class _Directory(FileError, IsADirectoryError):
    pass


class _Denied(FileError, PermissionError):
    pass


_OF_CODE: dict[str, type[FileError]] = {
    "not_found": _MissingFile,
    "ENOENT": _MissingFile,
    "exists": _ExistingFile,
    "EEXIST": _ExistingFile,
    "directory": _Directory,
    "not_a_file": _Directory,
    "EISDIR": _Directory,
    "EACCES": _Denied,
    "EPERM": _Denied,
}


class CommandError(WasiboxError):
    """A command has failed, and the caller had asked for success (``check=True``)."""

    #: What became of it.
    outcome: Outcome

    def __init__(self, outcome: Outcome) -> None:
        last = (outcome.stderr or outcome.stdout).strip().rsplit("\n", 1)[-1]
        why = f" ({outcome.limit_hit})" if outcome.limit_hit else ""
        super().__init__(f"exit code {outcome.exit_code}{why}" + (f": {last}" if last else ""))
        self.outcome = outcome


_ERRNO = {
    "not_found": errno.ENOENT,
    "exists": errno.EEXIST,
    "not_a_file": errno.EISDIR,
    "directory": errno.EISDIR,
    "too_large": errno.EFBIG,
}

_CLASSES: dict[str, type[WasiboxError]] = {
    "invalid": InvalidError,
    "missing": NotFoundError,
    "conflict": ConflictError,
    "busy": BusyError,
    "cancelled": CancelledError,
    "closed": ClosedError,
}


def of_native(error: _native.NativeError) -> WasiboxError:
    """The package's exception for one of the native module's."""
    kind, text, code = error.args
    if kind == "file":
        return _OF_CODE.get(code or "", FileError)(text, code or "")
    return _CLASSES.get(kind, WasiboxError)(text)


class raising:
    """Turns the native module's exception into the package's."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, _native.NativeError):
            raise of_native(error) from None
