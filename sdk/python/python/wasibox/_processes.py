"""Processes that continue from call to call, and ports."""

from __future__ import annotations

import json
import threading

from . import _native, _protocol
from ._errors import raising
from ._protocol import Port, Process
from ._record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any, List, Tuple

    from ._types import Command


class ProcessOutput(Record):
    """Output of a process."""

    #: The state of the process.
    process: Process
    #: Standard output and standard error as they came, or what the terminal shows.
    output: str
    #: The position behind this output, for ``after``.
    next: int
    #: Bytes before this output that are no longer kept.
    dropped: int
    #: Whether what was waited for has come.
    found: bool


class ExposedPort:
    """A port of 127.0.0.1 that leads to a port of a session, until it is closed."""

    def __init__(self, native: _native.ExposedPort) -> None:
        self._native = native
        #: The port of the host.
        self.port = native.port()
        #: The address for HTTP.
        self.url = f"http://127.0.0.1:{self.port}/"

    def close(self) -> None:
        """Closes the port. Connections go on."""
        self._native.close()

    def __enter__(self) -> ExposedPort:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<wasibox.ExposedPort {self.url}>"


class SessionProcesses:
    """The methods of :class:`Session` for processes that continue from call to call, and ports."""

    _native: _native.Session

    def _apply(self, request: Any) -> Any:
        raise NotImplementedError

    def _apply_waiting(self, request: Any) -> Any:
        """Carries out a request that may wait. Ctrl-C ends the wait."""
        is_main = threading.get_ident() == threading.main_thread().ident
        with raising():
            text = self._native.apply_until(json.dumps(request), _native.Cancel(), is_main)
        return json.loads(text)

    def start_process(
        self,
        command: Command,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        timeout: float | None = None,
        terminal: bool = False,
        size: Tuple[int, int] | None = None,
    ) -> Process:
        """Starts a process that continues while other calls run.

        It keeps the session awake, and ends with :meth:`kill_process`, with the session's process, and
        when the session moves to another of its states.

        Args:
            command: a script for a bash of its own, or a list of arguments.
            env: environment variables.
            cwd: the directory in which it starts.
            timeout: the time limit in seconds; none by default.
            terminal: whether it has a terminal.
            size: the rows and columns of the terminal.
        """
        start: dict[str, Any] = {"env": dict(env or {}), "cwd": cwd, "timeout": timeout, "terminal": terminal}
        if isinstance(command, str):
            start["script"] = command
        else:
            start["argv"] = list(command)
        if size is not None:
            start["size"] = {"rows": size[0], "columns": size[1]}
        return _protocol.process_of(self._apply({"processes": {"start": start}}))

    def read_process(
        self,
        process: int,
        *,
        wait: float | None = None,
        until: str | None = None,
        port: int | None = None,
        after: int | None = None,
        max_output: int | None = None,
    ) -> ProcessOutput:
        """Returns output of a process.

        Args:
            process: its number, :attr:`Process.process`.
            wait: seconds to wait for ``until`` or ``port``, or without them for any output. The end of
                the process ends every wait.
            until: a regular expression to wait for in the output.
            port: a port to wait for, until a program of the session listens at it.
            after: the position from which output is returned; by default where the last read has
                ended.
            max_output: the maximum bytes of output.
        """
        read = {
            "process": process,
            "wait": wait,
            "until": until,
            "port": port,
            "after": after,
            "max_output": max_output,
        }
        answer = self._apply_waiting({"processes": {"read": read}})
        return ProcessOutput(
            process=_protocol.process_of(answer["report"]),
            output=answer["output"],
            next=answer["next"],
            dropped=answer["dropped"],
            found=answer["found"],
        )

    def write_process(
        self,
        process: int,
        text: str = "",
        *,
        end: bool = False,
        size: Tuple[int, int] | None = None,
    ) -> Process:
        """Writes to a process's standard input, or types at its terminal.

        Args:
            process: its number.
            text: the input.
            end: whether the input ends after that; a terminal hangs up.
            size: the new rows and columns of its terminal.
        """
        write: dict[str, Any] = {"process": process, "text": text, "end": end}
        if size is not None:
            write["size"] = {"rows": size[0], "columns": size[1]}
        return _protocol.process_of(self._apply({"processes": {"write": write}}))

    def kill_process(
        self, process: int, signal: int | None = None, *, wait: float | None = None
    ) -> Process:
        """Sends a signal to a process and those that it has begun, and waits for its end.

        Without a signal it is SIGTERM, and SIGKILL if the process still runs after ``wait`` (5 seconds).
        """
        kill = {"process": process, "signal": signal, "wait": wait}
        return _protocol.process_of(self._apply_waiting({"processes": {"kill": kill}}))

    def processes(self) -> List[Process]:
        """Returns the processes of :meth:`start_process`: those that run, and those that ended last."""
        return [_protocol.process_of(one) for one in self._apply({"processes": "list"})]

    def ports(self) -> List[Port]:
        """Returns the ports at which programs of the session listen."""
        return [_protocol.port_of(one) for one in self._apply("ports")]

    def expose(self, port: int, host_port: int = 0) -> ExposedPort:
        """Listens at a port of the host's 127.0.0.1 that leads to a port of the session.

        Everybody on the host can use it until it is closed. Host port 0 stands for any free port.
        """
        with raising():
            return ExposedPort(self._native.expose(port, host_port))
