"""Sessions as a sandbox of `Inspect <https://inspect.aisi.org.uk>`_.

Use ``Task(..., sandbox="wasibox")``, or ``sandbox=("wasibox", "policy.toml")`` with a policy file.
Each sample has a session of its own.
"""

from __future__ import annotations

import posixpath
from typing import Literal, overload

from inspect_ai.util import (
    ExecResult,
    OutputLimitExceededError,
    SandboxEnvironment,
    SandboxEnvironmentConfigType,
    SandboxEnvironmentLimits,
    SandboxUserUnsupportedError,
    sandboxenv,
)

from .. import AsyncSession, NotFoundError

_USERS = ("user", "1000")


@sandboxenv(name="wasibox")
class WasiboxSandboxEnvironment(SandboxEnvironment):
    """A sandbox over one session."""

    def __init__(self, session: AsyncSession) -> None:
        super().__init__()
        self.session = session

    @classmethod
    def config_files(cls) -> list[str]:
        """Returns the name of the policy file that a task may have in its folder."""
        return ["wasibox.toml"]

    @classmethod
    async def sample_init(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        metadata: dict[str, str],
    ) -> dict[str, SandboxEnvironment]:
        """Opens a session for a sample, with the policy file that the task names."""
        if config is not None and not isinstance(config, str):
            raise ValueError("the configuration of the sandbox 'wasibox' is a policy file")
        return {"default": cls(await AsyncSession.create(policy=config))}

    @classmethod
    async def sample_cleanup(
        cls,
        task_name: str,
        config: SandboxEnvironmentConfigType | None,
        environments: dict[str, SandboxEnvironment],
        interrupted: bool,
    ) -> None:
        """Closes the sessions of a sample."""
        for environment in environments.values():
            await environment.as_type(cls).session.close()

    async def exec(
        self,
        cmd: list[str],
        input: str | bytes | None = None,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        user: str | None = None,
        timeout: int | None = None,
        timeout_retry: bool = True,
        concurrency: bool = True,
    ) -> ExecResult[str]:
        """Runs a command, which is a list of arguments."""
        if user is not None and user not in _USERS:
            raise SandboxUserUnsupportedError(f"guests are the user 'user', not {user!r}")
        limit = SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE
        try:
            outcome = await self.session.exec(
                cmd,
                stdin=input,
                cwd=None if cwd is None else await self._absolute(cwd),
                env=env,
                timeout=timeout,
                max_output=2 * limit,
                list_files=False,
            )
        except NotFoundError:
            name = cmd[0] if cmd else ""
            return ExecResult(False, 127, "", f"{name}: command not found\n")
        if outcome.limit_hit == "timeout":
            raise TimeoutError(f"the command took longer than {timeout} s")
        if outcome.exit_code == 126 and "ermission denied" in outcome.stderr:
            raise PermissionError(outcome.stderr.strip())
        for text, data in ((outcome.stdout, outcome.stdout_bytes), (outcome.stderr, outcome.stderr_bytes)):
            if len(data) > limit:
                raise OutputLimitExceededError(
                    limit_str=SandboxEnvironmentLimits.MAX_EXEC_OUTPUT_SIZE_STR, truncated_output=text[-limit:]
                )
        return ExecResult(outcome.ok, outcome.exit_code, outcome.stdout, outcome.stderr)

    async def _absolute(self, path: str) -> str:
        return posixpath.join("/home/user", path)

    async def write_file(self, file: str, contents: str | bytes) -> None:
        """Replaces the contents of a file."""
        await self.session.write(await self._absolute(file), contents)

    @overload
    async def read_file(self, file: str, text: Literal[True] = True) -> str: ...

    @overload
    async def read_file(self, file: str, text: Literal[False]) -> bytes: ...

    async def read_file(self, file: str, text: bool = True) -> str | bytes:
        """Returns the contents of a file."""
        path = await self._absolute(file)
        entry = await self.session.stat(path)
        if entry.size > SandboxEnvironmentLimits.MAX_READ_FILE_SIZE and not entry.is_dir:
            raise OutputLimitExceededError(
                limit_str=SandboxEnvironmentLimits.MAX_READ_FILE_SIZE_STR, truncated_output=None
            )
        data = await self.session.read(path)
        return data.decode() if text else data
