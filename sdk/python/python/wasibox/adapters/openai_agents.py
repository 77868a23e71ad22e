"""Sessions as sandboxes of the `OpenAI Agents SDK <https://openai.github.io/openai-agents-python/>`_::

    from agents import RunConfig, Runner
    from agents.sandbox import SandboxAgent, SandboxRunConfig
    from wasibox.adapters.openai_agents import WasiboxSandboxClient

    agent = SandboxAgent(name="analyst", instructions="...")
    config = RunConfig(sandbox=SandboxRunConfig(client=WasiboxSandboxClient()))
    await Runner.run(agent, "...", run_config=config)

The client decides what sandboxes are granted, never the options of a sandbox or a persisted state.
Somebody who can change the JSON of a paused run can name another session of the client's store, and
nothing else. Host folders are granted by the client's ``mounts``, or by the manifest's
``extra_path_grants`` with a ``host_path``, which the framework requires again when a state is
resumed.

Files are read and written by file requests of the session. The framework lists, moves and removes
files by commands, and checks paths by commands, too; these run in the sandbox. Processes that
outlive their call (``exec_command`` that yields, ``write_stdin``) are in
:mod:`wasibox.adapters._openai_processes`.
"""

from __future__ import annotations

import asyncio
import io
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agents.sandbox.entries import Mount as MountEntry
from agents.sandbox.errors import (
    ExecTimeoutError,
    ExecTransportError,
    ExposedPortUnavailableError,
    MountConfigError,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
    WorkspaceRootNotFoundError,
    WorkspaceStartError,
    WorkspaceWriteTypeError,
)
from agents.sandbox.manifest import Manifest
from agents.sandbox.session import SandboxSession, SandboxSessionState
from agents.sandbox.session.base_sandbox_session import BaseSandboxSession
from agents.sandbox.session.dependencies import Dependencies
from agents.sandbox.session.manager import Instrumentation
from agents.sandbox.session.pty_types import PtyExecUpdate
from agents.sandbox.session.runtime_helpers import (
    RESOLVE_WORKSPACE_PATH_HELPER,
    RuntimeHelperScript,
)
from agents.sandbox.session.sandbox_client import BaseSandboxClient, BaseSandboxClientOptions
from agents.sandbox.session.tar_workspace import shell_tar_exclude_args
from agents.sandbox.snapshot import SnapshotBase, SnapshotSpec, resolve_snapshot
from agents.sandbox.types import ExecResult, ExposedPortEndpoint, User
from agents.sandbox.util.tar_utils import UnsafeTarMemberError, validate_tar_bytes
from agents.sandbox.workspace_paths import (
    coerce_posix_path,
    posix_path_as_path,
    posix_path_for_error,
    sandbox_path_grant_host_path,
    sandbox_path_str,
)

from .. import (
    AsyncSession,
    Engine,
    ExposedPort,
    FileError,
    Mount,
    Network,
    NotFoundError,
    WasiboxError,
    default_engine,
)
from .._types import Limits, Mounts, StrPath
from ._openai_processes import Processes

#: The name and the number of the only user, as which ``sudo`` runs commands, too.
_USERS = ("user", "1000")
#: The maximum number of bytes of each output stream of a command.
_OUTPUT = 16 << 20


class WasiboxSandboxClientOptions(BaseSandboxClientOptions):
    """The options of one sandbox."""

    type: Literal["wasibox"] = "wasibox"
    #: The session's name in the client's store. By default it is a new random name.
    name: str | None = None
    #: Whether the session stays in the store when the sandbox is deleted, which the runner does at
    #: the end of each run. A resumed run then continues with the whole session, and not only with
    #: the workspace from a snapshot.
    keep: bool = False
    #: The ports of the sandbox that ``resolve_exposed_port`` may expose at 127.0.0.1.
    exposed_ports: tuple[int, ...] = ()


class WasiboxSandboxSessionState(SandboxSessionState):
    """The state of a sandbox that can be serialized."""

    type: Literal["wasibox"] = "wasibox"
    name: str
    keep: bool = False


class WasiboxSandboxSession(BaseSandboxSession):
    """A sandbox over one session."""

    state: WasiboxSandboxSessionState

    def __init__(self, *, state: WasiboxSandboxSessionState, session: AsyncSession) -> None:
        self.state = state
        #: The session, for features that the framework does not have, such as
        #: ``session._inner.wasibox.python("1 + 1")``.
        self.wasibox = session
        self._processes = Processes(session)
        self._exposed: dict[int, ExposedPort] = {}

    # Starting and stopping.

    async def running(self) -> bool:
        """Returns whether the session is open."""
        return not self.wasibox.sync.closed

    async def _prepare_backend_workspace(self) -> None:
        root = sandbox_path_str(self.state.manifest.root)
        try:
            await self.wasibox.make_dir(root)
        except WasiboxError as e:
            raise WorkspaceStartError(path=posix_path_for_error(root), cause=e) from e

    async def _shutdown_backend(self) -> None:
        for exposed in self._exposed.values():
            exposed.close()
        self._exposed.clear()
        await self.wasibox.close()

    async def _resolve_exposed_port(self, port: int) -> ExposedPortEndpoint:
        if port not in self._exposed:
            try:
                self._exposed[port] = await self.wasibox.expose(port)
            except WasiboxError as e:
                raise ExposedPortUnavailableError(
                    port=port,
                    exposed_ports=self.state.exposed_ports,
                    reason="backend_unavailable",
                    context={"backend": "wasibox", "detail": str(e)},
                    cause=e,
                ) from e
        return ExposedPortEndpoint(host="127.0.0.1", port=self._exposed[port].port, tls=False)

    async def _validate_manifest_application(
        self,
        *,
        only_ephemeral: bool = False,
        manifest: Manifest | None = None,
        session_running: bool | None = None,
    ) -> None:
        await super()._validate_manifest_application(
            only_ephemeral=only_ephemeral, manifest=manifest, session_running=session_running
        )
        _check_manifest(manifest or self.state.manifest)

    def _runtime_helpers(self) -> tuple[RuntimeHelperScript, ...]:
        return (RESOLVE_WORKSPACE_PATH_HELPER,)

    # Commands.

    def _prepare_exec_command(
        self, *command: str | Path, shell: bool | list[str], user: str | User | None
    ) -> list[str]:
        name = user.name if isinstance(user, User) else user
        if name is not None and name not in _USERS:
            raise ValueError(f"commands run as the user 'user', not as {name!r}: there is no other")
        return super()._prepare_exec_command(*command, shell=shell, user=None)

    async def _surroundings(self) -> dict[str, Any]:
        """Returns the directory and the environment of commands."""
        return {
            "cwd": sandbox_path_str(self.state.manifest.root),
            "env": await self.state.manifest.environment.resolve(),
        }

    async def _exec_internal(
        self, *command: str | Path, timeout: float | None = None
    ) -> ExecResult:
        argv = [str(part) for part in command]
        try:
            outcome = await self.wasibox.exec(
                argv,
                **await self._surroundings(),
                timeout=None if timeout is None else max(timeout, 0.001),
                max_output=_OUTPUT,
                list_files=False,
            )
        except NotFoundError as e:
            return ExecResult(stdout=b"", stderr=f"{e}\n".encode(), exit_code=127)
        except PermissionError as e:
            return ExecResult(stdout=b"", stderr=f"{e}\n".encode(), exit_code=126)
        except WasiboxError as e:
            await self._raise_if_root_is_gone()
            raise ExecTransportError(command=command, cause=e, message=str(e)) from e
        if outcome.limit_hit == "timeout":
            raise ExecTimeoutError(command=command, timeout_s=timeout)
        return ExecResult(
            stdout=outcome.stdout_bytes, stderr=outcome.stderr_bytes, exit_code=outcome.exit_code
        )

    async def _raise_if_root_is_gone(self) -> None:
        root = sandbox_path_str(self.state.manifest.root)
        if not self.wasibox.sync.closed and not await self.wasibox.exists(root):
            raise WorkspaceRootNotFoundError(path=posix_path_for_error(root))

    def supports_pty(self) -> bool:
        """Returns true: processes may continue from call to call, and with ``tty`` have a terminal."""
        return True

    async def pty_exec_start(
        self,
        *command: str | Path,
        timeout: float | None = None,
        shell: bool | list[str] = True,
        user: str | User | None = None,
        tty: bool = False,
        yield_time_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> PtyExecUpdate:
        """Begins a process, and returns the output of its first ``yield_time_s`` seconds."""
        argv = self._prepare_exec_command(*command, shell=shell, user=user)
        return await self._processes.begin(
            argv,
            **await self._surroundings(),
            tty=tty,
            seconds=yield_time_s,
            max_tokens=max_output_tokens,
        )

    async def pty_write_stdin(
        self,
        *,
        session_id: int,
        chars: str,
        yield_time_s: float | None = None,
        max_output_tokens: int | None = None,
    ) -> PtyExecUpdate:
        """Writes to a process, and returns its output of the next ``yield_time_s`` seconds."""
        entry = self._resolve_pty_session_entry(
            pty_processes=self._processes.alive, session_id=session_id
        )
        return await self._processes.write(
            session_id, entry, chars, seconds=yield_time_s, max_tokens=max_output_tokens
        )

    async def pty_terminate_all(self) -> None:
        """Ends all processes."""
        await self._processes.end_all()

    # Files.

    async def _validate_path_access(self, path: Path | str, *, for_write: bool = False) -> Path:
        return await self._validate_remote_path_access(path, for_write=for_write)

    async def read(self, path: Path | str, *, user: str | User | None = None) -> io.IOBase:
        """Returns the contents of a file."""
        within = await self._of_user(path, user)
        try:
            return io.BytesIO(await self.wasibox.read(sandbox_path_str(within)))
        except WasiboxError as e:
            raise _reading(path, e) from e

    async def _read_bounded(self, path: Path, *, max_bytes: int) -> bytes:
        within = sandbox_path_str(await self._validate_path_access(path))
        read = bytearray()
        try:
            while len(read) < max_bytes:
                part = await self._processes.download(within, len(read), max_bytes - len(read))
                if not part:
                    break
                read += part
        except WasiboxError as e:
            raise _reading(path, e) from e
        return bytes(read)

    async def write(
        self, path: Path | str, data: io.IOBase, *, user: str | User | None = None
    ) -> None:
        """Replaces the contents of a file. Missing folders above it are created."""
        error_path = posix_path_as_path(coerce_posix_path(path))
        content = data.read()
        if isinstance(content, str):
            content = content.encode()
        if not isinstance(content, (bytes, bytearray)):
            raise WorkspaceWriteTypeError(path=error_path, actual_type=type(content).__name__)
        within = await self._of_user(path, user, for_write=True)
        try:
            await self.wasibox.write(sandbox_path_str(within), content)
        except WasiboxError as e:
            raise WorkspaceArchiveWriteError(path=within, cause=e) from e

    async def _of_user(
        self, path: Path | str, user: str | User | None, *, for_write: bool = False
    ) -> Path:
        # There is only one user, and file requests have that user's permissions. This refuses
        # others.
        self._prepare_exec_command("true", shell=False, user=user)
        return await self._validate_path_access(path, for_write=for_write)

    # The workspace as a whole.

    async def persist_workspace(self) -> io.IOBase:
        """Returns the workspace as a tar archive."""
        root = self._workspace_root_path()
        archive = f"/tmp/.wasibox-persist-{self.state.session_id.hex}.tar"
        excluded = " ".join(shell_tar_exclude_args(self._persist_workspace_skip_relpaths()))
        script = f'tar {excluded} -C "$1" -cf "$2" .'
        try:
            result = await self._exec_internal("sh", "-c", script, "sh", str(root), archive)
            if not result.ok():
                why = result.stderr.decode("utf-8", "replace")
                raise WorkspaceArchiveReadError(
                    path=root, context={"reason": "tar_failed", "output": why}, retryable=False
                )
            return io.BytesIO(await self.wasibox.read(archive))
        except (WasiboxError, ExecTransportError) as e:
            raise WorkspaceArchiveReadError(path=root, cause=e) from e
        finally:
            await self._forget(archive)

    async def hydrate_workspace(self, data: io.IOBase) -> None:
        """Fills the workspace from a tar archive, none of whose members may lead out of it."""
        root = self._workspace_root_path()
        archive = f"/tmp/.wasibox-hydrate-{self.state.session_id.hex}.tar"
        content = data.read()
        if isinstance(content, str):
            content = content.encode()
        if not isinstance(content, (bytes, bytearray)):
            raise WorkspaceWriteTypeError(path=root, actual_type=type(content).__name__)
        try:
            validate_tar_bytes(bytes(content), allow_external_symlink_targets=False)
        except UnsafeTarMemberError as e:
            context = {"reason": "unsafe_or_invalid_tar", "member": e.member, "detail": str(e)}
            raise WorkspaceArchiveWriteError(path=root, context=context, cause=e) from e
        try:
            await self.wasibox.make_dir(str(root))
            await self.wasibox.write(archive, content)
            result = await self._exec_internal("tar", "-C", str(root), "-xf", archive)
            if not result.ok():
                why = result.stderr.decode("utf-8", "replace")
                raise WorkspaceArchiveWriteError(
                    path=root, context={"reason": "tar_extract_failed", "output": why}
                )
        except (WasiboxError, ExecTransportError) as e:
            raise WorkspaceArchiveWriteError(path=root, cause=e) from e
        finally:
            await self._forget(archive)

    async def _forget(self, path: str) -> None:
        try:
            await self.wasibox.delete(path)
        except WasiboxError:
            # The file was never written, or the session is closed.
            pass


class WasiboxSandboxClient(BaseSandboxClient[WasiboxSandboxClientOptions | None]):
    """Makes sandboxes. Each of them has a session of its own."""

    backend_id = "wasibox"
    supports_default_options = True

    def __init__(
        self,
        *,
        store: StrPath | None = None,
        policy: StrPath | Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        mounts: Mounts | None = None,
        network: str | Sequence[str] | Network | None = None,
        engine: Engine | None = None,
        instrumentation: Instrumentation | None = None,
        dependencies: Dependencies | None = None,
    ) -> None:
        """Takes the grants of all sandboxes, as options of :class:`wasibox.Session`.

        Without a store, a sandbox is lost when it is shut down. Only the snapshot of its workspace
        that the framework takes remains.
        """
        self._store = store
        self._grants: dict[str, Any] = {"policy": policy, "limits": limits, "network": network}
        self._mounts: Mounts = dict(mounts or {})
        self._engine = engine
        self._instrumentation = instrumentation or Instrumentation()
        self._dependencies = dependencies

    async def _open(
        self, name: str, manifest: Manifest, open: Literal["any", "create", "open"]
    ) -> AsyncSession:
        return await AsyncSession.create(
            store=self._store,
            name=name if self._store is not None else None,
            open=open,
            mounts={**self._mounts, **_granted(manifest)},
            engine=self._engine,
            **self._grants,
        )

    async def create(
        self,
        *,
        snapshot: SnapshotSpec | SnapshotBase | None = None,
        manifest: Manifest | None = None,
        options: WasiboxSandboxClientOptions | None = None,
    ) -> SandboxSession:
        """Creates a sandbox."""
        options = options or WasiboxSandboxClientOptions()
        if options.keep and self._store is None:
            raise ValueError("keep=True needs a client with a store")
        manifest = self._validate_manifest_for_create(manifest or Manifest())
        _check_manifest(manifest)
        session_id = uuid.uuid4()
        state = WasiboxSandboxSessionState(
            session_id=session_id,
            manifest=manifest,
            snapshot=resolve_snapshot(snapshot, str(session_id)),
            name=options.name or f"agents-{session_id.hex}",
            keep=options.keep,
            exposed_ports=options.exposed_ports,
        )
        session = await self._open(state.name, manifest, "create")
        return self._wrap(state, session)

    def _wrap(self, state: WasiboxSandboxSessionState, session: AsyncSession) -> SandboxSession:
        inner = WasiboxSandboxSession(state=state, session=session)
        return self._wrap_session(inner, instrumentation=self._instrumentation)

    async def resume(self, state: SandboxSessionState) -> SandboxSession:
        """Returns the sandbox of a state.

        This is the session in the store if it exists, otherwise a new one, which is filled from the
        snapshot.
        """
        if not isinstance(state, WasiboxSandboxSessionState):
            raise TypeError("WasiboxSandboxClient.resume expects a WasiboxSandboxSessionState")
        state.assert_path_grants_rebound()
        _check_manifest(state.manifest)
        is_there = False
        session = None
        if self._store is not None:
            try:
                session = await self._open(state.name, state.manifest, "open")
                is_there = True
            except NotFoundError:
                pass
        if session is None:
            session = await self._open(state.name, state.manifest, "create")
            state.workspace_root_ready = False
        resumed = self._wrap(state, session)
        resumed._inner._set_start_state_preserved(is_there)
        return resumed

    async def delete(self, session: SandboxSession) -> SandboxSession:
        """Shuts down a sandbox, and removes its session from the store unless ``keep`` is set."""
        inner = session._inner
        if not isinstance(inner, WasiboxSandboxSession):
            raise TypeError("WasiboxSandboxClient.delete expects a WasiboxSandboxSession")
        if not inner.wasibox.sync.closed:
            await inner.shutdown()
        if self._store is not None and not inner.state.keep:
            engine = self._engine or default_engine()
            try:
                await asyncio.to_thread(engine.remove, self._store, inner.state.name)
            except NotFoundError:
                pass
        return session

    def deserialize_session_state(self, payload: dict[str, object]) -> SandboxSessionState:
        """Returns the state that ``serialize_session_state`` has serialized."""
        return self._deserialize_session_state_payload(payload, WasiboxSandboxSessionState)


def _granted(manifest: Manifest) -> dict[str, StrPath | Mount]:
    """Returns the host folders that a manifest grants, as mounts."""
    return {
        grant.path: Mount(sandbox_path_grant_host_path(grant), writable=not grant.read_only)
        for grant in manifest.extra_path_grants
        if grant.host_path is not None
    }


def _check_manifest(manifest: Manifest) -> None:
    """Refuses a manifest that would fail halfway: buckets need FUSE, and accounts need root."""
    if manifest.users or manifest.groups:
        raise ValueError("wasibox has no users or groups but its own: commands run as 'user'")
    for path, entry in manifest.iter_entries():
        if isinstance(entry, MountEntry):
            raise MountConfigError(
                message="wasibox mounts no buckets: grant a host folder by extra_path_grants",
                context={"path": path.as_posix(), "type": entry.type},
            )


def _reading(path: Path | str, error: WasiboxError) -> Exception:
    """Returns the framework's exception for a file that cannot be read."""
    error_path = posix_path_as_path(coerce_posix_path(path))
    if isinstance(error, FileNotFoundError):
        return WorkspaceReadNotFoundError(path=error_path, cause=error)
    context = {"code": error.code} if isinstance(error, FileError) else {}
    return WorkspaceArchiveReadError(path=error_path, context=context, cause=error)
