"""The sandbox client for the OpenAI Agents SDK.

The tests are those of the SDK's own providers, and runs of agents with a scripted model.
"""

from __future__ import annotations

import asyncio
import io
import itertools
import json
import tarfile
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("agents")

import agents
import wasibox
from agents import RunConfig, Runner, RunState, function_tool
from agents.sandbox import LocalSnapshotSpec, Manifest, SandboxAgent, SandboxPathGrant, SandboxRunConfig
from agents.sandbox.capabilities import Filesystem, Shell
from agents.sandbox.entries import Dir, File, LocalDir, LocalFile, S3Mount
from agents.sandbox.entries.mounts import InContainerMountStrategy, RcloneMountPattern
from agents.sandbox.errors import (
    ExecNonZeroError,
    ExecTimeoutError,
    ExecTransportError,
    ExposedPortUnavailableError,
    InvalidManifestPathError,
    MountConfigError,
    PtySessionNotFoundError,
    WorkspaceArchiveReadError,
    WorkspaceArchiveWriteError,
    WorkspaceReadNotFoundError,
    WorkspaceWriteTypeError,
)
from agents.sandbox.files import EntryKind
from agents.sandbox.types import User
from agents.testing import ScriptedModel, assistant_message, function_call
from wasibox.adapters.openai_agents import (
    WasiboxSandboxClient,
    WasiboxSandboxClientOptions,
    WasiboxSandboxSession,
)

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def no_traces():
    agents.set_tracing_disabled(True)


@pytest.fixture
async def sandbox():
    async with await WasiboxSandboxClient().create() as session:
        yield session


def tar(**members: bytes) -> io.BytesIO:
    """Returns a tar archive of files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return io.BytesIO(out.getvalue())


async def text(session, path: str) -> str:
    return (await session.read(Path(path))).read().decode()


async def asleep(session) -> bool:
    """Returns whether a `sleep` still runs. A killed process takes a moment to end."""
    for _ in range(50):
        if (await session.exec("ps | grep -q '[s]leep'")).exit_code:
            return False
        await asyncio.sleep(0.02)
    return True


# Commands.


async def test_commands_run_in_the_workspace_with_the_manifests_variables():
    manifest = Manifest(environment={"value": {"GREETING": "hello world"}})
    async with await WasiboxSandboxClient().create(manifest=manifest) as s:
        done = await s.exec("pwd; echo $GREETING; echo e >&2; exit 3")
        assert (done.stdout, done.stderr, done.exit_code) == (b"/workspace\nhello world\n", b"e\n", 3)
        assert not done.ok()
        # Without a shell, arguments are passed as they are.
        assert (await s.exec("printf", "%s|", "a b", "$HOME", shell=False)).stdout == b"a b|$HOME|"
        # Each command has a shell of its own, so the next one has none of its state.
        await s.exec("cd /; export GREETING=bye")
        assert (await s.exec("pwd; echo $GREETING")).stdout == b"/workspace\nhello world\n"
        assert (await s.exec("echo $0", shell=["bash", "-c"])).stdout == b"bash\n"
        missing = await s.exec("no-such-command", shell=False)
        assert missing.exit_code == 127 and b"no-such-command" in missing.stderr


async def test_bytes_come_as_they_are(sandbox):
    assert (await sandbox.exec("printf '\\377\\000a'")).stdout == b"\xff\x00a"


async def test_timeouts_end_the_command(sandbox):
    with pytest.raises(ExecTimeoutError) as e:
        await sandbox.exec("while :; do :; done", timeout=0.3)
    assert e.value.timeout_s == 0.3
    assert (await sandbox.exec("ps")).stdout.count(b" sh\n") == 1


async def test_cancelling_ends_the_command(sandbox):
    task = asyncio.create_task(sandbox.exec("sleep 60; touch late"))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await sandbox.exec("ls")).stdout == b""


async def test_there_is_one_user(sandbox):
    assert (await sandbox.exec("id -un", user=User(name="user"))).stdout == b"user\n"
    with pytest.raises(ValueError, match="root"):
        await sandbox.exec("true", user="root")
    with pytest.raises(ValueError, match="root"):
        await sandbox.read(Path("a"), user="root")
    manifest = Manifest(users=[User(name="someone")])
    with pytest.raises(ValueError, match="users"):
        await WasiboxSandboxClient().create(manifest=manifest)


# Files.


async def test_files(sandbox):
    await sandbox.write(Path("d/e/a.txt"), io.BytesIO(b"one\n"))
    assert await text(sandbox, "d/e/a.txt") == "one\n"
    assert await text(sandbox, "/workspace/d/e/a.txt") == "one\n"
    assert await sandbox.read_bounded(Path("d/e/a.txt"), max_bytes=2) == b"on"
    assert await sandbox.read_bounded(Path("d/e/a.txt"), max_bytes=200) == b"one\n"
    big = bytes(range(256)) * 12_000
    await sandbox.write(Path("big"), io.BytesIO(big))
    assert await sandbox.read_bounded(Path("big"), max_bytes=2_500_000) == big[:2_500_000]
    (entry,) = await sandbox.ls("d/e")
    assert (entry.path, entry.kind, entry.size) == ("/workspace/d/e/a.txt", EntryKind.FILE, 4)
    await sandbox.mkdir("f/g", parents=True)
    with pytest.raises(ExecNonZeroError):
        await sandbox.mkdir("x/y")
    await sandbox.mv("d/e/a.txt", "f/b.txt")
    assert await sandbox.same_file("f/b.txt", "f/../f/b.txt")
    assert not await sandbox.same_file("f/b.txt", "f/g")
    with pytest.raises(ExecNonZeroError):
        await sandbox.mv("f/b.txt", "d")
    with pytest.raises(ExecNonZeroError):
        await sandbox.rm("f")
    await sandbox.rm("f", recursive=True)
    with pytest.raises(WorkspaceReadNotFoundError):
        await sandbox.read(Path("f/b.txt"))
    with pytest.raises(WorkspaceArchiveReadError):
        await sandbox.read(Path("d"))
    with pytest.raises(WorkspaceArchiveWriteError):
        await sandbox.write(Path("d"), io.BytesIO(b""))
    with pytest.raises(WorkspaceWriteTypeError):
        await sandbox._inner.write(Path("a"), type("Odd", (io.IOBase,), {"read": lambda self: 1})())


async def test_paths_stay_within_the_workspace(sandbox):
    await sandbox.exec("echo secret > /tmp/outside; ln -s /tmp/outside link; ln -s /tmp up; ln -s a b; ln -s b a")
    for path in ("../tmp/outside", "/tmp/outside", "link", "up/outside"):
        with pytest.raises(InvalidManifestPathError):
            await sandbox.read(Path(path))
        with pytest.raises(InvalidManifestPathError):
            await sandbox.write(Path(path), io.BytesIO(b"x"))
    with pytest.raises(ExecNonZeroError):
        await sandbox.read(Path("a"))
    with pytest.raises(InvalidManifestPathError):
        await sandbox.mkdir("up/new")
    assert (await sandbox.exec("cat /tmp/outside; ls /tmp/new")).stdout == b"secret\n"


async def test_granted_paths(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a").write_text("from outside\n")
    (tmp_path / "out").mkdir()
    grants = (
        SandboxPathGrant(path="/data", host_path=str(tmp_path / "in"), read_only=True),
        SandboxPathGrant(path="/out", host_path=str(tmp_path / "out")),
        SandboxPathGrant(path="/tmp"),
    )
    client = WasiboxSandboxClient()
    async with await client.create(manifest=Manifest(extra_path_grants=grants)) as s:
        assert await text(s, "/data/a") == "from outside\n"
        await s.write(Path("/out/b"), io.BytesIO(b"from inside\n"))
        await s.write(Path("/tmp/c"), io.BytesIO(b""))
        with pytest.raises(WorkspaceArchiveWriteError):
            await s.write(Path("/data/b"), io.BytesIO(b""))
        # Commands have no more access than the framework's own methods.
        assert (await s.exec("echo > /data/a")).exit_code != 0
        state = client.serialize_session_state(s.state)
    assert (tmp_path / "out/b").read_text() == "from inside\n"
    assert (tmp_path / "in/a").read_text() == "from outside\n"
    # Host folders are not part of the serialized state, and must be granted again.
    assert str(tmp_path) not in json.dumps(state)
    with pytest.raises(ValueError):
        await client.resume(client.deserialize_session_state(state))


async def test_archives_are_extracted(sandbox):
    await sandbox.extract("deep/a.tar", tar(**{"x/y.txt": b"y"}))
    assert await text(sandbox, "deep/x/y.txt") == "y"


# Manifests.


async def test_manifests_are_materialized(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src/sub").mkdir(parents=True)
    (tmp_path / "src/one").write_bytes(b"1")
    (tmp_path / "src/sub/two").write_bytes(b"2")
    (tmp_path / "file").write_bytes(b"f")
    entries = {
        "inline.txt": File(content=b"inline"),
        "tree": Dir(children={"leaf": File(content=b"leaf"), "temporary": File(content=b"t", ephemeral=True)}),
        "copied": LocalDir(src=Path("src")),
        "copied.txt": LocalFile(src=Path("file")),
    }
    async with await WasiboxSandboxClient().create(manifest=Manifest(entries=entries)) as s:
        found = (await s.exec("find . -type f | sort | xargs grep -H .")).stdout.decode()
        assert found == (
            "./copied.txt:f\n./copied/one:1\n./copied/sub/two:2\n"
            "./inline.txt:inline\n./tree/leaf:leaf\n./tree/temporary:t\n"
        )


async def test_buckets_are_refused_before_anything_is_made():
    bucket = S3Mount(bucket="b", mount_strategy=InContainerMountStrategy(pattern=RcloneMountPattern()))
    with pytest.raises(MountConfigError):
        await WasiboxSandboxClient().create(manifest=Manifest(entries={"data": bucket}))


async def test_ports_are_exposed_if_the_options_name_them(sandbox):
    with pytest.raises(ExposedPortUnavailableError):
        await sandbox.resolve_exposed_port(80)
    client = WasiboxSandboxClient()
    options = WasiboxSandboxClientOptions(exposed_ports=(8000,))
    async with await client.create(options=options) as exposing:
        inner = exposing._inner.wasibox
        server = await inner.start_process(["python3", "-m", "http.server", "8000"], cwd="/")
        assert (await inner.read_process(server.process, port=8000, wait=60)).found
        endpoint = await exposing.resolve_exposed_port(8000)
        assert endpoint.host == "127.0.0.1" and not endpoint.tls
        assert await exposing.resolve_exposed_port(8000) == endpoint
        page = await asyncio.to_thread(urllib.request.urlopen, endpoint.url_for("http"))
        assert b"Directory listing for /" in page.read()
        with pytest.raises(ExposedPortUnavailableError):
            await exposing.resolve_exposed_port(8001)


# Snapshots and resuming.


async def test_a_snapshot_fills_another_sandbox(tmp_path):
    client = WasiboxSandboxClient()
    entries = {"kept": File(content=b"1"), "temporary": File(content=b"2", ephemeral=True)}
    session = await client.create(
        manifest=Manifest(entries=entries), snapshot=LocalSnapshotSpec(base_path=tmp_path)
    )
    async with session:
        await session.exec(
            "mkdir -p bin 'with space'; printf '#!/bin/sh\\necho ran\\n' > bin/run; chmod 750 bin/run;"
            "ln -s bin/run link; echo x > 'with space/f'; echo later > kept; : > temporary"
        )
    await client.delete(session)
    assert not await session.running()
    with pytest.raises(ExecTransportError):
        await session.exec("true")
    state = client.deserialize_session_state(client.serialize_session_state(session.state))
    async with await client.resume(state) as again:
        done = await again.exec("./link; stat -c %a bin/run; cat 'with space/f' kept temporary; readlink link")
        # The manifest creates ephemeral files again.
        assert done.stdout == b"ran\n750\nx\nlater\n2bin/run\n", done.stderr


@pytest.mark.parametrize("name", ["../out", "/abs"])
async def test_archives_that_lead_out_are_refused(sandbox, name):
    with pytest.raises(WorkspaceArchiveWriteError):
        await sandbox.hydrate_workspace(tar(**{name: b""}))
    assert (await sandbox.exec("ls -A . /tmp/.wasibox* /out /abs 2> /dev/null")).stdout == b".:\n"


async def test_a_session_in_a_store_is_found_again(tmp_path):
    client = WasiboxSandboxClient(store=tmp_path / "s.wbx")
    snapshot = LocalSnapshotSpec(base_path=tmp_path)
    session = await client.create(snapshot=snapshot, options=WasiboxSandboxClientOptions(keep=True))
    async with session:
        await session.exec("echo 1 > a; echo 2 > /tmp/beside")
    await client.delete(session)
    state = client.deserialize_session_state(client.serialize_session_state(session.state))
    # Another client opens the session, as another process would.
    other = WasiboxSandboxClient(store=tmp_path / "s.wbx")
    again = await other.resume(state)
    async with again:
        # A snapshot of the workspace does not have the second file.
        assert (await again.exec("cat a /tmp/beside")).stdout == b"1\n2\n"
    # If the files have changed since the state was taken, a resumed run gets those of its snapshot.
    changed = await other.resume(state)
    await changed._inner.wasibox.exec("echo other > /workspace/a")
    async with changed:
        assert (await changed.exec("cat a")).stdout == b"1\n"
    changed.state.keep = False
    await other.delete(changed)
    assert wasibox.default_engine().sessions(tmp_path / "s.wbx") == []
    # Without the session, the workspace is filled from the snapshot.
    state.keep = False
    async with await other.resume(state) as filled:
        assert (await filled.exec("cat a /tmp/beside")).stdout == b"1\n"


async def test_options_go_through_json():
    options = WasiboxSandboxClientOptions(name="a", keep=True)
    assert WasiboxSandboxClientOptions.parse(json.loads(options.model_dump_json())) == options
    with pytest.raises(ValueError, match="store"):
        await WasiboxSandboxClient().create(options=options)


# Processes that keep running.


async def test_a_process_reads_what_is_typed(sandbox):
    script = "IFS= read -r line; printf 'got:%s\\n' \"$line\"; exit 5"
    begun = await sandbox.pty_exec_start("sh", "-c", script, shell=False, tty=True, yield_time_s=0.25)
    assert begun.process_id is not None and begun.exit_code is None and begun.output == b""
    # Meanwhile, the sandbox runs other commands.
    assert (await sandbox.exec("echo on")).stdout == b"on\n"
    told = await sandbox.pty_write_stdin(session_id=begun.process_id, chars="hello there\n", yield_time_s=5)
    assert told.output == b"hello there\r\ngot:hello there\r\n"
    assert (told.process_id, told.exit_code) == (None, 5)
    for gone in (begun.process_id, 999_999):
        with pytest.raises(PtySessionNotFoundError):
            await sandbox.pty_write_stdin(session_id=gone, chars="")
    assert (await sandbox.exec("ls -A /tmp")).stdout == b"openai-agents\n"
    assert not await asleep(sandbox)


async def test_output_comes_while_a_process_runs(sandbox):
    begun = await sandbox.pty_exec_start(
        "echo out; echo err >&2; sleep 1; echo $PWD; exit 4", tty=False, yield_time_s=0.3
    )
    assert begun.process_id is not None and begun.output == b"out\nerr\n"
    with pytest.raises(RuntimeError, match="stdin is not available for this process"):
        await sandbox.pty_write_stdin(session_id=begun.process_id, chars="x")
    ended = await sandbox.pty_write_stdin(session_id=begun.process_id, chars="", yield_time_s=5)
    assert (ended.process_id, ended.exit_code, ended.output) == (None, 4, b"/workspace\n")


async def test_short_commands_end_at_once(sandbox):
    done = await sandbox.pty_exec_start("seq 100000 | tail -n 1", yield_time_s=10)
    assert (done.process_id, done.exit_code, done.output) == (None, 0, b"100000\n")
    many = await sandbox.pty_exec_start("seq 300000", yield_time_s=10)
    assert many.output.decode().split() == [str(n) for n in range(1, 300_001)]
    cut = await sandbox.pty_exec_start("seq 300000", yield_time_s=10, max_output_tokens=50)
    assert cut.original_token_count is not None and len(cut.output) < 1000
    missing = await sandbox.pty_exec_start("no-such-command", shell=False, yield_time_s=10)
    assert missing.exit_code == 127 and b"not found" in missing.output


@pytest.mark.parametrize(("char", "status"), [("\x03", 130), ("\x1c", 131)])
async def test_keys_that_are_signals(sandbox, char, status):
    begun = await sandbox.pty_exec_start("sleep", "30", shell=False, tty=True, yield_time_s=0.25)
    ended = await sandbox.pty_write_stdin(session_id=begun.process_id, chars=char, yield_time_s=5.5)
    assert (ended.process_id, ended.exit_code) == (None, status)


async def test_the_key_that_is_the_end_of_input(sandbox):
    begun = await sandbox.pty_exec_start("wc", "-l", shell=False, tty=True, yield_time_s=0.25)
    ended = await sandbox.pty_write_stdin(session_id=begun.process_id, chars="a\nb\n\x04", yield_time_s=5)
    assert ended.exit_code == 0 and ended.output == b"a\r\nb\r\n2\r\n"


async def test_an_interpreter_is_talked_to(sandbox):
    begun = await sandbox.pty_exec_start("python3 -q", tty=True, yield_time_s=3)
    assert b">>> " in begun.output
    await sandbox.pty_write_stdin(session_id=begun.process_id, chars="x = 6\n", yield_time_s=1)
    told = await sandbox.pty_write_stdin(session_id=begun.process_id, chars="x * 7\n", yield_time_s=1)
    assert b"42\r\n" in told.output
    ended = await sandbox.pty_write_stdin(session_id=begun.process_id, chars="exit(3)\n", yield_time_s=5)
    assert ended.exit_code == 3


async def test_what_stops_ends_processes():
    client = WasiboxSandboxClient()
    session = await client.create()
    await session.start()
    begun = await session.pty_exec_start("sh -c 'sleep 60 & echo ready; wait'", tty=True, yield_time_s=1)
    assert b"ready" in begun.output
    await session.stop()
    with pytest.raises(PtySessionNotFoundError):
        await session.pty_write_stdin(session_id=begun.process_id, chars="")
    assert not await asleep(session)
    await session.shutdown()
    assert not await session.running()


async def test_a_process_that_vanishes_has_ended():
    session = await WasiboxSandboxClient().create()
    async with session:
        begun = await session.pty_exec_start("sleep 60", yield_time_s=0.25)
        await session._inner.wasibox.park()
        ended = await session.pty_write_stdin(session_id=begun.process_id, chars="", yield_time_s=5)
        assert (ended.process_id, ended.exit_code) == (None, 137)


async def test_a_process_has_a_terminal():
    manifest = Manifest(environment={"value": {"GREETING": "hello"}})
    async with await WasiboxSandboxClient().create(manifest=manifest) as s:
        told = await s.pty_exec_start(
            "tty; stty size; echo $TERM $GREETING $PWD", tty=True, yield_time_s=10
        )
        shown = b"/dev/pts/0\r\n24 80\r\nxterm-256color hello /workspace\r\n"
        assert (told.output, told.exit_code) == (shown, 0)
        without = await s.pty_exec_start("test -t 0 || test -t 1; echo $?; cat", yield_time_s=10)
        assert (without.output, without.exit_code) == (b"1\n", 0)
        missing = await s.pty_exec_start("no-such-command", shell=False, tty=True, yield_time_s=10)
        assert missing.exit_code == 127 and b"not found" in missing.output


async def test_a_shell_has_job_control(sandbox):
    begun = await sandbox.pty_exec_start("bash", "--norc", shell=False, tty=True, yield_time_s=1)
    shell = begun.process_id

    async def type_keys(chars: str) -> bytes:
        return (await sandbox.pty_write_stdin(session_id=shell, chars=chars, yield_time_s=1)).output

    await type_keys("sleep 60\n")
    assert b"Stopped" in await type_keys("\x1a")
    assert b"sleep 60" in await type_keys("fg\n")
    await type_keys("\x03")
    assert b"status 130" in await type_keys("echo status $?\n")
    assert b"no jobs" in await type_keys("test -z \"$(jobs)\" && echo no jobs\n")
    ended = await sandbox.pty_write_stdin(session_id=shell, chars="exit 7\n", yield_time_s=5)
    assert (ended.process_id, ended.exit_code) == (None, 7)


async def test_output_that_nobody_reads_is_bounded(sandbox):
    begun = await sandbox.pty_exec_start("sleep 1; seq 400000; sleep 60", tty=True, yield_time_s=0.25)
    await asyncio.sleep(4)
    late = await sandbox.pty_write_stdin(session_id=begun.process_id, chars="", yield_time_s=5)
    note, rest = late.output.split(b" bytes are no longer kept]\r\n", 1)
    # Each of the lines has two bytes for its end.
    written = sum(len(str(n)) + 2 for n in range(1, 400_001))
    assert int(note.removeprefix(b"\r\n[")) + len(rest) == written
    assert rest.endswith(b"\r\n399999\r\n400000\r\n")


# Agents.


def agent(*steps, tools=(), capabilities=None, manifest=None) -> SandboxAgent:
    return SandboxAgent(
        name="worker",
        instructions="Work.",
        model=ScriptedModel([*steps]),
        tools=[*tools],
        capabilities=capabilities or [Filesystem(), Shell()],
        default_manifest=manifest,
    )


CALLS = itertools.count()


def call(name: str, **arguments):
    return [function_call(name, arguments, call_id=f"call-{next(CALLS)}")]


def outputs(result) -> list[str]:
    return [str(item.output) for item in result.new_items if item.type == "tool_call_output_item"]


async def test_an_agent_works():
    worker = agent(
        call("exec_command", cmd="cat data.csv | python3 -c 'import sys; print(sum(map(int, sys.stdin)))'"),
        call("exec_command", cmd="cat", tty=True, yield_time_ms=250),
        call("exec_command", cmd="pwd", workdir="sub"),
        [assistant_message("done")],
        manifest=Manifest(entries={"data.csv": File(content=b"1\n2\n39\n"), "sub": Dir()}),
    )
    config = RunConfig(sandbox=SandboxRunConfig(client=WasiboxSandboxClient()))
    result = await Runner.run(worker, "go", run_config=config)
    assert result.final_output == "done"
    summed, waiting, where = outputs(result)
    assert "exited with code 0" in summed and summed.endswith("42\n")
    assert "Process running with session ID" in waiting
    assert where.endswith("/workspace/sub\n")


async def test_an_agent_that_is_paused_goes_on(tmp_path):
    @function_tool(needs_approval=True)
    def approve() -> str:
        return "approved"

    client = WasiboxSandboxClient()
    steps = [call("exec_command", cmd="echo kept > note"), call("approve")]
    first = agent(*steps, tools=[approve])
    sandbox = SandboxRunConfig(client=client, snapshot=LocalSnapshotSpec(base_path=tmp_path))
    result = await Runner.run(first, "go", run_config=RunConfig(sandbox=sandbox))
    (interruption,) = result.interruptions
    assert interruption.name == "approve"
    written = result.to_state().to_json()
    assert written["sandbox"]["backend_id"] == "wasibox"

    later = agent(call("exec_command", cmd="cat note"), [assistant_message("done")], tools=[approve])
    state = await RunState.from_json(later, json.loads(json.dumps(written)))
    state.approve(state.get_interruptions()[0])
    result = await Runner.run(later, state, run_config=RunConfig(sandbox=SandboxRunConfig(client=client)))
    assert result.final_output == "done" and outputs(result)[-1].endswith("kept\n")


async def test_patches_are_applied(sandbox):
    await sandbox.write(Path("a.txt"), io.BytesIO(b"one\ntwo\n"))
    operations = [
        {"type": "update_file", "path": "a.txt", "diff": "@@\n one\n-two\n+TWO\n"},
        {"type": "create_file", "path": "new/b.txt", "diff": "+made\n"},
    ]
    assert await sandbox.apply_patch(operations) == "Done!"
    assert await text(sandbox, "a.txt") == "one\nTWO\n"
    assert (await text(sandbox, "new/b.txt")).strip() == "made"
    await sandbox.apply_patch([{"type": "delete_file", "path": "a.txt"}])
    assert {Path(entry.path).name for entry in await sandbox.ls(".")} == {"new"}


async def test_many_sandboxes_at_once():
    client = WasiboxSandboxClient()

    async def one(n: int) -> bytes:
        async with await client.create() as s:
            await s.write(Path("n"), io.BytesIO(str(n).encode()))
            return (await s.exec("cat n")).stdout

    assert await asyncio.gather(*(one(n) for n in range(20))) == [str(n).encode() for n in range(20)]


async def test_another_clients_session_is_not_deleted(sandbox):
    inner = sandbox._inner
    assert isinstance(inner, WasiboxSandboxSession)
    sandbox._inner = object()
    with pytest.raises(TypeError):
        await WasiboxSandboxClient().delete(sandbox)
    sandbox._inner = inner
