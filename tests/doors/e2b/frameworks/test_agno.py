"""Agno: the toolkit `E2BTools`, called by an agent whose model is scripted."""

import json

import pytest
from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.tools.e2b import E2BTools


class ScriptedModel(Model):
    """A model that makes given calls, one in each step, and then ends."""

    def __init__(self, steps):
        super().__init__(id="scripted")
        self.steps = list(steps)

    def invoke(self, *args, **options):
        if not self.steps:
            return ModelResponse(role="assistant", content="done")
        name, arguments = self.steps.pop(0)
        call = {"name": name, "arguments": json.dumps(arguments)}
        calls = [{"id": str(len(self.steps)), "type": "function", "function": call}]
        return ModelResponse(role="assistant", tool_calls=calls)

    async def ainvoke(self, *args, **options):
        return self.invoke()

    def invoke_stream(self, *args, **options):
        yield self.invoke()

    async def ainvoke_stream(self, *args, **options):
        yield self.invoke()

    def _parse_provider_response(self, response, **options):
        return response

    def _parse_provider_response_delta(self, response):
        return response


@pytest.fixture
def tools():
    made = E2BTools(timeout=120)
    yield made
    made.shutdown_sandbox()


def test_an_agent_uses_the_tools(tools, tmp_path):
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2]); plt.title('three'); plt.show()"
    steps = [
        ("write_file_content", {"file_path": "/home/user/n.txt", "content": "3\n1\n2\n"}),
        ("run_command", {"command": "sort n.txt | head -1"}),
        ("run_python_code", {"code": "sum(map(int, open('/home/user/n.txt')))"}),
        ("run_python_code", {"code": plot}),
        ("download_png_result", {"output_path": str(tmp_path / "a.png")}),
        ("list_files", {"directory_path": "/home/user"}),
    ]
    answer = Agent(model=ScriptedModel(steps), tools=[tools]).run("go")
    assert answer.content == "done"
    results = [m.content for m in answer.messages if m.role == "tool"]
    assert json.loads(results[1]) == ["STDOUT:\n1\n"]
    assert "Result 1: 6" in results[2]
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG\r\n")
    assert "- n.txt (File, 6 bytes)" in results[5]


def test_background_commands_and_errors(tools):
    server = tools.run_background_command("sleep 100")
    assert server.pid in [process.pid for process in tools.sandbox.commands.list()]
    assert tools.kill_background_command(server) == "Background command terminated successfully."
    assert tools.run_python_code("x = 1\ny").startswith("Error: NameError\nname 'y' is not defined")
    assert "exited with code 3" in json.loads(tools.run_command("exit 3"))["message"]
