"""Haystack: the toolset of `e2b-haystack`, used by an agent whose chat generator is scripted."""

import pytest
from haystack.components.agents import Agent
from haystack.components.generators.chat import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall
from haystack_integrations.tools.e2b import E2BToolset


@pytest.fixture
def tools():
    made = E2BToolset()
    made.warm_up()
    yield made
    made.close()


def call(name, **arguments):
    return ChatMessage.from_assistant(tool_calls=[ToolCall(tool_name=name, arguments=arguments)])


def test_an_agent_uses_the_tools(tools):
    steps = [
        call("write_file", path="/home/user/a.sh", content="echo $((6 * 7))\n"),
        call("run_bash_command", command="bash a.sh; exit 3"),
        call("read_file", path="/home/user/a.sh"),
        call("list_directory", path="/home/user"),
        "done",
    ]
    agent = Agent(chat_generator=MockChatGenerator(steps), tools=tools)
    messages = agent.run(messages=[ChatMessage.from_user("go")])["messages"]
    results = [message.tool_call_result.result for message in messages if message.tool_call_result]
    assert "42" in results[1] and "3" in results[1]
    assert results[2] == "echo $((6 * 7))\n" and "a.sh" in results[3]
    assert messages[-1].text == "done"
