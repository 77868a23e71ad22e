"""Host tools: functions of this program that guests may call."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import inspect
import json
import re
import threading
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Union, overload

from . import _native

# asyncio is imported only if there are tools, because that takes as long as all other imports.
if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")


class ToolError(Exception):
    """An exception that a tool raises to fail. Its caller in the sandbox gets exactly this text."""


class Tool:
    """A function that guests may call, with a name, a description and a JSON Schema of its arguments.

    Calling a tool calls the function. The options are those of :func:`tool`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        schema: Mapping[str, Any] | None = None,
        output: Mapping[str, Any] | None = None,
        timeout: float | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        text, descriptions = _documented(inspect.getdoc(function) or "")
        self.description = text if description is None else description
        self.schema: dict[str, Any]
        if schema is None:
            self.schema, self._types = _derived(function, descriptions)
        else:
            self.schema, self._types = dict(schema), {}
        self.output = output
        self.timeout = timeout

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        # A decorated method is bound to its object, as usual. `tools=[tool(object.method)]` makes
        # it a tool.
        return self if instance is None else types.MethodType(self.function, instance)

    def __repr__(self) -> str:
        return f"<wasibox.Tool {self.name!r}>"

    def _told(self) -> str:
        definition = {
            "name": self.name,
            "description": self.description,
            "schema": self.schema,
            "output": self.output,
            "timeout": self.timeout,
        }
        return json.dumps({key: value for key, value in definition.items() if value is not None})


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = ...,
    description: str | None = ...,
    schema: Mapping[str, Any] | None = ...,
    output: Mapping[str, Any] | None = ...,
    timeout: float | None = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Makes a function a tool, which guests may call::

        @wasibox.tool
        def weather(city: str, days: int = 1) -> dict:
            '''The weather of a city.

            Args:
                city: its name
            '''

        with wasibox.Session(tools=[weather]) as s:
            s.python("import tools; tools.weather('Bern')")

    The name, the description and the schema of the arguments are taken from the function's name,
    docstring and annotations.

    Args:
        function: the function, which may be a coroutine function.
        name: a name that replaces the function's.
        description: a description that replaces the docstring.
        schema: a JSON Schema of the arguments that replaces the one from the annotations. The
            function then gets the arguments as plain JSON data.
        output: a JSON Schema of the results.
        timeout: the time limit of a call in seconds, which replaces the policy's.
    """
    if function is not None:
        return Tool(function)
    return lambda function: Tool(function, **options)


AnyTool = Union[Tool, Callable[..., Any]]


class _Begun(threading.local):
    """The loop of the session that is being opened on this thread."""

    loop: asyncio.AbstractEventLoop | None = None


_begun = _Begun()


def in_loop(loop: asyncio.AbstractEventLoop, act: Callable[[], T]) -> T:
    """Calls `act` on this thread. Tools that it gives to a session run coroutines in `loop`."""
    _begun.loop = loop
    try:
        return act()
    finally:
        _begun.loop = None


def native(
    tools: Iterable[AnyTool],
) -> list[_native.HostTool]:
    """Returns tools for the native module.

    Their coroutines run in the loop that opens the session, otherwise in a loop of the package.
    """
    made = [one if isinstance(one, Tool) else Tool(one) for one in tools]
    if not made:
        return []
    import asyncio

    loop = _begun.loop
    if loop is None:
        with contextlib.suppress(RuntimeError):
            loop = asyncio.get_running_loop()
    return [(one._told(), functools.partial(_act, one, loop)) for one in made]


def _act(
    tool: Tool, loop: asyncio.AbstractEventLoop | None, call: _native.ToolCall, arguments: str
) -> tuple[bool, str]:
    """Carries out a call. Returns whether it succeeded, and the result or the reason."""
    import asyncio

    try:
        given = json.loads(arguments)
        for name, annotation in tool._types.items():
            if name in given:
                given[name] = _converted(annotation, given[name])
        result = tool.function(**given)
        if inspect.isawaitable(result):
            result = _awaited(result, loop, call)
        return True, json.dumps(result, allow_nan=False, default=_plain)
    except ToolError as error:
        return False, str(error) or "the tool has failed"
    except (Exception, asyncio.CancelledError) as error:
        text = str(error)
        return False, f"{type(error).__name__}: {text}" if text else type(error).__name__


async def _coroutine(awaitable: Any) -> Any:
    return await awaitable


def _awaited(awaitable: Any, loop: asyncio.AbstractEventLoop | None, call: _native.ToolCall) -> Any:
    import asyncio
    import concurrent.futures

    if loop is None or not loop.is_running():
        loop = _own_loop()
    future = asyncio.run_coroutine_threadsafe(_coroutine(awaitable), loop)
    while True:
        try:
            return future.result(timeout=0.05)
        except concurrent.futures.TimeoutError:
            if future.done():
                # The coroutine itself has raised a TimeoutError.
                return future.result()
            if call.is_cancelled():
                future.cancel()
                raise ToolError("nobody waits for it") from None


_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _own_loop() -> asyncio.AbstractEventLoop:
    """Returns a loop on a thread of its own, for coroutines of programs without a loop."""
    global _loop
    import asyncio

    with _lock:
        if _loop is None or not _loop.is_running():
            loop, ready = asyncio.new_event_loop(), threading.Event()
            loop.call_soon(ready.set)
            threading.Thread(target=loop.run_forever, name="wasibox tools", daemon=True).start()
            ready.wait()
            _loop = loop
        return _loop


# Docstrings.

_SECTION = re.compile(r"(?:Args|Arguments|Parameters|Params):\s*$")
_OTHER = re.compile(r"(?:Returns?|Raises|Yields?|Examples?|Notes?|Attributes):\s*$")
_ENTRY = re.compile(r"(\s+)\**(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")
_FIELD = re.compile(r":param\s+(?:[^:]*\s)?(\w+):\s*(.*)$")


def _documented(doc: str) -> tuple[str, dict[str, str]]:
    """Splits a docstring in Google's or Sphinx's style.

    Returns the text before the arguments, and the description of each argument.
    """
    before: list[str] = []
    descriptions: dict[str, str] = {}
    section = ""
    name, depth = "", 0
    for line in doc.splitlines():
        if _SECTION.match(line):
            section = "arguments"
        elif _OTHER.match(line):
            section = "other"
        elif field := _FIELD.match(line):
            section, name = "fields", field[1]
            descriptions[name] = field[2]
        elif line.startswith(":"):
            section = "other"
        elif section == "arguments" and (entry := _ENTRY.match(line)):
            if not descriptions or len(entry[1]) <= depth:
                depth, name = len(entry[1]), entry[2]
                descriptions[name] = entry[3]
            else:
                descriptions[name] += f" {line.strip()}"
        elif section in ("arguments", "fields") and line.startswith(" ") and name:
            descriptions[name] += f" {line.strip()}"
        elif section in ("", "arguments") and not (section and not line.strip()):
            section = ""
            before.append(line)
    return "\n".join(before).strip(), {key: text.strip() for key, text in descriptions.items()}


# Schemas.


def _derived(
    function: Callable[..., Any], descriptions: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Returns the schema of a function's arguments, and the annotation of each argument."""
    hints = typing.get_type_hints(_plain_function(function), include_extras=True)
    definitions: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    annotations: dict[str, Any] = {}
    more: Any = False
    for parameter in inspect.signature(function).parameters.values():
        name, annotation = parameter.name, hints.get(parameter.name, Any)
        if parameter.kind is parameter.VAR_KEYWORD:
            more = _schema(annotation, name, definitions) or True
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.POSITIONAL_ONLY):
            text = "cannot be given by name: tools have arguments by names"
            raise TypeError(f"{getattr(function, '__name__', function)}: the parameter {name!r} {text}")
        schema = _schema(annotation, name, definitions)
        if name in descriptions and descriptions[name]:
            schema = {**schema, "description": descriptions[name]}
        if parameter.default is parameter.empty:
            required.append(name)
        else:
            try:
                default = json.loads(json.dumps(parameter.default, allow_nan=False, default=_plain))
            except (TypeError, ValueError):
                # The schema does not have a default that JSON cannot represent.
                pass
            else:
                schema = {**schema, "default": default}
        properties[name], annotations[name] = schema, annotation
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    made["additionalProperties"] = more
    if definitions:
        made["$defs"] = definitions
    return made, annotations


def _plain_function(function: Callable[..., Any]) -> Any:
    if inspect.isroutine(function) or inspect.isclass(function):
        return function
    return type(function).__call__


_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
    None: "null",
    dict: "object",
    list: "array",
    tuple: "array",
}


def _schema(annotation: Any, name: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """Returns the JSON Schema of an annotation. Schemas of classes are added to `definitions`."""
    again = functools.partial(_schema, name=name, definitions=definitions)
    if annotation is Any or annotation is object:
        return {}
    if annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        texts = [extra for extra in arguments[1:] if isinstance(extra, str)]
        made = again(arguments[0])
        return {**made, "description": texts[0]} if texts else made
    if getattr(origin, "_name", "") in ("Required", "NotRequired", "ReadOnly"):
        return again(arguments[0])
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [again(one) for one in arguments]}
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        items = [again(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "items": False}
    if inspect.isclass(origin) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": again(arguments[1]) or True}
    if inspect.isclass(origin) and issubclass(origin, Iterable):
        made = {"type": "array", "items": again(arguments[0])}
        return {**made, "uniqueItems": True} if issubclass(origin, (set, frozenset)) else made
    if inspect.isclass(annotation):
        made_of = _of_class(annotation, name, definitions)
        if made_of is not None:
            return made_of
    raise TypeError(f"the annotation of {name!r} has no JSON Schema: {annotation!r}; give `schema=`")


def _of_class(kind: Any, name: str, definitions: dict[str, Any]) -> dict[str, Any] | None:
    if issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if hasattr(kind, "model_json_schema"):
        # A model of pydantic.
        schema: dict[str, Any] = kind.model_json_schema()
        definitions.update(schema.pop("$defs", {}))
        return schema
    is_data, is_typed = dataclasses.is_dataclass(kind), typing.is_typeddict(kind)
    if not is_data and not is_typed:
        return None
    reference = {"$ref": f"#/$defs/{kind.__name__}"}
    if kind.__name__ in definitions:
        return reference
    made: dict[str, Any] = {"type": "object", "additionalProperties": False}
    definitions[kind.__name__] = made
    hints = typing.get_type_hints(kind, include_extras=True)
    made["properties"] = {key: _schema(hint, f"{name}.{key}", definitions) for key, hint in hints.items()}
    if is_typed:
        made["required"] = sorted(kind.__required_keys__)
    else:
        empty = dataclasses.MISSING
        made["required"] = [
            f.name
            for f in dataclasses.fields(kind)
            if f.default is empty and f.default_factory is empty
        ]
    return reference


def _converted(annotation: Any, value: Any) -> Any:
    """Converts a JSON value that is valid for the schema to the type of the annotation."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _converted(arguments[0], value)
    if origin in (Union, types.UnionType):
        for one in arguments:
            try:
                _schema(one, "", {})
                made = _converted(one, value)
            except (TypeError, ValueError, KeyError):
                continue
            if made is not value:
                return made
        return value
    if isinstance(value, list) and inspect.isclass(origin) and arguments:
        if origin is tuple and arguments[-1] is not Ellipsis:
            return tuple(_converted(one, item) for one, item in zip(arguments, value))
        items = [_converted(arguments[0], item) for item in value]
        return origin(items) if origin in (set, frozenset, tuple) else items
    if isinstance(value, dict) and inspect.isclass(origin) and issubclass(origin, Mapping):
        return {key: _converted(arguments[1], item) for key, item in value.items()}
    if not inspect.isclass(annotation):
        return value
    if issubclass(annotation, enum.Enum):
        return annotation(value)
    if hasattr(annotation, "model_validate"):
        return annotation.model_validate(value)
    if dataclasses.is_dataclass(annotation) and isinstance(value, dict):
        hints = typing.get_type_hints(annotation, include_extras=True)
        return annotation(**{key: _converted(hints[key], item) for key, item in value.items()})
    if annotation is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _plain(value: Any) -> Any:
    """Converts a value that JSON cannot represent to one that it can."""
    if isinstance(value, enum.Enum):
        return value.value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
