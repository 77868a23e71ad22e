"""The exceptions that calls raise."""

from __future__ import annotations

import errno

from . import _native

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

    from ._outcome import Outcome


class WasiboxError(Exception):
    """The base of all exceptions of this package: something could not be done."""


class InvalidError(WasiboxError, ValueError):
    """The request is invalid."""


class NotFoundError(WasiboxError, LookupError):
    """The request names a session, a commit or a command that does not exist."""


class ConflictError(WasiboxError):
    """The request conflicts with the current state, such as a name that is taken."""


class BusyError(WasiboxError):
    """Another process or another call uses what the request needs."""


class CancelledError(WasiboxError):
    """The call was cancelled before it began."""


class ClosedError(WasiboxError, ValueError):
    """The session was closed."""


class FileError(WasiboxError, OSError):
    """A file request could not be carried out; :attr:`code` is the reason in one word."""

    #: The reason, such as ``not_found``, ``ambiguous`` or ``no_match``. An error of the file system
    #: has its name in C, such as ``ENOSPC``.
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


# Subclasses that are also Python's own classes, for programs that catch those.


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
    """A command has failed, and the caller required success (``check=True``)."""

    #: The outcome of the command.
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
    """Returns the package's exception for one of the native module."""
    kind, text, code = error.args
    if kind == "file":
        return _OF_CODE.get(code or "", FileError)(text, code or "")
    return _CLASSES.get(kind, WasiboxError)(text)


class raising:
    """A context manager that turns exceptions of the native module into the package's."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, _native.NativeError):
            raise of_native(error) from None
