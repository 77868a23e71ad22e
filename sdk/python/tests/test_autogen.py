"""The code executor for AutoGen, tested with its agents and a scripted model."""

from __future__ import annotations

import asyncio
import time

import pytest

pytest.importorskip("autogen_core")
pytest.importorskip("autogen_agentchat")

import wasibox
from autogen_agentchat.agents import ApprovalResponse, CodeExecutorAgent
from autogen_agentchat.messages import TextMessage
from autogen_core import CancellationToken
from autogen_core.code_executor import CodeBlock, CodeExecutor
from wasibox.adapters.autogen import WasiboxCodeExecutor

pytestmark = pytest.mark.asyncio


async def run(executor, *blocks, token=None):
    blocks = [CodeBlock(code=code, language=language) for language, code in blocks]
    return await executor.execute_code_blocks(blocks, token or CancellationToken())


def approve(request):
    return ApprovalResponse(approved=True, reason="")


async def test_blocks_share_one_machine():
    async with WasiboxCodeExecutor() as executor:
        first = await run(executor, ("python", "x = 20"), ("bash", "mkdir w; cd w; seq 3 > n"))
        assert (first.exit_code, first.output.strip()) == (0, "")
        second = await run(executor, ("Python", "x += 1\nprint('read')\nx"), ("sh", "cat n; pwd"), ("js", "1 + 1"))
        assert (second.exit_code, second.output) == (0, "read\n21\n1\n2\n3\n/home/user/w\n2")


async def test_an_agent_runs_what_a_message_has():
    async with WasiboxCodeExecutor(limits={"memory": "1G"}) as executor:
        # Without a list of languages, AutoGen's agent hands on blocks of Python only.
        agent = CodeExecutorAgent(
            "coder", code_executor=executor, supported_languages=["python", "bash"], approval_func=approve
        )
        task = TextMessage(content="```python\nprint(6 * 7)\n```\nand\n```bash\necho $((1 + 1))\n```", source="user")
        response = await agent.on_messages([task], CancellationToken())
        assert response.chat_message.content == "42\n2"
        await agent.on_reset(CancellationToken())
        assert (await run(executor, ("sh", "ls | wc -l"))).output == "0"


async def test_a_block_that_fails_is_the_last():
    async with WasiboxCodeExecutor(timeout=1) as executor:
        failed = await run(executor, ("python", "int('x')"), ("bash", "echo not reached"))
        assert failed.exit_code == 1 and "ValueError: invalid literal" in failed.output
        assert "not reached" not in failed.output
        late = await run(executor, ("bash", "while :; do :; done"))
        assert late.exit_code != 0 and "[limit: timeout]" in late.output
        with pytest.raises(ValueError, match="fortran"):
            await run(executor, ("bash", "touch f"), ("fortran", "end"))
        assert (await run(executor, ("bash", "ls"))).output == ""
    with pytest.raises(RuntimeError, match="not started"):
        await run(executor, ("bash", "true"))


async def test_a_token_ends_the_block_that_runs():
    async with WasiboxCodeExecutor() as executor:
        token, begun = CancellationToken(), time.monotonic()
        asyncio.get_running_loop().call_later(0.5, token.cancel)
        with pytest.raises(asyncio.CancelledError):
            await run(executor, ("python", "while True: pass"), token=token)
        assert (await run(executor, ("bash", "echo free"))).output == "free"
        assert time.monotonic() - begun < 30


async def test_a_given_session_stays():
    async with wasibox.AsyncSession() as session:
        async with WasiboxCodeExecutor(session) as executor:
            await run(executor, ("python", "x = 1; open('f', 'w').close()"))
            await executor.restart()
            lost = await run(executor, ("python", "x"))
            assert "NameError" in lost.output and (await run(executor, ("bash", "ls"))).output == "f"
            with pytest.raises(NotImplementedError):
                executor.dump_component()
        assert (await session.exec("ls")).stdout == "f\n"
    with pytest.raises(ValueError, match="limits"):
        WasiboxCodeExecutor(session, limits="strict")


async def test_it_is_a_component():
    written = WasiboxCodeExecutor(timeout=7, limits="strict").dump_component()
    again = CodeExecutor.load_component(written)
    assert isinstance(again, WasiboxCodeExecutor)
    assert again.dump_component().config == {"timeout": 7, "options": {"limits": "strict"}}
