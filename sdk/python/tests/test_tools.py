"""Host tools: functions of this program that guests call."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import enum
import io
import json
import re
import textwrap
import threading
import time
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import pytest

import wasibox

GUIDE = (Path(__file__).resolve().parents[3] / "docs/host-tools.md").read_text()


class Unit(enum.Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


@dataclasses.dataclass
class Place:
    name: str
    height: float = 0.0


@wasibox.tool
def weather(city: str, days: int = 1, unit: Unit = Unit.CELSIUS) -> dict:
    """The weather of a city.

    Args:
        city: its name
        unit: of degrees
    """
    if city == "Atlantis":
        raise wasibox.ToolError("no station there")
    return {"city": city, "days": days, "unit": unit}


def highest(places: list[Place]) -> Optional[Place]:
    return max(places, key=lambda p: p.height, default=None)


def test_functions_become_tools():
    def plain(a, b=2):
        "Adds."
        return a + b

    with wasibox.Session(tools=[weather, highest, plain]) as s:
        assert s.exec("tool --list").stdout.splitlines() == [
            "highest",
            "plain    Adds.",
            "weather  The weather of a city.",
        ]
        called = s.exec("tool weather Bern --unit kelvin")
        assert json.loads(called.stdout) == {"city": "Bern", "days": 1, "unit": "kelvin"}
        code = "import tools\ntools.highest([{'name': 'a', 'height': 2}, {'name': 'b', 'height': 3}])['name'], tools.plain(40), tools.highest([])"
        assert s.python(code).value_repr == "('b', 42, None)"
        # A tool can still be called as a function.
        assert weather("Thun")["unit"] is Unit.CELSIUS and plain(1) == 3
        fork = s.fork()
        assert fork.python("import tools; tools.plain(1)").value_repr == "3"
        s.set_tools([])
        assert s.exec("tool plain 1").exit_code == 127


def test_failures_reach_the_guest():
    def bad(kind: Literal["value", "none", "json", "big"]) -> Any:
        if kind == "value":
            raise ValueError("what is that")
        if kind == "none":
            raise KeyError
        if kind == "json":
            return object()
        return 1 << 70

    with wasibox.Session(tools=[bad, weather]) as s:
        for kind, said in [
            ("value", "tool: bad: ValueError: what is that\n"),
            ("none", "tool: bad: KeyError\n"),
            ("json", "tool: bad: TypeError: Object of type object is not JSON serializable\n"),
        ]:
            outcome = s.exec(["tool", "bad", kind])
            assert (outcome.exit_code, outcome.stderr) == (1, said)
        wrong = s.exec("tool bad other")
        assert (wrong.exit_code, wrong.stderr) == (
            2,
            "tool: bad: kind: value must be one of 'value', 'none', 'json', 'big'\n",
        )
        code = "import tools\ntry: tools.weather('Atlantis')\nexcept tools.ToolError as e: print(e)"
        assert s.python(code).stdout == "no station there\n"
        code = "try: tools.weather(3)\nexcept tools.ToolArgumentsError as e: print(e)"
        assert s.python(code).stdout == "city: want string, but got number\n"


def test_coroutines_run_in_the_loop_that_the_session_is_of():
    async def main():
        loop, here = asyncio.get_running_loop(), threading.get_ident()
        cancelled = asyncio.Event()

        async def where() -> bool:
            await asyncio.sleep(0.01)
            return asyncio.get_running_loop() is loop and threading.get_ident() == here

        async def nap(seconds: float) -> float:
            await asyncio.sleep(seconds)
            return seconds

        async def forever() -> None:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                cancelled.set()
                raise

        async with wasibox.AsyncSession(tools=[where, nap, forever]) as s:
            assert (await s.exec("tool where")).stdout == "true\n"
            begun = time.monotonic()
            code = """
                import asyncio
                from tools.aio import nap
                async def all():
                    return sum(await asyncio.gather(*[nap(0.5) for _ in range(8)]))
                asyncio.run(all())
            """
            assert (await s.python(textwrap.dedent(code))).value_repr == "4.0"
            assert time.monotonic() - begun < 3
            assert (await s.exec("timeout 0.3 tool forever")).exit_code == 124
            await asyncio.wait_for(cancelled.wait(), 10)
            cancelled.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(s.exec("tool forever"), 0.5)
            await asyncio.wait_for(cancelled.wait(), 10)

    asyncio.run(main())


def test_coroutines_of_programs_without_a_loop():
    async def double(n: int) -> int:
        await asyncio.sleep(0.01)
        return 2 * n

    with wasibox.Session(tools=[double]) as s:
        told = s.exec("for i in 1 2 3; do tool double $i & done; wait").stdout.split()
        assert sorted(told) == ["2", "4", "6"]
        assert s.python("import tools; [tools.double(n) for n in range(3)]").value_repr == "[0, 2, 4]"


def test_a_tool_may_use_the_package_and_call_back():
    with wasibox.Session() as inner:

        def count(text: str) -> int:
            return int(inner.exec("wc -w", stdin=text).stdout)

        with wasibox.Session(tools=[count]) as s:
            assert s.exec("tool count 'a b c'").stdout == "3\n"


def test_policies_limit_tools():
    calls = []
    policy = {"host-tools": {"deny": ["secret*"], "calls": 2, "timeout": 0.3}}
    tools = [
        wasibox.tool(name="secret.read")(lambda: calls.append(1)),
        wasibox.tool(name="nap")(lambda: time.sleep(1)),
        wasibox.tool(name="quick", timeout=5)(lambda: time.sleep(0.5)),
    ]
    with wasibox.Session(tools=tools, policy=policy) as s:
        assert s.exec("tool secret.read").exit_code == 126 and not calls
        late = s.exec("tool nap")
        assert (late.exit_code, late.stderr) == (1, "tool: nap: the tool took longer than 0.3 s\n")
        assert s.exec("tool quick").stdout == "null\n"
        many = s.exec("tool quick; tool quick; tool quick")
        assert many.stdout == "null\nnull\n" and "more than 2 calls" in many.stderr
        events = [e for e in s.log() if e["event"] == "tool"]
        assert [e.get("failure") for e in events][:3] == ["denied", "limit", None]


def test_schemas_are_made_of_annotations():
    def all(
        a: Union[int, str],
        b: Annotated[Optional[float], "a number"] = None,
        c: tuple[int, str] = (1, "x"),
        d: set[str] = frozenset(),
        e: dict[str, list[int]] = {},
        *,
        f: Literal["x", 1] = "x",
        **more: bool,
    ) -> None: ...

    assert wasibox.Tool(all).schema == {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "b": {"anyOf": [{"type": "number"}, {"type": "null"}], "description": "a number", "default": None},
            "c": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
                "items": False,
                "default": [1, "x"],
            },
            "d": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "default": []},
            "e": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "integer"}},
                "default": {},
            },
            "f": {"enum": ["x", 1], "default": "x"},
        },
        "required": ["a"],
        "additionalProperties": {"type": "boolean"},
    }
    for function, why in [
        (lambda a, /: a, "by name"),
        (lambda *a: a, "by name"),
    ]:
        with pytest.raises(TypeError, match=why):
            wasibox.Tool(function)

    def bytes_in(data: bytes) -> None: ...

    with pytest.raises(TypeError, match="'data' has no JSON Schema"):
        wasibox.Tool(bytes_in)
    with pytest.raises(wasibox.InvalidError, match="cannot be a tool's name"):
        wasibox.Session(tools=[wasibox.tool(name="a b")(lambda: 1)])


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", GUIDE, re.M | re.S)


def test_the_guide_says_what_happens():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks("python")[0], "guide", "exec", dont_inherit=True), {"__name__": "guide"})
    assert out.getvalue() == blocks("text")[0]


def test_the_guides_guests_run():
    @wasibox.tool(name="get-user.name")
    def name(id: int) -> str:
        return f"user {id}"

    with wasibox.Session(tools=[weather, name]) as s:
        body = textwrap.indent(blocks("py")[0].replace("help(weather)", "weather.__doc__"), "    ")
        code = f"import asyncio, tools\ncities = ['Bern', 'Thun']\nasync def guide():\n{body}\nasyncio.run(guide())\n"
        done = s.exec("python3 -", stdin=code)
        assert (done.exit_code, done.stderr) == (0, "")
        body = blocks("js")[0]
        done = s.exec("cat > a.js; node a.js", stdin=f"(async () => {{\n{body}\nconsole.log('end');\n}})();")
        assert (done.stdout, done.stderr) == ("end\n", "")
