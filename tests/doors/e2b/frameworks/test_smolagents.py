"""smolagents: code agents whose steps run in a sandbox, `CodeAgent(executor_type="e2b")`."""

import PIL.Image
from smolagents import CodeAgent, tool
from smolagents.models import ChatMessage, MessageRole, Model


class ScriptedModel(Model):
    """A model that writes given cells, one in each step."""

    def __init__(self, cells):
        super().__init__(model_id="scripted")
        self.cells, self.read = list(cells), []

    def generate(self, messages, **options):
        self.read.append("".join(part.get("text", "") for part in messages[-1].content))
        text = f"Thought: on.\n<code>\n{self.cells.pop(0)}\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)


def run_agent(*cells, tools=(), **arguments):
    """Returns the agent's answer, and what its model has read."""
    model = ScriptedModel(cells)
    with CodeAgent(list(tools), model, executor_type="e2b", verbosity_level=0, max_steps=len(cells)) as agent:
        return agent.run("go", additional_args=arguments), model.read


def test_steps_share_an_interpreter():
    answer, read = run_agent(
        "import json\nnumbers = [3, 1, 2]\nprint(json.dumps(sorted(numbers)))",
        "sum(numbers)",
        "final_answer({'sum': sum(numbers), 'given': given})",
        given=[1, 2.5, None],
    )
    assert answer == {"sum": 6, "given": [1, 2.5, None]}
    assert "[1, 2, 3]" in read[1] and "Last output from code snippet:\n6" in read[2]


def test_a_tool_is_sent_to_the_sandbox():
    @tool
    def count_words(text: str) -> int:
        """Counts words.

        Args:
            text: the text.
        """
        return len(text.split())

    assert run_agent("final_answer(count_words('a b c'))", tools=[count_words])[0] == 3


def test_an_error_is_read_by_the_model():
    answer, read = run_agent("int('x')", "final_answer('mended')")
    assert answer == "mended" and "invalid literal for int() with base 10: 'x'" in read[1]


def test_a_picture_is_an_observation():
    cell = "from PIL import Image\nImage.new('RGB', (4, 2), 'red')"
    model = ScriptedModel([cell, "final_answer(1)"])
    with CodeAgent([], model, executor_type="e2b", verbosity_level=0) as agent:
        output = agent.python_executor(cell).output
    assert isinstance(output, PIL.Image.Image) and output.size == (4, 2)
