"""A session as a backend of `deepagents <https://pypi.org/project/deepagents/>`_::

    from deepagents import create_deep_agent
    from wasibox.adapters.deepagents import WasiboxBackend

    agent = create_deep_agent(backend=WasiboxBackend())

Files are read and written by file requests of the session. deepagents lists, searches and edits
files by commands, which run in the sandbox.
"""

from __future__ import annotations

from typing import Any

from deepagents.backends.protocol import (
    ExecuteResponse,
    FileDownloadResponse,
    FileUploadResponse,
)
from deepagents.backends.sandbox import BaseSandbox

from .. import FileError, Session

#: The default time limit of a command, in seconds.
_TIMEOUT = 120
#: The maximum number of bytes of a command's output.
_OUTPUT = 1 << 20

#: The framework's names for errors of files.
_ERRORS = {
    "not_found": "file_not_found",
    "ENOENT": "file_not_found",
    "ENOTDIR": "invalid_path",
    "EISDIR": "is_directory",
    "not_a_file": "is_directory",
    "EACCES": "permission_denied",
    "EPERM": "permission_denied",
    "EROFS": "permission_denied",
}


class WasiboxBackend(BaseSandbox):
    """A backend over a session.

    Without a given session it opens one of its own, with the options of :class:`wasibox.Session`.
    """

    def __init__(self, session: Session | None = None, *, timeout: int = _TIMEOUT, **options: Any) -> None:
        self.session = Session(**options) if session is None else session
        self._timeout = timeout

    @property
    def id(self) -> str:
        """The session's name."""
        return self.session.name

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Runs a command in a new shell.

        As the framework expects, the next command does not have its directory and variables.
        """
        # Both streams are merged, in the order in which they are written.
        argv = ["bash", "-c", 'exec bash -c "$1" 2>&1', "bash", command]
        # 0 means no limit but that of the session's policy.
        seconds = self._timeout if timeout is None else timeout
        outcome = self.session.exec(
            argv, timeout=seconds or None, max_output=_OUTPUT, list_files=False
        )
        output = outcome.stdout
        if outcome.limit_hit == "timeout":
            output += f"\n[ended after {seconds} s]"
        return ExecuteResponse(
            output=output, exit_code=outcome.exit_code, truncated=outcome.truncated
        )

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Writes files. An error in one of them does not affect the others."""
        return [FileUploadResponse(path=path, error=self._write(path, data)) for path, data in files]

    def _write(self, path: str, data: bytes) -> Any:
        if not path.startswith("/"):
            return "invalid_path"
        try:
            self.session.write(path, data)
        except FileError as e:
            return _ERRORS.get(e.code, str(e))
        return None

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Reads files. An error in one of them does not affect the others."""
        return [self._read(path) for path in paths]

    def _read(self, path: str) -> FileDownloadResponse:
        error: Any = "invalid_path"
        if path.startswith("/"):
            try:
                return FileDownloadResponse(path=path, content=self.session.read(path))
            except FileError as e:
                error = _ERRORS.get(e.code, str(e))
        return FileDownloadResponse(path=path, error=error)

    def close(self) -> None:
        """Closes the session."""
        self.session.close()
