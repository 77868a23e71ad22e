"""The OpenAI Agents SDK: `E2BSandboxClient`, used by sandbox agents whose model is scripted."""

import agents
import pytest
from agents import RunConfig, Runner
from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.sandbox import Manifest, SandboxAgent, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import Dir, File
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class ScriptedModel(Model):
    """A model that makes given calls, one in each step, and then ends."""

    def __init__(self, *commands):
        self.commands = list(commands)

    async def get_response(self, *args, **options):
        if self.commands:
            name, arguments = self.commands.pop(0)
            item = ResponseFunctionToolCall(
                type="function_call", call_id=f"call-{len(self.commands)}", name=name, arguments=arguments
            )
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            item = ResponseOutputMessage(
                id="1", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[item], usage=Usage(), response_id=None)

    def stream_response(self, *args, **options):
        raise NotImplementedError


@pytest.fixture(autouse=True)
def no_traces():
    agents.set_tracing_disabled(True)


async def test_an_agent_works_in_the_sandbox():
    worker = SandboxAgent(
        name="worker",
        instructions="Work.",
        model=ScriptedModel(
            ("exec_command", '{"cmd": "python3 -c \'print(sum(map(int, open(\\"data.csv\\"))))\'"}'),
            ("exec_command", '{"cmd": "pwd; exit 3", "workdir": "sub"}'),
        ),
        capabilities=[Filesystem(), Shell()],
        default_manifest=Manifest(entries={"data.csv": File(content=b"1\n2\n39\n"), "sub": Dir()}),
    )
    options = E2BSandboxClientOptions(sandbox_type="e2b")
    sandbox = SandboxRunConfig(client=E2BSandboxClient(), options=options)
    result = await Runner.run(worker, "go", run_config=RunConfig(sandbox=sandbox))
    outputs = [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]
    assert result.final_output == "done"
    assert "exited with code 0" in outputs[0] and outputs[0].rstrip().endswith("42")
    assert "exited with code 3" in outputs[1] and "/sub\n" in outputs[1]


async def test_files_are_kept_in_a_snapshot():
    client = E2BSandboxClient()
    session = await client.create(options=E2BSandboxClientOptions(sandbox_type="e2b"), manifest=Manifest())
    async with session:
        assert (await session.exec("echo kept > note; ls")).stdout == b"note\n"
        archive = await session.persist_workspace()
        await session.exec("rm note")
        await session.hydrate_workspace(archive)
        assert (await session.exec("cat note")).stdout == b"kept\n"
    await client.delete(session)
