"""The executor for smolagents, tested with the framework's code agents and a scripted model."""

from __future__ import annotations

import os

import pytest

pytest.importorskip("smolagents")

import numpy
import PIL.Image
import wasibox
from smolagents import CodeAgent, Tool, tool
from smolagents.models import ChatMessage, MessageRole, Model
from wasibox.adapters.smolagents import WasiboxExecutor


class Scripted(Model):
    """A model that writes given cells, one in each step."""

    def __init__(self, *cells):
        super().__init__(model_id="scripted")
        self.cells, self.read = list(cells), []

    def generate(self, messages, **options):
        self.read.append("".join(part.get("text", "") for part in messages[-1].content))
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"Thought: on.\n<code>\n{self.cells.pop(0)}\n</code>")


@pytest.fixture
def run():
    """A function that runs an agent whose model writes given cells.

    It returns the agent's answer, and what the model has read.
    """
    executors = []

    def go(*cells, tools=(), arguments=None, options=None, **agent):
        executors.append(WasiboxExecutor(**(options or {})))
        model = Scripted(*cells)
        made = CodeAgent(
            tools=list(tools), model=model, executor=executors[-1], verbosity_level=0, max_steps=len(cells), **agent
        )
        return made.run("go", additional_args=arguments), model.read

    yield go
    for executor in executors:
        executor.cleanup()


def test_steps_share_an_interpreter_in_the_sandbox(run):
    answer, read = run(
        "import os\nx = 41\nprint(os.getcwd())\nx",
        "final_answer([x + 1, os.path.exists(os.sep + 'etc/passwd')])",
    )
    assert answer[0] == 42
    assert "/home/user" in read[1] and "Last output from code snippet:\n41" in read[1]


@pytest.mark.parametrize(
    "code, wanted",
    [
        ("(1, 'a', None)", (1, "a", None)),
        ("{'a': {1, 2}, 'b': b'\\xff'}", {"a": {1, 2}, "b": b"\xff"}),
        ("{(1, 2): 3.5}", {(1, 2): 3.5}),
        ("'x' * 300_000", "x" * 300_000),
    ],
)
def test_an_answer_keeps_its_type(run, code, wanted):
    assert run(f"final_answer({code})")[0] == wanted


def test_arrays_and_pictures_are_answers(run):
    array = run("import numpy\nfinal_answer(numpy.arange(3) * numpy.int64(2))")[0]
    assert isinstance(array, numpy.ndarray) and array.tolist() == [0, 2, 4]
    picture = run("import PIL.Image\nfinal_answer(PIL.Image.new('RGB', (3, 2), 'red'))")[0]
    picture = picture.to_raw() if hasattr(picture, "to_raw") else picture
    assert isinstance(picture, PIL.Image.Image) and picture.size == (3, 2) and picture.getpixel((0, 0)) == (255, 0, 0)


def test_only_final_answer_ends_a_run(run):
    answer, read = run(
        "print('__main__.FinalAnswer')\nprint('safe:1')\nraise ValueError('FinalAnswerException: safe:1')",
        "try:\n    final_answer(object())\nexcept Exception as e:\n    print('refused', e)",
        "try:\n    final_answer(2)\nexcept Exception:\n    print('swallowed')\nfinal_answer(3)",
    )
    assert answer == 2
    assert "ValueError: FinalAnswerException: safe:1" in read[1]
    assert "refused final_answer takes plain data" in read[2]


def test_tools_run_in_this_program(run):
    calls = []

    @tool
    def lookup(key: str, times: int = 2) -> dict:
        """Looks a key up.

        Args:
            key: the key
            times: how often
        """
        if key == "no":
            raise LookupError("no such key")
        calls.append((key, os.getpid()))
        return {"key": key * times, "pair": (1, 2)}

    answer, read = run(
        "lookup('no')",
        "found = [lookup('a'), lookup(key='b', times=3)]\nfinal_answer([f['key'] for f in found] + found[0]['pair'])",
        tools=[lookup],
    )
    assert answer == ["aa", "bbb", 1, 2]
    assert calls == [("a", os.getpid()), ("b", os.getpid())]
    assert "LookupError: no such key" in read[1]


def test_managed_agents_are_called_from_the_sandbox(run):
    helper = CodeAgent(
        tools=[],
        model=Scripted("final_answer('from below')"),
        executor=WasiboxExecutor(),
        name="helper",
        description="Helps.",
        verbosity_level=0,
    )
    answer, _ = run("final_answer(helper(task='help'))", managed_agents=[helper])
    helper.cleanup()
    assert "from below" in answer


def test_arguments_and_checks_of_the_framework_hold(run):
    answer, _ = run("final_answer(sum(numbers) + len(words))", arguments={"numbers": [1, 2, 3], "words": {"a", "b"}})
    assert answer == 8
    answer, read = run(
        "final_answer(1)",
        "final_answer(2)",
        final_answer_checks=[lambda answer, memory, agent=None: answer == 2],
    )
    assert answer == 2


def test_a_step_ends_in_time_and_the_next_goes_on(run):
    answer, read = run("while True:\n    pass", "final_answer('on')", options={"timeout": 1})
    assert answer == "on" and "limit timeout" in read[1]


def test_nothing_of_the_host_is_granted(run):
    answer, _ = run(
        "import urllib.request\n"
        "try:\n    urllib.request.urlopen('http://example.com')\n"
        "except Exception as e:\n    final_answer('refused')"
    )
    assert answer == "refused"


def test_a_session_that_is_given_stays():
    with wasibox.Session() as session:
        executor = WasiboxExecutor(session)
        with CodeAgent(tools=[], model=Scripted("y = 5\nfinal_answer(y)"), executor=executor, verbosity_level=0) as agent:
            assert agent.run("go") == 5
        assert session.python("y").value == 5
        with pytest.raises(ValueError, match="exists already: limits"):
            WasiboxExecutor(session, limits="strict")
    own = WasiboxExecutor()
    own.cleanup()
    with pytest.raises(wasibox.ClosedError):
        own.session.exec("true")


def test_what_json_has_not_is_said_before_the_run():
    class Draw(Tool):
        name = "draw"
        description = "Draws."
        inputs = {"picture": {"type": "image", "description": "a picture"}}
        output_type = "string"

        def forward(self, picture):
            return "drawn"

    executor = WasiboxExecutor()
    with pytest.raises(ValueError, match="draw: picture is of type image"):
        executor.send_tools({"draw": Draw()})
    with pytest.raises(ValueError, match="cannot be installed"):
        executor.install_packages(["torch"])
    executor.cleanup()
