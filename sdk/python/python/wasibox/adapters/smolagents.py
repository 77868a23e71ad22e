"""A session as the executor of `smolagents <https://huggingface.co/docs/smolagents>`_' code agents::

    from smolagents import CodeAgent
    from wasibox.adapters.smolagents import WasiboxExecutor

    with CodeAgent(tools=[...], model=model, executor=WasiboxExecutor(), additional_authorized_imports=["*"]) as agent:
        agent.run("...")

The code that a model writes runs in the session's Python interpreter. The agent's tools and managed
agents stay in this program, and the code calls them as host tools. They keep their credentials and
connections, which the sandbox does not need. The framework's own remote executors send the sources
of tools to the sandbox instead, and do not support managed agents.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import PIL.Image
from smolagents.local_python_executor import CodeOutput  # type: ignore[import-untyped]
from smolagents.monitoring import AgentLogger, LogLevel  # type: ignore[import-untyped]
from smolagents.remote_executors import RemotePythonExecutor  # type: ignore[import-untyped]
from smolagents.serialization import SafeSerializer  # type: ignore[import-untyped]
from smolagents.utils import AgentError  # type: ignore[import-untyped]

from .. import Session, Tool

#: The tool that ends an agent's run.
_FINAL = "final_answer"
#: The framework's types that are types of JSON Schema. `any` has no schema.
_TYPES = {"string", "boolean", "integer", "number", "array", "object", "null"}

#: Code that sends the final answer to the host in the framework's own form (`SafeSerializer`), and
#: ends the cell. The framework's code for this does not run on its own in a sandbox.
_FINAL_CODE = """
class FinalAnswer(BaseException):
    "The agent's run ends here."

def final_answer(*args, **kwargs):
    import base64, io, json, sys
    import host_tools

    def packed(value):
        kind = type(value).__name__
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [packed(item) for item in value]
        if isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                return {key: packed(item) for key, item in value.items()}
            pairs = [[packed(key), packed(item)] for key, item in value.items()]
            return {"__type__": "dict_with_complex_keys", "data": pairs}
        if isinstance(value, (tuple, set, frozenset)):
            return {"__type__": kind, "data": [packed(item) for item in value]}
        if isinstance(value, bytes):
            return {"__type__": "bytes", "data": base64.b64encode(value).decode()}
        numpy, image = sys.modules.get("numpy"), sys.modules.get("PIL.Image")
        if numpy and isinstance(value, numpy.ndarray):
            return {"__type__": "ndarray", "data": value.tolist(), "dtype": str(value.dtype)}
        if numpy and isinstance(value, numpy.generic):
            return packed(value.item())
        if image and isinstance(value, image.Image):
            file = io.BytesIO()
            value.save(file, format="PNG")
            return {"__type__": "PIL.Image", "data": base64.b64encode(file.getvalue()).decode()}
        raise TypeError(f"final_answer takes plain data, arrays and pictures: convert the {kind}")

    host_tools.call("final_answer", given="safe:" + json.dumps(packed([list(args), kwargs])))
    raise FinalAnswer()
"""


class WasiboxExecutor(RemotePythonExecutor):  # type: ignore[misc]
    """Runs an agent's code in a session."""

    def __init__(
        self,
        session: Session | None = None,
        *,
        timeout: float | None = None,
        tools: Iterable[Any] = (),
        logger: AgentLogger | None = None,
        **options: Any,
    ) -> None:
        """Makes an executor.

        Args:
            session: a session, which stays open. Without it, the executor opens a session, and
                closes it with the agent's ``cleanup``.
            timeout: the time limit of a step's code in seconds, which cannot exceed that of the
                session's policy.
            tools: host tools besides the agent's. They are given here because each run replaces the
                session's tools.
            logger: the agent's logger, if its log should have the executor's lines.
            options: the options of :class:`wasibox.Session` for a session that the executor opens.
        """
        if session is not None and options:
            raise ValueError(f"the session exists already: {', '.join(sorted(options))}")
        # Nothing is unpickled, because data from the sandbox cannot be trusted.
        super().__init__([], logger or AgentLogger(level=LogLevel.ERROR), allow_pickle=False)
        self.session = Session(**options) if session is None else session
        self._is_own = session is None
        self._timeout, self._more = timeout, list(tools)
        self._answer: list[Any] = []

    def send_tools(self, tools: dict[str, Any]) -> None:
        """Makes an agent's tools and managed agents host tools, under their names in the code."""
        given = [self._host_tool(name, tool) for name, tool in tools.items()]
        self.session.set_tools([*given, *self._more])
        names = [name for name in tools if name != _FINAL]
        code = f"from host_tools import {', '.join(names)}\n" if names else ""
        if _FINAL in tools:
            code += _FINAL_CODE
        self.run_code_raise_errors(code)

    def _host_tool(self, name: str, tool: Any) -> Tool:
        if name == _FINAL:
            schema = {"properties": {"given": {"type": "string"}}, "required": ["given"]}
            return Tool(lambda given: self._final(tool, given), name=name, description="", schema=schema)

        return Tool(tool, name=name, description=tool.description, schema=_schema(name, tool.inputs))

    def _final(self, tool: Any, given: str) -> None:
        """Takes the final answer as JSON from the sandbox, and passes it to the agent's tool."""
        args, kwargs = SafeSerializer.loads(given, allow_pickle=False)
        self._answer = [tool(*args, **kwargs)]

    def run_code_raise_errors(self, code: str) -> CodeOutput:
        """Runs a step's code.

        Raises:
            AgentError: if the code fails; the error has its output.
        """
        self._answer = []
        outcome = self.session.python(code, timeout=self._timeout)
        if self._answer:
            return CodeOutput(output=self._answer.pop(), logs=outcome.stdout, is_final_answer=True)
        logs = outcome.stdout + outcome.stderr
        if outcome.limit_hit:
            logs += f"\nThe code was ended: limit {outcome.limit_hit}"
        if not outcome.ok:
            why = logs.removeprefix(outcome.stdout)
            raise AgentError(f"{outcome.stdout}\nExecuting code yielded an error:\n{why}", self.logger)
        output = outcome.value
        if outcome.value_repr is None and outcome.files and (figures := outcome.figures):
            output = PIL.Image.open(io.BytesIO(figures[-1].data))
        return CodeOutput(output=output, logs=logs, is_final_answer=False)

    def install_packages(self, additional_imports: list[str]) -> list[str]:
        """Refuses to install packages, because only those in the image are available."""
        if additional_imports:
            raise ValueError(f"packages cannot be installed in the sandbox: {', '.join(additional_imports)}")
        return []

    def cleanup(self) -> None:
        """Closes the session if the executor has opened it. The agent calls this at its end."""
        if self._is_own:
            self.session.close()


def _schema(name: str, inputs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Returns a JSON Schema of a tool's inputs, which have types of the framework."""
    properties: dict[str, Any] = {}
    for argument, spec in inputs.items():
        types = [spec["type"]] if isinstance(spec["type"], str) else list(spec["type"])
        if unfit := set(types) - _TYPES - {"any"}:
            raise ValueError(f"{name}: {argument} is of type {', '.join(sorted(unfit))}, which JSON has not")
        properties[argument] = {"description": spec.get("description", "")}
        if "any" not in types:
            properties[argument]["type"] = [*types, "null"] if spec.get("nullable") else types
    required = [argument for argument, spec in inputs.items() if not spec.get("nullable")]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
