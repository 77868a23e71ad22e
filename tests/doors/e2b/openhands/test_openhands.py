"""OpenHands: its agent CodeAct in the runtime for E2B, with a scripted model behind OpenAI's interface."""

import asyncio
import http.server
import json
import threading

import pytest
from openhands.core.config import AgentConfig, LLMConfig, OpenHandsConfig
from openhands.core.main import run_controller
from openhands.core.schema import AgentState
from openhands.core.setup import create_runtime
from openhands.events.action import CmdRunAction, FileReadAction, FileWriteAction, IPythonRunCellAction, MessageAction
from openhands.events.observation import CmdOutputObservation, ErrorObservation, IPythonRunCellObservation
from openhands.llm.llm_registry import LLMRegistry
from openhands.utils.async_utils import call_async_from_sync


class ScriptedModel(http.server.ThreadingHTTPServer):
    """A server with OpenAI's interface whose model calls tools as given, one in each step."""

    def __init__(self, steps):
        super().__init__(("127.0.0.1", 0), Answers)
        self.steps, self.read = list(steps), []

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Answers(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.read.append(json.dumps(asked["messages"]))
        name, arguments = self.server.steps.pop(0)
        call = {"id": "call", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = {
            "id": "1", "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }  # fmt: skip
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def config_of(model, folder):
    return OpenHandsConfig(
        runtime="e2b",
        default_agent="CodeActAgent",
        max_iterations=10,
        file_store="local",
        file_store_path=str(folder),
        llms={"llm": LLMConfig(model="openai/scripted", base_url=model, api_key="none", num_retries=0)},
        agents={"agent": AgentConfig(enable_browsing=False, enable_mcp=False)},
    )


def test_an_agent_works_in_a_sandbox(tmp_path):
    steps = [
        ("execute_bash", {"command": "mkdir -p w && seq 3 > w/n && wc -l < w/n", "security_risk": "LOW"}),
        ("execute_ipython_cell", {"code": "numbers = [int(n) for n in open('w/n')]\nsum(numbers)", "security_risk": "LOW"}),
        ("execute_ipython_cell", {"code": "sum(numbers) * 7", "security_risk": "LOW"}),
        ("execute_bash", {"command": "cat none", "security_risk": "LOW"}),
        ("finish", {"message": "done"}),
    ]
    with ScriptedModel(steps) as model:
        config = config_of(f"http://127.0.0.1:{model.server_port}", tmp_path)
        state = asyncio.run(run_controller(config, MessageAction(content="go"), sid="agent"))
        assert state.agent_state == AgentState.FINISHED, state.last_error
        seen = [event for event in state.history if event.cause is not None]
        outputs = [event.content.strip() for event in seen if isinstance(event, CmdOutputObservation)]
        values = [event.content for event in seen if isinstance(event, IPythonRunCellObservation)]
        assert outputs[0] == "3" and values == ["6", "42"]
        assert "cat: none: No such file or directory" in model.read[-1]


@pytest.fixture
def runtime(tmp_path):
    config = config_of("http://127.0.0.1:9", tmp_path)
    runtime = create_runtime(config, LLMRegistry(config), sid="direct")
    call_async_from_sync(runtime.connect)
    yield runtime
    call_async_from_sync(runtime.close)


def test_actions(runtime):
    assert runtime.run(CmdRunAction("echo out; echo err >&2")).content == "out\nerr\n"
    # It reads a file as lines and drops their ends, so one line has to do.
    written = runtime.write(FileWriteAction("/home/user/deep/er/a.txt", "one"))
    assert not isinstance(written, ErrorObservation), written.content
    assert runtime.read(FileReadAction("/home/user/deep/er/a.txt")).content == "one"
    assert runtime.run(CmdRunAction("cat /home/user/deep/er/a.txt")).content == "one"
    wrong = runtime.run_ipython(IPythonRunCellAction("int('x')"))
    assert isinstance(wrong, ErrorObservation) and "invalid literal for int()" in wrong.content
    assert "deep" in runtime.list_files("/home/user")
