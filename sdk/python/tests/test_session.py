"""Sessions, as a program uses them. The expected output is that of bash, coreutils and CPython."""

from __future__ import annotations

import base64
import copy
import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import wasibox


@pytest.fixture
def s():
    with wasibox.Session() as session:
        yield session


def test_three_lines(s):
    assert s.exec("echo hi | wc -c").stdout == "3\n"
    s.python("x = 41")
    assert s.python("x + 1").value == 42
    s.write("/tmp/a.txt", b"hi")
    assert s.read("/tmp/a.txt") == b"hi"


def test_an_outcome_tells_all(s):
    out = s.exec("cat; echo no >&2; echo x > f; exit 3", stdin="in", env={"A": "b"})
    assert (out.exit_code, out.ok, out.stdout, out.stderr) == (3, False, "in", "no\n")
    assert [(f.path, f.change, f.size) for f in out.files] == [("/home/user/f", "created", 2)]
    assert 0 < out.duration < 60 and out.limit_hit is None and out.commit == s.head
    # Bytes that are not text.
    out = s.exec("printf 'a\\377'")
    assert (out.stdout, out.stdout_bytes) == ("a\ufffd", b"a\xff")
    with pytest.raises(wasibox.CommandError, match="exit code 3: why") as e:
        s.exec("echo why >&2; exit 3", check=True)
    assert e.value.outcome.exit_code == 3
    assert s.exec("true", check=True).ok


def test_records_are_data_classes_to_others():
    made = wasibox.FileChange("a", "created", size=3)
    assert repr(made) == "FileChange(path='a', change='created', size=3, mime_type=None, sha256=None)"
    assert dataclasses.is_dataclass(made) and [f.name for f in dataclasses.fields(made)][:2] == ["path", "change"]
    assert dataclasses.asdict(made)["size"] == 3 and dataclasses.replace(made, size=4).size == 4
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made != dataclasses.replace(made, size=4)
    assert len({made, copy.copy(made)}) == 1
    match made:
        case wasibox.FileChange(path, change):
            assert (path, change) == ("a", "created")
    with pytest.raises(AttributeError):
        made.size = 5  # type: ignore[misc]
    wrong = [lambda: wasibox.Mount(), lambda: wasibox.Mount("a", host="b"), lambda: wasibox.Mount("a", odd=1)]
    for act in [*wrong, lambda: wasibox.Mount("a", True, None, 4)]:
        with pytest.raises(TypeError, match="Mount"):
            act()


def test_the_import_is_light():
    heavy = "{'asyncio', 'dataclasses', 'inspect', 'pathlib', 'typing'}"
    code = f"import sys; old = set(sys.modules); import wasibox; print(({heavy} & set(sys.modules)) - old)"
    # `site` is not loaded, because it runs files of other packages, which may import anything.
    folder = os.path.dirname(os.path.dirname(wasibox.__file__))
    env = {**os.environ, "PYTHONPATH": folder}
    assert subprocess.check_output([sys.executable, "-S", "-c", code], env=env) == b"set()\n"


def test_the_shell_goes_on_and_arguments_are_no_script(s):
    s.exec("cd /tmp; v=1")
    assert (s.exec("echo $v $PWD").stdout, s.cwd) == ("1 /tmp\n", "/tmp")
    assert s.exec(["echo", "$v", "a b"]).stdout == "$v a b\n"
    assert s.exec("pwd", cwd="/usr").stdout == "/usr\n"


def test_limits_end_calls(s):
    began = time.monotonic()
    out = s.exec("sleep 60", timeout=0.2)
    assert (out.exit_code, out.limit_hit) == (124, "timeout") and time.monotonic() - began < 20
    out = s.exec("yes", max_output=1000, timeout=30)
    assert out.truncated and len(out.stdout) == 1000
    with wasibox.Session(limits={"preset": "strict", "processes": 4, "file_size": 10}) as strict:
        assert strict.exec("printf 12345678901 > f").limit_hit == "file_size"


def test_values_of_cells(s):
    assert s.python("{'a': [1, None, 'x']}").value == {"a": [1, None, "x"]}
    out = s.python("print(1); {2}")
    assert (out.stdout, out.value, out.value_repr) == ("1\n", "{2}", "{2}")
    assert s.python("y = 1").value is None
    for code, most, size in [("list(range(100000))", 1000, 688890), ("{'x' * 100000}", None, 65536)]:
        out = s.python(code, max_output=most)
        assert (out.value, out.value_bytes) == (None, size) and len(out.value_repr) < (most or 65536) + 99
    out = s.python("list(range(100000))")
    assert (len(out.value), out.value_bytes) == (100000, None)
    out = s.python("1/0")
    assert out.exit_code == 1 and out.stderr.endswith("ZeroDivisionError: division by zero\n")
    s.python("z = 1")
    s.reset()
    assert "NameError" in s.python("z").stderr


def test_cells_of_javascript(s):
    s.javascript("const x = await Promise.resolve(41)")
    assert s.javascript("x + 1").value == 42
    out = s.javascript("({a: [1, null]})")
    assert (out.value, out.value_repr) == ({"a": [1, None]}, "{ a: [ 1, null ] }")
    assert "ReferenceError" in s.javascript("nothing").stderr
    assert s.javascript("for (;;);", timeout=1).limit_hit == "timeout"


def test_figures_are_shown(s):
    out = s.python("import matplotlib.pyplot as plt; _ = plt.plot([1, 2])", timeout=300)
    assert out.ok, out.stderr
    (figure,) = out.figures
    assert figure.mime_type == "image/png" and figure.data.startswith(b"\x89PNG\r\n")
    bundle = out._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]) == figure.data
    assert bundle["text/html"].count("<img") == 1
    assert s.exec("echo a")._repr_mimebundle_() == {"text/plain": "a"}


def test_files(s):
    s.write("/tmp/d/a.py", "one\ntwo\n", mode=0o600)
    assert s.read_text("/tmp/d/a.py") == "one\ntwo\n"
    assert "TWO" in s.edit("/tmp/d/a.py", "two", "TWO")
    assert s.exec("cat /tmp/d/a.py; stat -c %a /tmp/d/a.py").stdout == "one\nTWO\n600\n"
    (entry,) = s.list("/tmp/d")
    assert (entry.path, entry.kind, entry.size, entry.is_dir) == ("a.py", "file", 8, False)
    assert s.glob("**/*.py", "/tmp") == ["/tmp/d/a.py"]
    (match,) = s.grep("^T", "/tmp/d")
    assert (match.path, match.line, match.text) == ("/tmp/d/a.py", 2, "TWO")
    s.move("/tmp/d/a.py", "/tmp/b.py")
    assert s.exists("/tmp/b.py") and not s.exists("/tmp/d/a.py")
    assert s.delete("/tmp/d", recursive=True) == 1
    patch = "--- a/b.py\n+++ b/b.py\n@@ -1,2 +1,2 @@\n-one\n+1\n TWO\n"
    s.exec("cd /tmp")
    assert s.patch(patch) == ["/tmp/b.py"] and s.read("b.py") == b"1\nTWO\n"
    big = os.urandom(20 << 20)
    s.write("/tmp/big", big)
    assert s.read("/tmp/big") == big
    s.write("/tmp/none", b"")
    assert s.read("/tmp/none") == b""


def test_input_of_any_length(s):
    data = os.urandom(3 << 20)
    assert s.exec("wc -c", stdin=data).stdout == f"{3 << 20}\n"
    assert s.exec("cat", stdin=data).stdout_bytes == data
    # The command does not read its input.
    assert s.exec("true", stdin=data).ok


def test_errors_have_classes(s):
    with pytest.raises(FileNotFoundError) as e:
        s.read("/none")
    assert isinstance(e.value, wasibox.FileError) and e.value.code == "not_found"
    s.write("/tmp/a", "x x")
    with pytest.raises(wasibox.FileError) as e:
        s.edit("/tmp/a", "x", "y")
    assert e.value.code == "ambiguous" and "2 times" in str(e.value)
    for wrong in (dict(timeout=-1), dict(env={"=": "a"}), dict(cwd="tmp")):
        with pytest.raises(wasibox.InvalidError):
            s.exec("true", **wrong)
    for wrong in (dict(limits="lax"), dict(limits={"memorie": 1}), dict(network="what")):
        with pytest.raises(wasibox.InvalidError):
            wasibox.Session(**wrong)
    with pytest.raises(wasibox.NotFoundError):
        s.restore("nothing")
    with pytest.raises(wasibox.NotFoundError):
        s.exec(["no-such-command"])
    with pytest.raises(PermissionError):
        s.exec(["/etc/passwd"])
    s.close()
    with pytest.raises(wasibox.ClosedError):
        s.exec("true")
    assert s.closed and "closed" in repr(s)


def test_history(s):
    s.exec("echo 1 > f")
    one = s.snapshot("one")
    s.exec("echo 2 > f")
    assert s.undo() == one and s.read("f") == b"1\n"
    s.redo()
    assert s.read("f") == b"2\n"
    s.restore("one")
    assert s.read("f") == b"1\n" and s.tags() == {"one": one}
    commits = s.history()
    assert [c.command for c in commits][1:3] == ["echo 1 > f", "echo 2 > f"]
    assert commits[1].tags == ["one"] and abs(commits[1].time - time.time()) < 600
    with pytest.raises(KeyError), s.transaction():
        s.exec("echo 3 > f")
        raise KeyError
    assert s.read("f") == b"1\n"
    assert any("echo 2 > f" in str(entry) for entry in s.log())


def test_forks_share_and_part(s):
    s.exec("echo 1 > f; v=1")
    s.python("x = 1")
    with s.fork() as t, t.fork() as u:
        t.exec("echo 2 > f; v=2")
        t.python("x = 2")
        told = [(q.read("f"), q.exec("echo $v").stdout, q.python("x").value) for q in (s, t, u)]
        assert told == [(b"1\n", "1\n", 1), (b"2\n", "2\n", 2), (b"1\n", "1\n", 1)]


def test_many_forks_are_made_at_once(s):
    s.exec("echo 1 > f; v=1")
    forks = s.fork_many(5)
    assert len({fork.name for fork in forks}) == 5
    found = [fork.exec(f"v=${{v}}{n}; cat f; echo $v").stdout for n, fork in enumerate(forks)]
    assert found == [f"1\n1{n}\n" for n in range(5)]
    assert s.exec("echo $v").stdout == "1\n"
    assert s.fork_many(0) == []
    with pytest.raises(wasibox.InvalidError):
        s.fork_many(1_000_000)
    for fork in forks:
        fork.close()


def test_commands_run_in_forks(s):
    s.exec("echo 1 > f; v=1")
    commands = ["echo $v; rm f", ["cat", "f"], "sleep 0.3; exit 3"]
    ended = list(s.map(commands, at_once=3))
    assert sorted((n, o.stdout, o.exit_code) for n, o in ended) == [(0, "1\n", 0), (1, "1\n", 0), (2, "", 3)]
    assert ended[-1][0] == 2 and s.read("f") == b"1\n"
    assert list(s.map([])) == []
    with pytest.raises(wasibox.CommandError):
        list(s.map(["false"], check=True))
    with pytest.raises(ValueError):
        list(s.map(["true"], at_once=0))


def test_leaving_a_map_early_ends_its_commands(s):
    begun = time.monotonic()
    outcomes = s.map(["true", "sleep 60", "sleep 60", "sleep 60"], at_once=2)
    assert next(outcomes)[0] == 0
    outcomes.close()
    assert time.monotonic() - begun < 30


def test_numbers_are_no_contents(s):
    with pytest.raises(TypeError):
        s.write("f", 3)
    with pytest.raises(TypeError):
        s.exec("cat", stdin=3)
    assert not s.exists("f")


def test_snapshots_travel(s, tmp_path):
    s.exec("echo 1 > f; cd /tmp")
    s.export(tmp_path / "a.wbs")
    whole = s.export(history=True)
    with wasibox.Session.load(tmp_path / "a.wbs") as t:
        assert (t.read("/home/user/f"), t.cwd) == (b"1\n", "/tmp")
    with wasibox.Session.load(whole) as t:
        assert len(t.history()) == len(s.history())
    with pytest.raises(wasibox.InvalidError):
        wasibox.Session.load(b"no snapshot")
    with pytest.raises(wasibox.InvalidError, match="none.wbs"):
        wasibox.Session.load(tmp_path / "none.wbs")


def test_stores_keep_sessions(tmp_path):
    store = tmp_path / "s.wbx"
    with wasibox.Session(store=store, name="a") as a:
        a.exec("echo kept > f")
        with pytest.raises(wasibox.BusyError):
            wasibox.Session(store=store, name="a")
    with wasibox.Session(store=store, name="a") as a:
        assert a.read("f") == b"kept\n"
    with pytest.raises(wasibox.ConflictError):
        wasibox.Session(store=store, name="a", open="create")
    with pytest.raises(wasibox.NotFoundError):
        wasibox.Session(store=store, name="b", open="open")
    engine = wasibox.default_engine()
    assert engine.sessions(store) == ["a"]
    engine.remove(store, "a")
    assert engine.sessions(store) == []


def test_key_values(s):
    s.kv["a"] = "1"
    assert s.exec("kv get a; kv set b 2").stdout == "1"
    assert dict(s.kv) == {"a": b"1", "b": b"2"} and len(s.kv) == 2
    del s.kv["a"]
    assert "a" not in s.kv
    with pytest.raises(KeyError):
        s.kv["a"]


def test_mounts_and_policies(tmp_path):
    (tmp_path / "in").write_text("1")
    (tmp_path / "out").mkdir()
    policy = tmp_path / "p.toml"
    policy.write_text("[limits]\nmemory = '256M'\n[[mount]]\nhost = 'in'\nguest = '/in'\n")
    mounts = {"/out": wasibox.Mount(tmp_path / "out", writable=True, quota="1M")}
    with wasibox.Session(policy=policy, mounts=mounts) as s:
        assert s.exec("cat /in; echo 2 > /out/f; echo no > /in").exit_code == 1
    assert ((tmp_path / "out/f").read_text(), (tmp_path / "in").read_text()) == ("2\n", "1")
    with wasibox.Session() as s:
        assert s.exec("ls /in /out").exit_code == 2


def test_workspaces(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w/a").write_text("1\n")
    with wasibox.Session(workspace=tmp_path / "w") as s:
        assert s.exec("pwd; cat a; echo 2 > a; echo 3 > b").stdout == "/work\n1\n"
        assert "-1\n+2\n" in s.workspace_diff("a")
        assert (tmp_path / "w/a").read_text() == "1\n"
        assert sorted(s.workspace_apply().done) == ["a", "b"]
    assert (tmp_path / "w/b").read_text() == "3\n"


def test_output_comes_as_it_is_written(s):
    times: list[tuple[str, float]] = []
    began = time.monotonic()
    out = s.exec(
        "echo a; sleep 1; printf '\\303'; printf '\\244'; echo e >&2",
        on_stdout=lambda text: times.append((text, time.monotonic() - began)),
        on_stderr=lambda text: times.append((text, 0)),
    )
    assert out.stdout == "a\nä" and out.stderr == "e\n"
    first = times[0]
    assert first[0] == "a\n" and first[1] < out.duration
    assert "".join(text for text, _ in times if text != "e\n") == "a\nä"
    with pytest.raises(ZeroDivisionError):
        s.exec("yes", on_stdout=lambda text: 1 / 0)
    assert s.exec("echo on").stdout == "on\n"


def test_streams(s):
    with s.stream("echo a; echo b >&2") as output:
        chunks = {chunk.stream: chunk.text for chunk in output}
    assert chunks == {"stdout": "a\n", "stderr": "b\n"} and output.outcome.ok
    with s.stream("yes") as output:
        assert next(iter(output)).text.startswith("y\n")
    assert s.exec("echo on").stdout == "on\n"


def test_another_thread_interrupts(s):
    s.exec("true")
    timer = threading.Timer(0.3, s.interrupt)
    timer.start()
    out = s.exec("sleep 60")
    assert out.exit_code == 130 and out.duration < 30


def test_ctrl_c_ends_the_guest(s):
    # If the tests run in the background, the shell has made them ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    s.exec("true")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        s.exec("sleep 60")
    assert s.exec("echo on").stdout == "on\n"


def test_python_goes_on_while_guests_run(s):
    s.exec("true")
    ticks = []

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)

    done = threading.Event()
    thread = threading.Thread(target=tick)
    thread.start()
    s.exec("sleep 1")
    done.set()
    thread.join()
    # If the lock were held, there would be only one or two ticks.
    assert len(ticks) > 20


def test_200_sessions_from_8_threads():
    wrong = []

    def work(n):
        for k in range(25):
            with wasibox.Session() as session:
                want = f"{n * 1000 + k}\n"
                got = session.exec(f"echo $(({n} * 1000 + {k}))").stdout
                if got != want:
                    wrong.append((got, want))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_copied_process_leaves_its_parents_sessions_alone(s):
    s.exec("echo 1 > f")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            s.exec("true")
        except wasibox.ConflictError:
            status = 0
        finally:
            s.close()
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert s.read("f") == b"1\n" and s.exec("echo on").stdout == "on\n"


def test_guests_by_threads():
    engine = wasibox.Engine(isolation="threads")
    with wasibox.Session(engine=engine) as s:
        assert s.exec("echo hi | wc -c").stdout == "3\n"
        assert s.missing_walls is None


def test_the_command_line_comes_with_it():
    done = subprocess.run(
        [sys.executable, "-m", "wasibox", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.startswith("wasibox ")


def test_it_ends_with_the_interpreter_whatever_runs():
    script = textwrap.dedent("""
        import asyncio, threading, wasibox
        s = wasibox.Session()
        s.exec("true")
        stream = s.stream("sleep 1000")
        print("begun", flush=True)
    """)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("begun\n", 0), done.stderr
    assert time.monotonic() - began < 60
