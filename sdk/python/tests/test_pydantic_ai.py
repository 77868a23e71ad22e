"""The toolset for Pydantic AI, tested with the framework's agents and a scripted model."""

from __future__ import annotations

import asyncio
import time

import pytest

pytest.importorskip("pydantic_ai")

import wasibox
from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from wasibox.adapters.pydantic_ai import WasiboxToolset

pytestmark = pytest.mark.asyncio


def agent(toolset, *steps, seen=None):
    """Returns an agent whose model makes these calls, one step after another, and then ends."""
    waiting = list(steps)

    def answer(messages, info):
        if seen is not None:
            seen.append(info)
        if not waiting:
            return ModelResponse(parts=[TextPart("done")])
        step = waiting.pop(0)
        calls = step if isinstance(step, list) else [step]
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in calls])

    return Agent(FunctionModel(answer), toolsets=[toolset])


async def returns(toolset, *steps):
    """Returns the results of a run's tools that the model has got."""
    result = await agent(toolset, *steps).run("go")
    assert result.output == "done"
    parts = [part for message in result.all_messages() for part in message.parts]
    return [part.content for part in parts if isinstance(part, ToolReturnPart)]


async def test_tools_share_one_machine():
    given = await returns(
        WasiboxToolset(),
        ("run_shell", {"command": "mkdir w; cd w; seq 3 > n; x=7"}),
        ("run_shell", {"command": "pwd; echo $x"}),
        ("run_python", {"code": "total = sum(map(int, open('/home/user/w/n')))\nprint('read')\ntotal"}),
        ("run_python", {"code": "total + 1"}),
        ("edit_file", {"path": "/home/user/w/n", "old": "2\n", "new": "two\n"}),
        ("write_file", {"path": "/home/user/deep/er", "content": "é\n"}),
        ("read_file", {"path": "/home/user/w/n", "offset": 2, "limit": 1}),
    )
    assert given[:4] == ["[no output]", "/home/user/w\n7", "read\n6", "7"]
    assert "two" in given[4]
    assert given[5] == "3 bytes written to /home/user/deep/er"
    assert "2\ttwo" in given[6] and "\tthree" not in given[6]


async def test_calls_of_one_step_come_in_their_order():
    steps = [("run_shell", {"command": f"echo {n} >> log"}) for n in range(8)]
    assert (await returns(WasiboxToolset(), steps, ("run_shell", {"command": "tr -d '\\n' < log"})))[-1] == "01234567"


async def test_each_run_has_a_session_of_its_own_which_ends_with_it():
    toolset = WasiboxToolset()
    held = []

    class Watched(WasiboxToolset):
        async def for_run(self, ctx):
            held.append(await super().for_run(ctx))
            return held[-1]

    look = ("run_shell", {"command": "ls; echo > left"})
    watched = Watched()
    both = await asyncio.gather(returns(watched, look), returns(watched, look))
    assert both == [["[no output]"], ["[no output]"]]
    assert len({id(one.session) for one in held}) == 2
    for one in held:
        with pytest.raises(wasibox.ClosedError):
            await one.session.exec("true")
    # A run that calls no tool opens no session.
    assert (await agent(toolset).run("go")).output == "done"


async def test_a_session_that_is_given_stays():
    async with wasibox.AsyncSession() as session:
        toolset = WasiboxToolset(session)
        await returns(toolset, ("run_python", {"code": "kept = [1]"}))
        assert await returns(toolset, ("run_python", {"code": "kept"})) == ["[1]"]
        assert (await session.python("kept")).value == [1]


async def test_a_failing_program_is_a_result_and_a_wrong_call_a_failure():
    given = await returns(
        WasiboxToolset(timeout=2, max_output=200),
        ("run_shell", {"command": "echo out; echo why >&2; exit 3"}),
        ("run_python", {"code": "1/0"}),
        ("run_shell", {"command": "sleep 60"}),
        ("run_shell", {"command": "yes | head -n 1000"}),
        ("read_file", {"path": "/nowhere"}),
    )
    assert given[0] == "out\n[stderr]\nwhy\n[exit code 3]"
    assert "ZeroDivisionError: division by zero" in given[1] and "[exit code 1]" in given[1]
    assert given[2] == "[limit: timeout]\n[exit code 124]"
    assert given[3].startswith("y\ny\n") and "[1799 characters are left out]" in given[3] and len(given[3]) < 250
    assert "/nowhere" in given[4]

    # There may be more failures than a run has retries.
    wrong = ("edit_file", {"path": "/tmp/none", "old": "a", "new": "b"})
    run = await agent(WasiboxToolset(), wrong, wrong, wrong).run("go")
    parts = [part for message in run.all_messages() for part in message.parts]
    failed = [part for part in parts if isinstance(part, ToolReturnPart) and part.outcome == "failed"]
    assert len(failed) == 3 and all("/tmp/none" in part.content for part in failed)


async def test_pictures_come_back():
    plot = "import matplotlib\nmatplotlib.use('agg')\nimport matplotlib.pyplot as plt\nplt.plot([1, 3])\nplt.savefig('/tmp/p.png')"
    drawn, read, folder = await returns(
        WasiboxToolset(),
        ("run_python", {"code": plot}),
        ("read_file", {"path": "/tmp/p.png"}),
        ("read_file", {"path": "/tmp"}),
    )
    for given in (drawn, read):
        (picture,) = [item for item in given if isinstance(item, BinaryContent)]
        assert picture.media_type == "image/png" and picture.data.startswith(b"\x89PNG")
    assert "p.png" in folder


async def test_cancelling_a_run_ends_its_guest():
    begun = time.monotonic()
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(
            agent(WasiboxToolset(), ("run_shell", {"command": "while :; do :; done"})).run("go"), 3
        )
    assert time.monotonic() - begun < 30


async def test_what_the_model_is_told_and_what_is_granted():
    def weather(city: str) -> int:
        """The weather."""
        return len(city)

    seen = []
    toolset = WasiboxToolset(include=["run_shell", "read_file"], tools=[weather], limits="strict")
    await agent(toolset, ("run_shell", {"command": "tool weather Bern"}), seen=seen).run("go")
    told = {tool.name: tool for tool in seen[0].function_tools}
    assert sorted(told) == ["read_file", "run_shell"]
    assert "bash" in told["run_shell"].description
    assert told["read_file"].parameters_json_schema["required"] == ["path"]
    assert told["read_file"].parameters_json_schema["properties"]["offset"]["description"]
    assert "no network" in (seen[0].instructions or "")
    assert await returns(toolset, ("run_shell", {"command": "tool weather Bern"})) == ["4"]


async def test_wrong_options_are_said_at_once():
    with pytest.raises(ValueError, match="fly: there are run_shell"):
        WasiboxToolset(include=["fly"])
    with pytest.raises(ValueError, match="exists already: limits"):
        WasiboxToolset(wasibox.AsyncSession(), limits="strict")
