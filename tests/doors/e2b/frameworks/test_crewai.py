"""CrewAI: the E2B tools, called by an agent whose model is scripted."""

import json

import pytest
from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai_tools import E2BExecTool, E2BFileTool, E2BPythonTool


class ScriptedModel(BaseLLM):
    """A model that calls tools as given, and ends with the last tool's result."""

    steps: list = []
    read: list = []

    def call(self, messages, *args, **options):
        # The results of tools are in the messages before the last one.
        self.read.append(messages if isinstance(messages, str) else "\n".join(m["content"] for m in messages))
        if self.steps:
            name, arguments = self.steps.pop(0)
            return f"Thought: on\nAction: {name}\nAction Input: {json.dumps(arguments)}\n"
        return "Thought: I now know the final answer\nFinal Answer: done"

    def supports_function_calling(self):
        return False


@pytest.fixture
def tools():
    made = [kind(persistent=True) for kind in (E2BExecTool, E2BFileTool, E2BPythonTool)]
    yield made
    for one in made:
        one.close()


def test_an_agent_uses_the_tools(tools):
    names = {type(one): one.name for one in tools}
    model = ScriptedModel(
        model="scripted",
        steps=[
            (names[E2BExecTool], {"command": "seq 3 | paste -sd+ | bc"}),
            (names[E2BPythonTool], {"code": "import math\nmath.factorial(10)"}),
            (names[E2BFileTool], {"action": "write", "path": "/home/user/a/b.txt", "content": "hi"}),
        ],
        read=[],
    )
    agent = Agent(role="worker", goal="go", backstory="none", llm=model, tools=tools, verbose=False)
    task = Task(description="go", expected_output="done", agent=agent)
    assert Crew(agents=[agent], tasks=[task], verbose=False).kickoff().raw == "done"
    read = "\n".join(model.read)
    assert "'stdout': '6\\n'" in read and "3628800" in read and "'status': 'written'" in read


def test_files(tools):
    files = tools[1]
    path = "/home/user/deep/er/a.txt"
    assert files.run(action="write", path=path, content="one\n")["bytes"] == 4
    assert files.run(action="read", path=path)["content"] == "one\n"
    assert files.run(action="read", path=path, binary=True)["content"] == "b25lCg=="
    assert [entry["name"] for entry in files.run(action="list", path="/home/user/deep")["entries"]] == ["er"]
    info = files.run(action="info", path=path)
    assert (info["name"], info["size"]) == ("a.txt", 4)
    files.run(action="delete", path=path)
    assert files.run(action="exists", path=path) == {"path": path, "exists": False}


def test_a_sandbox_for_each_call_is_the_default():
    tool = E2BPythonTool()
    assert tool.run(code="x = 1\nx + 1")["text"] == "2"
    error = tool.run(code="x")["error"]
    assert error["name"] == "NameError" and "'x' is not defined" in error["value"]
