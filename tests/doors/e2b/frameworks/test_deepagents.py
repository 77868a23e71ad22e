"""LangChain's deepagents: `langchain-e2b`, in an agent with a scripted model and by LangChain's own
standard tests for sandboxes."""

import pytest
from deepagents import create_deep_agent
from e2b import Sandbox
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_e2b import E2BSandbox
from langchain_tests.integration_tests import SandboxIntegrationTests


class ScriptedModel(GenericFakeChatModel):
    """A model that makes given calls, and takes any tools."""

    def bind_tools(self, tools, **options):
        return self


def call(name, **arguments):
    return AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": name}])


@pytest.fixture
def sandbox():
    with Sandbox.create() as made:
        yield made


def test_an_agent_uses_the_sandbox(sandbox):
    steps = [
        call("write_file", file_path="/home/user/a.py", content="print(6 * 7)\n"),
        call("edit_file", file_path="/home/user/a.py", old_string="7", new_string="8"),
        call("execute", command="python3 a.py; cat missing"),
        call("grep", pattern="print", path="/home/user"),
        AIMessage(content="done"),
    ]
    agent = create_deep_agent(model=ScriptedModel(messages=iter(steps)), backend=E2BSandbox(sandbox=sandbox))
    messages = agent.invoke({"messages": [("user", "go")]})["messages"]
    results = {m.name: m.content for m in messages if isinstance(m, ToolMessage)}
    assert "48" in results["execute"] and "missing: No such file or directory" in results["execute"]
    assert "/home/user/a.py" in results["grep"] and messages[-1].content == "done"
    assert sandbox.files.read("/home/user/a.py") == "print(6 * 8)\n"


class TestStandard(SandboxIntegrationTests):
    """LangChain's standard tests of a sandbox."""

    @pytest.fixture(scope="class")
    def sandbox(self):
        with Sandbox.create() as made:
            yield E2BSandbox(sandbox=made)
