"""Tests the machine as Python sees it. The guest and the machine's own CPython must print the
same (tests/harness/tests/python.rs)."""

import asyncio
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from subprocess import DEVNULL, PIPE, STDOUT, Popen, run

os.chdir(tempfile.mkdtemp())


def show(name, function):
    try:
        result = function()
    except Exception as error:
        # Error numbers differ between systems.
        names = [error.filename] if isinstance(error, OSError) else [str(error)]
        result = (type(error).__name__, *names)
    print(f"{name}: {result!r}", flush=True)


def raised(function):
    try:
        function()
    except Exception as error:
        return error


def shell(command, **options):
    done = run(command, shell=True, capture_output=True, text=True, **options)
    return done.returncode, done.stdout, done.stderr


show("a program", lambda: run(["echo", "a b", "c\nd"], stdout=PIPE).stdout)
show("text", lambda: run(["printf", "%s", "ä"], stdout=PIPE, text=True, encoding="utf-8").stdout)
show("a pipeline", lambda: shell("printf '3 c\\n1 a\\n2 b\\n' | sort | awk '{print $2}' | tr -d '\\n'"))
show("input", lambda: shell("grep -c b", input="a\nb\nbb\n"))
show("much input", lambda: len(subprocess.check_output(["cat"], input=b"x" * 5_000_000)))
show("status", lambda: shell("echo out; echo err >&2; exit 7"))
show("both streams", lambda: run("echo a; echo b >&2", shell=True, stdout=PIPE, stderr=STDOUT).stdout)
show("nothing", lambda: run("cat; echo x", shell=True, stdin=DEVNULL, stdout=DEVNULL))
show("check", lambda: run(["false"], check=True))
show("check_output", lambda: subprocess.check_output("exit 3", shell=True))
show("missing", lambda: run(["no such program"]))
show("not executable", lambda: (open("plain", "w").close(), run(["./plain"])))
show("missing folder", lambda: run(["true"], cwd="no such folder"))
show("a file as folder", lambda: run(["true"], cwd="plain"))
show("cwd", lambda: (os.mkdir("d"), run("pwd; ls ..", cwd="d", shell=True, stdout=PIPE, text=True)
                     .stdout.split("/")[-1]))
show("env", lambda: shell("echo $A-$B-$HOME", env={"A": "1", "PATH": os.environ["PATH"]}))


def inherited():
    os.environ["SET_HERE"] = "yes"
    return shell("echo $SET_HERE")


show("environ", inherited)
show("timeout", lambda: type(raised(lambda: run(["sleep", "30"], timeout=0.1))))


def slow_writer():
    child = Popen("echo early; exec sleep 30", shell=True, stdout=PIPE)
    try:
        child.communicate(timeout=0.5)
    except subprocess.TimeoutExpired as error:
        child.kill()
        return error.output, child.wait(), child.communicate()


show("output before a timeout", slow_writer)


def conversation():
    child = Popen(["cat"], stdin=PIPE, stdout=PIPE, text=True, bufsize=1)
    answers = []
    for n in range(3):
        print("line", n, file=child.stdin)
        answers.append(child.stdout.readline())
    child.stdin.close()
    return answers, child.wait()


show("a conversation", conversation)


def pipeline():
    first = Popen(["seq", "100000"], stdout=PIPE)
    second = Popen(["head", "-n2"], stdin=first.stdout, stdout=PIPE)
    first.stdout.close()
    return second.communicate()[0], first.wait() != 0


show("a pipeline of ours", pipeline)


def ended_by(method):
    child = Popen(["sleep", "30"])
    assert child.poll() is None
    getattr(child, method)()
    return child.wait(), child.poll()


show("terminate", lambda: ended_by("terminate"))
show("kill", lambda: ended_by("kill"))


def group():
    child = Popen("sleep 30 & wait", shell=True, start_new_session=True, stdout=PIPE)
    time.sleep(0.3)
    os.killpg(os.getpgid(child.pid), signal.SIGTERM)
    # The end of file is reached when the last member of the group has ended.
    return child.stdout.read(), child.wait()


show("killpg", group)


def passed():
    read, write = os.pipe()
    code = f"echo from bash >&{write}"
    run(["bash", "-c", code], pass_fds=[write])
    run([sys.executable, "-c", f"import os; os.write({write}, b'from python')"], pass_fds=[write])
    code = f"import os\ntry: os.fstat({write})\nexcept OSError: print('closed')"
    closed = run([sys.executable, "-c", code], stdout=PIPE).stdout
    os.close(write)
    with open(read, "rb") as file:
        return file.read(), closed


show("pass_fds", passed)
show("a script", lambda: run([sys.executable, "-c", "import sys; print(sys.argv)", "x"], stdout=PIPE).stdout)
show("standard input", lambda: run([sys.executable, "-"], input=b"print(6 * 7)", stdout=PIPE).stdout)
show("umask", lambda: shell("umask", umask=0o027))
show("system", lambda: os.waitstatus_to_exitcode(os.system("exit 5")))
show("popen", lambda: (os.popen("echo b; echo a").readlines(), os.popen("exit 2").close()))


def popen_to():
    with os.popen("cat > written", "w") as child:
        child.write("text")
    return open("written").read()


show("popen to", popen_to)


def duplicates():
    fd = os.open("file", os.O_CREAT | os.O_RDWR)
    copy = os.dup(fd)
    os.write(copy, b"one ")
    os.dup2(fd, 77)
    os.write(77, b"two")
    flags = [os.get_inheritable(n) for n in (fd, copy, 77)]
    os.set_inheritable(fd, True)
    flags.append(os.get_inheritable(fd))
    os.close(fd), os.close(copy), os.close(77)
    return open("file").read(), flags


show("dup", duplicates)


def spawned():
    actions = [
        (os.POSIX_SPAWN_OPEN, 1, "spawned", os.O_WRONLY | os.O_CREAT, 0o644),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    argv = ["sh", "-c", "echo out; echo err >&2; exit 4"]
    pid = os.posix_spawnp("sh", argv, os.environ, file_actions=actions)
    gone, status = os.waitpid(pid, 0)
    return gone == pid, os.waitstatus_to_exitcode(status), open("spawned").read()


show("posix_spawn", spawned)
show("spawn", lambda: os.spawnv(os.P_WAIT, shutil.which("sh"), ["sh", "-c", "exit 6"]))
show("spawn by name", lambda: os.spawnlp(os.P_WAIT, "sh", "sh", "-c", "exit 7"))
show("spawn with a search path", lambda: (
    os.spawnvpe(os.P_WAIT, "sh", ["sh", "-c", "exit $N"], {"PATH": os.environ["PATH"], "N": "8"}),
    os.spawnvpe(os.P_WAIT, "no-such-command", ["x"], os.environ),
))
show("spawn and go on", lambda: os.waitstatus_to_exitcode(
    os.waitpid(os.spawnlp(os.P_NOWAIT, "sh", "sh", "-c", "exit 9"), 0)[1]))
show("not our child", lambda: os.waitpid(1, 0))
show("own number", lambda: shell(f"test {os.getpid()} -eq $PPID && kill -0 {os.getpid()}"))
show("no such process", lambda: os.kill(99999999, 0))


def caught(send):
    got = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: got.append(number))
    send()
    deadline = time.time() + 10
    while not got and time.time() < deadline:
        pass
    signal.signal(signal.SIGUSR1, before)
    return got == [signal.SIGUSR1]


show("a signal from us", lambda: caught(lambda: os.kill(os.getpid(), signal.SIGUSR1)))
show("a signal while computing", lambda: caught(
    lambda: Popen(f"sleep 0.1; kill -USR1 {os.getpid()}", shell=True)))


def ended_by_signal(endless):
    def stop(number, frame):
        raise InterruptedError(number)

    before = signal.signal(signal.SIGUSR1, stop)
    sender = Popen(f"sleep 0.1; kill -USR1 {os.getpid()}", shell=True)
    try:
        endless()
    finally:
        signal.signal(signal.SIGUSR1, before)
        sender.wait()


show("a signal while matching", lambda: ended_by_signal(lambda: re.match("(a*)*b", "a" * 40)))
show("a signal while printing", lambda: ended_by_signal(
    lambda: all(str(number) for number in itertools.repeat(5))))
show("blocked", lambda: (
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2]),
    os.kill(os.getpid(), signal.SIGUSR2),
    signal.sigpending() == {signal.SIGUSR2},
    signal.signal(signal.SIGUSR2, signal.SIG_IGN) == signal.SIG_DFL,
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR2]) == {signal.SIGUSR2},
))
show("ended by a signal", lambda: run([sys.executable, "-c",
                                       "import os; os.kill(os.getpid(), 15)"]).returncode)
show("interrupted", lambda: run(
    [sys.executable, "-c", "import os, signal\ntry: os.kill(os.getpid(), 2)\n"
     "except KeyboardInterrupt: print('caught')"], stdout=PIPE).stdout)
show("while computing", lambda: run(
    "python3 -c 'while True: pass' & sleep 0.5; kill $!; wait $!; echo $?", shell=True,
    stdout=PIPE, stderr=DEVNULL).stdout)


async def gather():
    async def one(n):
        code = f"sleep 0.{3 - n}; read x; echo {n} $x"
        child = await asyncio.create_subprocess_shell(code, stdin=PIPE, stdout=PIPE)
        return (await child.communicate(b"in\n"))[0], child.returncode

    return await asyncio.gather(*map(one, range(3)))


async def lines():
    child = await asyncio.create_subprocess_exec("seq", "3", stdout=PIPE)
    return [line async for line in child.stdout], await child.wait()


async def late():
    child = await asyncio.create_subprocess_exec("sleep", "30")
    try:
        await asyncio.wait_for(child.wait(), 0.2)
    except TimeoutError:
        child.terminate()
    return await child.wait()


async def handled():
    got = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, got.set)
    os.kill(os.getpid(), signal.SIGUSR1)
    await asyncio.wait_for(got.wait(), 5)
    return got.is_set()


for task in (gather, lines, late, handled):
    show(f"asyncio {task.__name__}", lambda: asyncio.run(task()))


def modes():
    os.chmod("plain", 0o754)
    return oct(os.stat("plain").st_mode), os.access("plain", os.X_OK), shutil.which("./plain")


show("modes", modes)
show("a program's mode", lambda: bool(os.stat(shutil.which("sh")).st_mode & 0o111))
show("which", lambda: shutil.which("no such program"))
show("replaced", lambda: run([sys.executable, "-c", "import os, sys\nprint('before', flush=True)\n"
                              "os.execvp('sh', ['sh', '-c', 'echo $0 $1; exit 8', 'after', 'a\\nb'])"],
                             stdout=PIPE).stdout)
sys.stdout.flush()
os.execv(shutil.which("printf"), ["printf", "%s\\n", "the end"])
