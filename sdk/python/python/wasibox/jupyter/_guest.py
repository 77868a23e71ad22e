"""Answers to a notebook's questions about objects and code.

This is a module of the session's interpreter, which runs no code of properties to answer.
"""

from __future__ import annotations

import ast
import builtins
import codeop
import importlib
import inspect
import json
import keyword
import os
import pkgutil
import re
import sys
from typing import Any, Dict, List

#: The most names that are offered, and the most characters of an object's text.
_NAMES, _TEXT = 500, 2000
_MODULE = re.compile(r"^\s*(?:import|from)\s+(?:[\w.]+\s*,\s*)*([\w.]*)$")
_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+\(?\s*(?:\w+\s*,\s*)*(\w*)$")


def _names() -> Dict[str, Any]:
    return sys.modules["__main__"].__dict__


def answer(function: str, arguments: List[Any]) -> None:
    """Writes the answer of a function of this module to standard output, as JSON."""
    # The value of a cell would become `_`, and a program may have replaced `sys.stdout`.
    data = json.dumps(globals()[function](*arguments)).encode()
    while data:
        data = data[os.write(1, data) :]


def _object(path: str) -> Any:
    """Returns the object that a dotted name means. Raises an error if there is none.

    A property's value counts as none, because finding it runs its code.
    """
    first, *others = path.split(".")
    names = _names()
    found = names[first] if first in names else getattr(builtins, first)
    for name in others:
        if isinstance(inspect.getattr_static(type(found), name, None), property):
            raise AttributeError(name)
        found = getattr(found, name)
    return found


def _modules(path: str) -> List[str]:
    """Returns the names of the modules in a package, or of all modules for an empty path."""
    if not path:
        return [*sys.builtin_module_names, *(module.name for module in pkgutil.iter_modules())]
    package = importlib.import_module(path)
    return [module.name for module in pkgutil.iter_modules(getattr(package, "__path__", []))]


def _candidates(line: str, path: str) -> List[str]:
    """Returns the names that may stand at the end of a line, after the path and a dot."""
    found = _FROM.match(line)
    if found:
        module = importlib.import_module(found.group(1))
        return [*dir(module), *_modules(found.group(1))]
    if _MODULE.match(line):
        return _modules(path)
    if path:
        return dir(_object(path))
    return [*_names(), *dir(builtins), *keyword.kwlist, *keyword.softkwlist]


def complete(code: str, cursor: int) -> Dict[str, Any]:
    """Returns the names that may stand at the cursor, and which part of the code they replace."""
    line = code[:cursor].rpartition("\n")[2]
    found = re.search(r"((?:[^\W\d]\w*\.)*)([^\W\d]\w*)?$", line)
    path, begun = (found.group(1)[:-1], found.group(2) or "") if found else ("", "")
    try:
        candidates = _candidates(line, path)
    except Exception:
        candidates = []
    names = {name for name in candidates if isinstance(name, str) and name.startswith(begun)}
    # Private names are offered only after their underscore.
    shown = sorted(name for name in names if begun or not name.startswith("_"))
    return {"matches": shown[:_NAMES], "start": cursor - len(begun), "end": cursor}


def _path_at(code: str, cursor: int) -> str:
    """Returns the dotted name at the cursor, or that of the call whose arguments it is in."""
    for found in re.finditer(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", code):
        if found.start() <= cursor <= found.end():
            return found.group()
    depth = 0
    for at in range(min(cursor, len(code)) - 1, -1, -1):
        depth += (code[at] == ")") - (code[at] == "(")
        if depth < 0:
            found_call = re.search(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*$", code[:at])
            return found_call.group() if found_call else ""
    return ""


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}..."


def describe(code: str, cursor: int, with_source: bool) -> str:
    """Returns a text about the object at the cursor; it is empty if there is none."""
    path = _path_at(code, cursor)
    try:
        found = _object(path)
    except Exception:
        return ""
    parts = []
    if callable(found):
        try:
            parts.append(f"Signature: {path}{inspect.signature(found)}")
        except (TypeError, ValueError):
            pass
    if not (inspect.isroutine(found) or inspect.isclass(found) or inspect.ismodule(found)):
        try:
            parts.append(f"String form: {_cut(repr(found))}")
        except Exception:
            pass
    parts.append(f"Type: {type(found).__name__}")
    source = None
    if with_source:
        try:
            source = inspect.getsource(found)
        except (OSError, TypeError):
            pass
    if source is not None:
        parts.append(f"Source:\n{source}")
    else:
        parts.append(f"Docstring:\n{inspect.getdoc(found) or '<no docstring>'}")
    return "\n".join(parts)


def check(code: str) -> Dict[str, str]:
    """Returns whether code can be run as it is: `complete`, `incomplete` or `invalid`."""
    last = code.rstrip(" ").rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())]
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    # Lines of commands are no Python.
    plain = re.sub(r"(?m)^(\s*)[!%].*$", r"\1pass", code)
    try:
        compiled = compiler(plain, "<cell>", "exec")
    except (SyntaxError, ValueError, OverflowError):
        return {"status": "invalid"}
    if compiled is None:
        more = "    " if last.rstrip().endswith(":") else ""
        return {"status": "incomplete", "indent": indent + more}
    if indent and last.strip():
        # A block ends at a line without indent, or an empty one.
        return {"status": "incomplete", "indent": indent}
    return {"status": "complete"}
