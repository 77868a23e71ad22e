"""The kernel: requests of Jupyter, carried out by a session."""

from __future__ import annotations

import fnmatch
import json
from typing import TYPE_CHECKING

from ipykernel.kernelbase import Kernel

from .. import Session, WasiboxError, __version__, _options
from .._stream import Stream
from ._code import ReportSplitter, execution, new_mark, question

if TYPE_CHECKING:
    from typing import Any, Dict, List, Tuple

    from .._outcome import Outcome

#: The media types of the fields in the driver's results.
_MEDIA = {
    "text": "text/plain",
    "html": "text/html",
    "markdown": "text/markdown",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "pdf": "application/pdf",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}
#: The time limit of a question about objects, in seconds.
_QUESTION = 10


class WasiboxKernel(Kernel):
    """A kernel whose cells run in the Python interpreter of a session of its own."""

    implementation = "wasibox"
    implementation_version = __version__
    banner = f"Python in a sandbox (Wasibox {__version__})"
    language_info = {
        "name": "python",
        "version": "3.13",
        "mimetype": "text/x-python",
        "file_extension": ".py",
        "pygments_lexer": "ipython3",
        "codemirror_mode": {"name": "python", "version": 3},
        "nbconvert_exporter": "python",
    }
    #: The policy file of the session.
    policy: str | None = None

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)  # type: ignore[no-untyped-call]
        # A cell can be interrupted, so only a policy file bounds its time.
        limits: Any = {"timeout": 0} if self.policy is None else None
        self.wasibox = Session(policy=self.policy, limits=limits)
        self._cells: List[Tuple[int, int, str]] = []

    # Cells.

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: Dict[str, Any] | None = None,
        allow_stdin: bool = False,
        *,
        cell_meta: Any = None,
        cell_id: Any = None,
    ) -> Dict[str, Any]:
        """Runs a cell, and sends its output, results and error."""
        if store_history and not silent:
            self._cells.append((1, self.execution_count, code))
        text = code.strip()
        if text.endswith("?") and "\n" not in text:
            return self._page(text)
        try:
            error = self._run(code, silent)
        except KeyboardInterrupt:
            error = _error("KeyboardInterrupt", "", "KeyboardInterrupt: the cell was ended; its state is the one before it")
        except WasiboxError as failed:
            error = _error(type(failed).__name__, str(failed), f"{type(failed).__name__}: {failed}")
        if error is not None:
            if not silent:
                self._send("error", error)
            return {"status": "error", "execution_count": self.execution_count, **error}
        return self._ok()

    def _ok(self, payload: Tuple[Any, ...] = ()) -> Dict[str, Any]:
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": list(payload),
            "user_expressions": {},
        }

    def _send(self, kind: str, content: Dict[str, Any]) -> None:
        self.send_response(self.iopub_socket, kind, content)  # type: ignore[no-untyped-call]

    def _run(self, code: str, silent: bool) -> Dict[str, Any] | None:
        """Runs a cell. Returns the content of its error, if there was one."""
        mark = new_mark()
        reports, error = ReportSplitter(mark), None
        options = _options.call("python", execution(code, mark), timeout=None, max_output=None)
        with Stream(self.wasibox, options, None) as output:
            for chunk in output:
                parts = reports.take(chunk.text) if chunk.stream == "stdout" else [chunk.text]
                for part in parts:
                    if isinstance(part, str):
                        self._send_text(chunk.stream, part, silent)
                    elif part["type"] == "error":
                        error = _error(part["name"], part["value"], part["traceback"])
                    elif not silent:
                        self._send_report(part)
            self._send_text("stdout", reports.finish(), silent)
            outcome = output.outcome
        return error if error is not None or outcome.ok else _ended(outcome)

    def _send_text(self, stream: str, text: str, silent: bool) -> None:
        if text and not silent:
            self._send("stream", {"name": stream, "text": text})

    def _send_report(self, report: Dict[str, Any]) -> None:
        if report["type"] == "clear_output":
            return self._send("clear_output", {"wait": report["wait"]})
        data = {media: report[field] for field, media in _MEDIA.items() if field in report}
        data.update(report.get("extra", {}))
        content: Dict[str, Any] = {"data": data, "metadata": {}}
        if report["is_main_result"]:
            self._send("execute_result", {**content, "execution_count": self.execution_count})
        else:
            self._send("display_data", content)

    def _page(self, text: str) -> Dict[str, Any]:
        """Answers `name?` and `name??` with a page about the object."""
        name = text.rstrip("?")
        found = self._ask("describe", name, len(name), text.endswith("??"))
        shown = found or f"Object `{name}` not found."
        return self._ok(({"source": "page", "data": {"text/plain": shown}, "start": 0},))

    # Questions.

    def _ask(self, function: str, *arguments: Any) -> Any:
        """Returns the answer of a function in the session's interpreter, or None if it has failed."""
        try:
            answer = self.wasibox.python(question(function, *arguments), timeout=_QUESTION)
            return json.loads(answer.stdout)
        except (WasiboxError, ValueError, KeyboardInterrupt):
            return None

    async def do_complete(self, code: str, cursor_pos: int) -> Dict[str, Any]:
        """Returns the names that may stand at the cursor."""
        found = self._ask("complete", code, cursor_pos) or {"matches": [], "start": cursor_pos, "end": cursor_pos}
        return {
            "status": "ok",
            "matches": found["matches"],
            "cursor_start": found["start"],
            "cursor_end": found["end"],
            "metadata": {},
        }

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Tuple[str, ...] = ()
    ) -> Dict[str, Any]:
        """Returns a description of the object at the cursor."""
        text = self._ask("describe", code, cursor_pos, detail_level > 0)
        data = {"text/plain": text} if text else {}
        return {"status": "ok", "found": bool(text), "data": data, "metadata": {}}

    async def do_is_complete(self, code: str) -> Dict[str, Any]:
        """Returns whether code can be run, or needs another line."""
        return self._ask("check", code) or {"status": "unknown"}

    async def do_history(
        self,
        hist_access_type: str,
        output: bool,
        raw: bool,
        session: int | None = None,
        start: int | None = None,
        stop: int | None = None,
        n: int | None = None,
        pattern: str | None = None,
        unique: bool = False,
    ) -> Dict[str, Any]:
        """Returns cells that this kernel has run."""
        cells = self._cells
        if hist_access_type == "range":
            cells = [cell for cell in cells if (start or 0) <= cell[1] < (stop or cell[1] + 1)]
        if hist_access_type == "search":
            cells = [cell for cell in cells if fnmatch.fnmatchcase(cell[2], pattern or "*")]
            if unique:
                cells = list({cell[2]: cell for cell in cells}.values())
        if n and hist_access_type != "range":
            cells = cells[-n:]
        history = [(one, line, (code, None) if output else code) for one, line, code in cells]
        return {"status": "ok", "history": history}

    async def do_shutdown(self, restart: bool) -> Dict[str, Any]:
        """Closes the session."""
        self.wasibox.close()
        return {"status": "ok", "restart": restart}


def _error(name: str, value: str, trace: str) -> Dict[str, Any]:
    return {"ename": name, "evalue": value, "traceback": trace.rstrip("\n").split("\n")}


def _ended(outcome: Outcome) -> Dict[str, Any]:
    """Returns the error of a cell whose interpreter has ended, or was ended."""
    why = f"limit: {outcome.limit_hit}" if outcome.limit_hit else f"exit code {outcome.exit_code}"
    state = "; the state is the one before this cell" if outcome.put_back else ""
    return _error("InterpreterEnded", why, f"InterpreterEnded: {why}{state}")
