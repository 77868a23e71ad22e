"""The cells that the kernel runs in a session, and the reports among their output."""

from __future__ import annotations

import base64
import json
import secrets
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Dict, Tuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A module in the interpreter: its name, its file here, and variables that it begins with.
GuestModule = Tuple[str, str, Dict[str, Any]]
#: The module that runs code.
_DRIVER: GuestModule = ("_wasibox_e2b", "driver.txt", {"IS_JUPYTER": True})
#: The module that looks at objects.
_GUEST: GuestModule = ("_wasibox_jupyter", "_guest.py", {})
#: The byte that begins a report of the driver.
_BEGIN = "\x1e"


@lru_cache(maxsize=None)
def _source(file: str) -> str:
    text = files(__package__).joinpath(file).read_bytes()
    return base64.b64encode(text).decode()


def _cell(module: GuestModule, function: str, arguments: Tuple[Any, ...]) -> str:
    """Returns a cell that calls a function of a module, which is made unless it is there.

    The cell is one expression, so that it leaves no names.
    """
    name, file, variables = module
    given = base64.b64encode(json.dumps(arguments).encode()).decode()
    return (
        "(lambda s, b, j: ("
        f"{name!r} in s.modules or (lambda m: (m.__dict__.update({variables!r}), "
        f"s.modules.__setitem__({name!r}, m), "
        f"exec(compile(b.b64decode('{_source(file)}'), '<{name}>', 'exec'), m.__dict__)))(type(s)({name!r})), "
        f"getattr(s.modules[{name!r}], {function!r})(*j.loads(b.b64decode('{given}'))))[-1])"
        "(__import__('sys'), __import__('base64'), __import__('json'))"
    )


def new_mark() -> str:
    """Returns the text that begins the reports of one execution. Programs cannot guess it."""
    return f"{_BEGIN}{secrets.token_hex(13)} "


def execution(code: str, mark: str) -> str:
    """Returns the cell that runs code of a notebook, with reports that begin with `mark`."""
    return _cell(_DRIVER, "run", (mark, code, {}, {}))


def question(function: str, *arguments: Any) -> str:
    """Returns the cell whose output is the answer of a function in ``_guest``, as JSON."""
    return _cell(_GUEST, "answer", (function, arguments))


class ReportSplitter:
    """Separates the reports of the driver from the text among which they are."""

    def __init__(self, mark: str) -> None:
        self._mark, self._rest = mark, ""

    def take(self, text: str) -> Iterator[str | dict[str, Any]]:
        """Takes more output, and yields the parts that are whole: texts, and reports as dicts."""
        self._rest += text
        while True:
            at = self._rest.find(self._mark)
            if at < 0:
                # The beginning of a mark waits for the rest of it.
                at = self._rest.rfind(_BEGIN, -len(self._mark))
                if at < 0 or not self._mark.startswith(self._rest[at:]):
                    at = len(self._rest)
                if at:
                    text, self._rest = self._rest[:at], self._rest[at:]
                    yield text
                return
            if at:
                text, self._rest = self._rest[:at], self._rest[at:]
                yield text
            report, end, rest = self._rest.partition("\n")
            if not end:
                return
            self._rest = rest
            yield json.loads(report[len(self._mark) :])

    def finish(self) -> str:
        """Returns the text that is left at the end of the output."""
        text, self._rest = self._rest, ""
        return text
