"""A session as a toolset of `Pydantic AI <https://ai.pydantic.dev>`_::

    from pydantic_ai import Agent
    from wasibox.adapters.pydantic_ai import WasiboxToolset

    agent = Agent("anthropic:claude-sonnet-4-5", toolsets=[WasiboxToolset(limits={"memory": "1G"})])

Each run of an agent has a session of its own, which is opened by the first call of a tool and
closed at the end of the run. A session that the caller gives stays open, and keeps its state from
run to run.
"""

from __future__ import annotations

import asyncio
import base64
import copy
from collections.abc import Collection
from typing import Any, Union

from pydantic_ai import BinaryContent, RunContext, ToolFailed
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, ToolsetTool

from .. import AsyncSession, ClosedError, ConflictError, Outcome, WasiboxError
from .._outcome import in_words

#: The maximum number of characters of each output stream of a call that the model sees.
_OUTPUT = 50_000

#: The result of a tool: text, and the pictures that a call has made.
Result = Union[str, list[Union[str, BinaryContent]]]

_INSTRUCTIONS = (
    "The sandbox tools share one machine, with bash, Unix tools, Python 3 with numpy and pandas, and Node. Files, variables and the "
    "working directory stay from call to call. It has no network and sees no file of the user's unless that was granted."
)


class WasiboxToolset(AbstractToolset[Any]):
    """Tools that use a session: a shell, Python cells, and files."""

    def __init__(
        self,
        session: AsyncSession | None = None,
        *,
        include: Collection[str] = ("run_shell", "run_python", "read_file", "write_file", "edit_file"),
        timeout: float | None = None,
        max_output: int = _OUTPUT,
        instructions: str | None = _INSTRUCTIONS,
        id: str = "wasibox",
        **options: Any,
    ) -> None:
        """Makes a toolset.

        Args:
            session: a session for all runs. Without it, each run has its own session.
            include: the names of the tools to offer.
            timeout: the time limit of a call in seconds, which cannot exceed that of the session's
                policy.
            max_output: the maximum number of characters of each output stream of a call that the
                model sees. A longer stream is cut in the middle.
            instructions: a text about all tools for the model.
            id: the toolset's name, for durable execution.
            options: the options of :class:`wasibox.Session` for the sessions of runs. ``tools`` are
                functions that code in the sandbox may call.
        """
        if session is not None and options:
            raise ValueError(f"the session exists already: {', '.join(sorted(options))}")
        self._given, self._options = session, options
        self._include = tuple(include)
        self._timeout, self._max_output, self._instructions, self._id = timeout, max_output, instructions, id
        self._begin(session if session is not None else AsyncSession(**options))

    def _begin(self, session: AsyncSession) -> None:
        """Makes the tools use a session, which their first call opens."""
        self._session, self._entered = session, 0
        known = {tool.__name__: tool for tool in _all(self)}
        if unknown := set(self._include) - set(known):
            raise ValueError(f"there are no tools {', '.join(sorted(unknown))}: there are {', '.join(known)}")
        # Tools run one after another, in the order in which the model has called them.
        chosen = [known[name] for name in self._include]
        self._tools = FunctionToolset[Any](chosen, id=self._id, sequential=True)

    @property
    def id(self) -> str | None:
        """The toolset's name."""
        return self._id

    @property
    def session(self) -> AsyncSession:
        """The session that the tools use: the given one, or that of the run."""
        return self._session

    async def for_run(self, ctx: RunContext[Any]) -> AbstractToolset[Any]:
        """Returns the toolset of a run.

        This is the toolset itself if it was given a session, otherwise a copy with a new session.
        """
        if self._given is not None:
            return self
        run = copy.copy(self)
        run._begin(AsyncSession(**self._options))
        return run

    async def __aenter__(self) -> WasiboxToolset:
        self._entered += 1
        return self

    async def __aexit__(self, *args: Any) -> None:
        self._entered -= 1
        if self._given is None and self._entered == 0:
            await self._session.close()

    async def get_instructions(self, ctx: RunContext[Any]) -> str | None:
        """Returns the text about all tools for the model."""
        return self._instructions

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Returns the tools, which are the methods below."""
        return await self._tools.get_tools(ctx)

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Calls a tool. The model gets the reason for a failure that is not the program's."""
        try:
            return await self._tools.call_tool(name, tool_args, ctx, tool)
        except (ClosedError, ConflictError):
            raise
        except WasiboxError as e:
            # This is not a `ModelRetry`, because a run allows only one of those by default, and a
            # model may try several times, such as to find a text in a file.
            raise ToolFailed(str(e)) from e

    # The tools. The model reads their docstrings.

    async def run_shell(self, command: str) -> Result:
        """Run a script in the sandbox's bash.

        The working directory and variables stay for the next call.

        Args:
            command: the script
        """
        return await self._shown(await self._session.exec(command, timeout=self._timeout))

    async def run_python(self, code: str) -> Result:
        """Run a cell in the sandbox's Python interpreter, as in a notebook.

        Variables and imports stay for the next call. The value of the last expression is shown. Pictures that are saved or shown
        by matplotlib come back.

        Args:
            code: the cell
        """
        return await self._shown(await self._session.python(code, timeout=self._timeout))

    async def read_file(self, path: str, offset: int = 1, limit: int = 2000) -> Result:
        """Read a file of the sandbox: the numbered lines of a text, a picture, or the names in a directory.

        Args:
            path: its path
            offset: the first line; from the end if negative
            limit: how many lines
        """
        request = {"read": {"path": path, "offset": offset, "limit": limit}}
        content = (await self._session.files(request))["read"]["content"]
        if "data" in content:
            data = base64.b64decode(content["data"]["data"])
            return [path, BinaryContent(data=data, media_type=content["data"]["mime"])]
        if "directory" in content:
            return "\n".join(entry["path"] for entry in content["directory"]["entries"])
        if "binary" in content:
            return str(content["binary"]["note"])
        text = content["text"]
        return str(text["text"]) + (f"[{text['note']}]" if text["note"] else "")

    async def write_file(self, path: str, content: str) -> str:
        """Write a whole text file in the sandbox; folders above it are made.

        Args:
            path: its path
            content: all of its text
        """
        await self._session.write(path, content)
        return f"{len(content.encode())} bytes written to {path}"

    async def edit_file(self, path: str, old: str, new: str, replace_all: bool = False) -> str:
        """Replace text in a file of the sandbox.

        Args:
            path: its path
            old: the text as it stands, which must be there once unless all of it is meant
            new: what takes its place
            replace_all: replace it wherever it stands
        """
        return await self._session.edit(path, old, new, replace_all=replace_all)

    async def _shown(self, outcome: Outcome) -> Result:
        text = in_words(outcome, self._cut) or "[no output]"
        # Pictures are read from the session, and that may block.
        figures = await asyncio.to_thread(lambda: outcome.figures) if outcome.files else []
        pictures = [BinaryContent(data=figure.data, media_type=figure.mime_type) for figure in figures]
        return [text, *pictures] if pictures else text


    def _cut(self, text: str) -> str:
        """Returns the part of a text that the model sees: its beginning and its end."""
        text = text.rstrip("\n")
        half = self._max_output // 2
        left_out = len(text) - 2 * half
        if left_out <= 0:
            return text
        return f"{text[:half]}\n[{left_out} characters are left out]\n{text[len(text) - half :]}"


def _all(toolset: WasiboxToolset) -> list[Any]:
    return [
        toolset.run_shell,
        toolset.run_python,
        toolset.read_file,
        toolset.write_file,
        toolset.edit_file,
    ]
