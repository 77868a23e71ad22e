"""A session as a code executor of `AutoGen <https://microsoft.github.io/autogen/>`_::

    from autogen_agentchat.agents import CodeExecutorAgent
    from wasibox.adapters.autogen import WasiboxCodeExecutor

    async with WasiboxCodeExecutor(limits={"memory": "1G"}) as executor:
        agent = CodeExecutorAgent("coder", code_executor=executor)

Blocks of Python run in an interpreter that stays from block to block, blocks for a shell continue
where the last one was, and all of them have the same files.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from autogen_core import CancellationToken, Component
from autogen_core.code_executor import CodeBlock, CodeExecutor, CodeResult
from pydantic import BaseModel, Field
from typing_extensions import Self

from .. import AsyncSession, Outcome
from .._outcome import in_words

_PYTHON = ("python", "python3", "py")
_SHELL = ("bash", "sh", "shell", "console")
_JAVASCRIPT = ("javascript", "js", "typescript", "ts", "node")


class WasiboxCodeExecutorConfig(BaseModel):
    """What :meth:`WasiboxCodeExecutor.dump_component` writes."""

    timeout: float | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class WasiboxCodeExecutor(CodeExecutor, Component[WasiboxCodeExecutorConfig]):
    """Runs blocks of Python, JavaScript and bash in a session."""

    component_config_schema = WasiboxCodeExecutorConfig
    component_provider_override = "wasibox.adapters.autogen.WasiboxCodeExecutor"

    def __init__(self, session: AsyncSession | None = None, *, timeout: float | None = 60, **options: Any) -> None:
        """Makes an executor.

        Args:
            session: a session that stays when the executor stops. Without it, the executor opens one
                when it starts, and closes it when it stops.
            timeout: the time limit of a block in seconds, which cannot exceed that of the session's
                policy. A block that reaches it has failed, and says so in its output.
            options: the options of :class:`wasibox.Session` for the executor's own session.
        """
        if session is not None and options:
            raise ValueError(f"the session exists already: {', '.join(sorted(options))}")
        self._given, self._timeout, self._options = session, timeout, options
        self._session: AsyncSession | None = None

    async def start(self) -> None:
        """Opens the session, unless one was given."""
        if self._session is None:
            self._session = self._given or await AsyncSession.create(**self._options)

    async def stop(self) -> None:
        """Closes the session, unless it was given."""
        session, self._session = self._session, None
        if session is not None and self._given is None:
            await session.close()

    async def restart(self) -> None:
        """Begins with a new session. A given one gets new interpreters and keeps its files."""
        if self._given is not None:
            await self._given.reset()
            return
        await self.stop()
        await self.start()

    async def execute_code_blocks(
        self, code_blocks: list[CodeBlock], cancellation_token: CancellationToken
    ) -> CodeResult:
        """Runs blocks one after another, up to the first that fails.

        Raises:
            RuntimeError: if the executor was not started.
            ValueError: if a block's language is none of those that run here. No block has run then.
            asyncio.CancelledError: if the token was cancelled; the block that ran has been ended.
        """
        if self._session is None:
            raise RuntimeError("the executor was not started")
        calls = [self._call_of(self._session, block.language) for block in code_blocks]
        outputs, exit_code = [], 0
        for block, call in zip(code_blocks, calls):
            running = asyncio.ensure_future(call(block.code, timeout=self._timeout))
            cancellation_token.link_future(running)
            outcome = await running
            outputs.append(in_words(outcome))
            exit_code = outcome.exit_code
            if exit_code:
                break
        return CodeResult(exit_code=exit_code, output="\n".join(outputs))

    @staticmethod
    def _call_of(session: AsyncSession, language: str) -> Callable[..., Awaitable[Outcome]]:
        for names, call in (
            (_PYTHON, session.python),
            (_SHELL, session.exec),
            (_JAVASCRIPT, session.javascript),
        ):
            if language.lower() in names:
                return call
        raise ValueError(f"blocks of {language!r} do not run here: there are python, bash and javascript")

    def _to_config(self) -> WasiboxCodeExecutorConfig:
        if self._given is not None:
            raise NotImplementedError("an executor with a given session cannot be written down")
        return WasiboxCodeExecutorConfig(timeout=self._timeout, options=self._options)

    @classmethod
    def _from_config(cls, config: WasiboxCodeExecutorConfig) -> Self:
        return cls(timeout=config.timeout, **config.options)
