"""Checks of the image's Python, run inside the guest: `python3 smoke.py [NAME...]`.

Each check is a function; its name says what is checked. One line per check,
`ok NAME` or `FAIL NAME: why`, and status 1 if any failed. Expected values are
published ones (RFC test vectors, the manuals of the modules) or were taken from
CPython 3.13 on Linux.

Needs a writable /tmp, nothing else: no network, no other command, no WASIX.
`python3 smoke.py --native` leaves out what only holds inside the sandbox.
"""

import errno
import os
import sys
import traceback

CHECKS = []
GUEST_ONLY = set()
TMP = "/tmp/python-smoke"


def check(function):
    CHECKS.append(function)
    return function


def guest(function):
    GUEST_ONLY.add(function.__name__)
    return check(function)


def equal(got, expected):
    if got != expected:
        raise AssertionError(f"got {got!r}, expected {expected!r}")


def raises(kind, words, call, *args, **kwargs):
    """Calls and returns the exception, which must be of this kind and name these words."""
    try:
        call(*args, **kwargs)
    except kind as error:
        if words not in str(error):
            raise AssertionError(f"{error!r} does not say {words!r}") from error
        return error
    raise AssertionError(f"no {kind.__name__}")


# --- the interpreter -----------------------------------------------------------------


@guest
def identity():
    equal(sys.version_info[:2], (3, 13))
    equal(sys.platform, "wasi")
    equal(sys.executable, "/usr/bin/python3")
    equal((sys.prefix, sys.exec_prefix, sys.base_prefix), ("/usr",) * 3)
    equal(os.path.dirname(os.__file__), "/usr/lib/python3.13")
    assert "PYTHONHOME" not in os.environ
    equal(sys.maxsize, 2**31 - 1)
    # Small integers are fast only in one digit: 15-bit digits would make 40000 slow.
    equal(sys.int_info.bits_per_digit, 30)


@guest
def nothing_is_written_beside_scripts():
    equal(sys.dont_write_bytecode, True)
    with open(f"{TMP}/beside.py", "w") as f:
        f.write("x = 1\n")
    sys.path.insert(0, TMP)
    import beside

    sys.path.remove(TMP)
    equal(beside.x, 1)
    equal(os.path.exists(f"{TMP}/__pycache__"), False)


@guest
def library_is_compiled():
    import json.decoder

    cached = json.decoder.__cached__
    equal(cached, "/usr/lib/python3.13/json/__pycache__/decoder.cpython-313.pyc")
    assert os.path.exists(cached)


@guest
def no_build_paths():
    import sysconfig

    for name, value in sysconfig.get_config_vars().items():
        if name != "userbase":
            for word in ("/root", "/home", ".cache", "wasibox"):
                assert word not in str(value), (name, value)


@check
def elementary_functions():
    """Values of glibc, which are the correctly rounded ones here."""
    import math

    equal((math.exp(1), math.exp(-1), math.log(10)), (math.e, 0.36787944117144233, 2.302585092994046))
    equal([math.exp(x) for x in (0.5, 2.5, 10, 100)],
          [1.6487212707001282, 12.182493960703473, 22026.465794806718, 2.6881171418161356e43])
    equal((math.sin(1), math.cos(1), math.tan(1)),
          (0.8414709848078965, 0.5403023058681398, 1.5574077246549023))
    equal((math.cbrt(27), math.gamma(6), math.log2(8), math.log10(1000), 2**0.5),
          (3.0, 120.0, 3.0, 3.0, math.sqrt(2)))
    # The least number, whose logarithm one libm got wrong.
    equal(math.log2(5e-324), -1074.0)


@check
def words_of_errors():
    words = {
        "ENOENT": "No such file or directory",
        "ENOTTY": "Inappropriate ioctl for device",
        "EMFILE": "Too many open files",
        "ENAMETOOLONG": "File name too long",
        "EXDEV": "Invalid cross-device link",
        "ELOOP": "Too many levels of symbolic links",
        "ENOMEM": "Cannot allocate memory",
        "ERANGE": "Numerical result out of range",
        "ENOTSUP": "Operation not supported",
        "EPIPE": "Broken pipe",
    }
    equal({name: os.strerror(getattr(errno, name)) for name in words}, words)
    equal((os.strerror(0), os.strerror(9999)), ("Success", "Unknown error 9999"))


@check
def polling_returns():
    import select
    import time

    begun = time.monotonic()
    for _ in range(100):
        equal(select.select([], [], [], 0), ([], [], []))
        equal(select.poll().poll(0), [])
    time.sleep(0)
    assert time.monotonic() - begun < 5


@check
def source_and_help():
    import inspect
    import io
    import json
    import pydoc
    from contextlib import redirect_stdout

    assert inspect.getsource(json.dumps).startswith("def dumps(")
    text = io.StringIO()
    with redirect_stdout(text):
        pydoc.doc("json.dumps")
        help("for")
    assert "Serialize" in text.getvalue() and '"for" statement' in text.getvalue()


@check
def traceback_shows_the_line():
    import json

    try:
        json.loads("")
    except json.JSONDecodeError:
        text = traceback.format_exc()
    assert "raise JSONDecodeError(" in text and "json/decoder.py" in text


@check
def recursion_is_an_error_not_a_trap():
    def down(n):
        return down(n + 1)

    raises(RecursionError, "recursion", down, 0)
    import json

    raises(RecursionError, "recursion", json.loads, "[" * 100000)
    import ast
    import copy
    import pickle
    import re

    deep = []
    for _ in range(100000):
        deep = [deep]
    for walk in repr, json.dumps, copy.deepcopy, pickle.dumps:
        raises(RecursionError, "", walk, deep)
    raises((MemoryError, RecursionError, SyntaxError), "", ast.parse, "(" * 100000)
    raises((MemoryError, RecursionError, SyntaxError), "", compile, "-" * 100000 + "1", "x", "eval")
    raises(RecursionError, "", re.compile, "(" * 50000 + ")" * 50000)


@check
def memory_error_not_a_trap():
    raises(MemoryError, "", lambda: "a" * (1 << 40 if sys.maxsize > 1 << 40 else sys.maxsize))
    equal(len("a" * (1 << 20)), 1 << 20)


@check
def hash_is_randomised_unless_asked():
    equal(sys.flags.hash_randomization, 0 if os.environ.get("PYTHONHASHSEED") == "0" else 1)


@check
def freed_memory_is_used_again():
    # 2 GB in pieces of 50 MB: passes only if the pieces' room is reused.
    for i in range(40):
        block = bytearray(50_000_000)
        block[i] = 1
        del block


# --- files and processes -------------------------------------------------------------


@check
def current_directory():
    before = os.getcwd()
    os.makedirs(f"{TMP}/a/b", exist_ok=True)
    os.chdir(f"{TMP}/a")
    try:
        equal(os.getcwd(), f"{TMP}/a")
        with open("b/file", "w") as f:
            f.write("relative")
        with open(f"{TMP}/a/b/file") as f:
            equal(f.read(), "relative")
        os.chdir("b")
        equal(os.getcwd(), f"{TMP}/a/b")
        os.chdir("..")
        equal(os.listdir("."), ["b"])
        raises(FileNotFoundError, "none", os.chdir, "none")
    finally:
        os.chdir(before)


@check
def files():
    import glob
    import pathlib
    import shutil
    import tempfile

    root = pathlib.Path(TMP, "files")
    (root / "x/y").mkdir(parents=True)
    (root / "x/y/one.txt").write_text("é\n", encoding="utf-8")
    equal((root / "x/y/one.txt").stat().st_size, 3)
    os.symlink("y/one.txt", root / "x/link")
    equal(os.readlink(root / "x/link"), "y/one.txt")
    equal((root / "x/link").read_bytes(), b"\xc3\xa9\n")
    os.rename(root / "x/y/one.txt", root / "x/y/two.txt")
    equal(sorted(glob.glob("**/*.txt", root_dir=root, recursive=True)), ["x/y/two.txt"])
    equal([(d[len(str(root)) :], f) for d, _, f in os.walk(root / "x/y")], [("/x/y", ["two.txt"])])
    with open(root / "x/y/two.txt", "r+b") as f:
        f.seek(0, 2)
        f.write(b"more")
        f.truncate(5)
        f.seek(0)
        equal(f.read(), b"\xc3\xa9\nmo")
    shutil.copytree(root / "x", root / "z", symlinks=True)
    shutil.make_archive(str(root / "archive"), "gztar", root, "z")
    shutil.rmtree(root / "x")
    equal(sorted(os.listdir(root)), ["archive.tar.gz", "z"])
    with tempfile.TemporaryDirectory(dir=TMP) as d, tempfile.TemporaryFile(dir=TMP) as f:
        f.write(b"x")
        equal(os.path.isdir(d), True)
    raises(FileNotFoundError, "nothing", open, f"{TMP}/nothing")
    raises(IsADirectoryError, TMP, open, TMP, "w")
    os.utime(root / "z", (1000, 2000))
    equal(os.stat(root / "z").st_mtime, 2000)


@check
def process_values():
    assert os.getpid() > 0
    assert isinstance(os.environ.get("HOME", ""), str)
    os.environ["SMOKE"] = "1"
    equal(os.getenv("SMOKE"), "1")
    equal(len(os.urandom(16)), 16)
    assert os.urandom(16) != os.urandom(16)
    assert sys.stdin.fileno() == 0 and sys.stdout.fileno() == 1


@guest
def processes():
    import asyncio
    import signal
    import subprocess

    try:
        os.close(os.pipe()[0])
    except OSError as error:
        # A runtime with preview 1 alone: everything says so.
        equal(error.errno, errno.ENOSYS)
        raises(OSError, "not implemented", subprocess.run, ["true"])
        raises(OSError, "not implemented", os.posix_spawn, "/bin/true", ["true"], {})
        return
    shell = subprocess.run("cat | tr a-z A-Z; exit 3", shell=True, input=b"hi", capture_output=True)
    equal((shell.returncode, shell.stdout), (3, b"HI"))
    raises(FileNotFoundError, "nonesuch", subprocess.run, ["nonesuch"])
    raises(ValueError, "no fork", subprocess.run, ["true"], preexec_fn=int)
    import multiprocessing

    lock = multiprocessing.Lock()
    equal((lock.acquire(), lock.acquire(False), lock.release(), lock.acquire(timeout=5)), (True, False, None, True))
    sleeper = subprocess.Popen(["sleep", "60"])
    raises(subprocess.TimeoutExpired, "0.01 seconds", sleeper.wait, 0.01)
    sleeper.terminate()
    equal(sleeper.wait(), -signal.SIGTERM)
    equal(os.waitstatus_to_exitcode(os.system("exit 7")), 7)
    equal(os.popen("echo a b | wc -w").read(), "2\n")

    async def echo():
        child = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
        return await child.communicate(b"through a pipe")

    equal(asyncio.run(echo()), (b"through a pipe", None))
    raises(OSError, "ioctl", os.get_terminal_size, os.open("/dev/null", os.O_RDONLY))


@guest
def absent_modules_say_so():
    def load(name):
        __import__(name)

    raises(ModuleNotFoundError, "no display", load, "tkinter")


@guest
def c_types_are_those_of_ctypes():
    import ctypes
    import ctypes.util

    assert [ctypes.sizeof(t) for t in (ctypes.c_long, ctypes.c_void_p, ctypes.c_double)] == [4, 4, 8]
    assert (ctypes.c_byte(200).value, ctypes.c_uint(-1).value) == (-56, 2**32 - 1)

    class Pair(ctypes.BigEndianStructure):
        _fields_ = [("high", ctypes.c_uint16), ("low", ctypes.c_uint8, 4), ("rest", ctypes.c_uint8, 4)]

    pair = Pair.from_buffer_copy(b"\1\2\x34\0")
    equal((pair.high, pair.low, pair.rest, bytes(pair)), (0x102, 3, 4, b"\1\2\x34\0"))
    numbers = (ctypes.c_int * 4)(1, 2, 3, 4)
    pointer = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int))
    pointer[2] = 30
    equal((list(numbers), pointer[1], ctypes.addressof(numbers) != 0), ([1, 2, 30, 4], 2, True))
    text = ctypes.create_string_buffer(b"abc", 10)
    ctypes.memmove(text, b"xyz", 2)
    equal((text.value, ctypes.string_at(ctypes.addressof(text), 3), len(text)), (b"xyc", b"xyc", 10))
    equal(ctypes.create_unicode_buffer("aé").value, "aé")


@guest
def ctypes_calls_functions_of_libc_and_python():
    import ctypes
    import ctypes.util
    import threading
    import time

    equal([ctypes.util.find_library(name) for name in ("c", "m", "ssl")], ["libc.so.6", "libm.so.6", None])
    raises(OSError, "there are none inside the sandbox", ctypes.CDLL, "libssl.so.3")
    libc, libm = ctypes.CDLL(None), ctypes.CDLL("libm.so.6")
    equal((libc.strlen(b"four"), libc.abs(-5), libc.atoi(b"42")), (4, 5, 42))
    libm.pow.restype, libm.pow.argtypes = ctypes.c_double, [ctypes.c_double] * 2
    equal(libm.pow(2, 0.5), 2**0.5)
    out = ctypes.create_string_buffer(64)
    count = libc.snprintf(out, 64, b"%s %d %.2f %lld", b"x", 7, ctypes.c_double(1.5), ctypes.c_int64(1 << 40))
    equal((out.value, count), (b"x 7 1.50 1099511627776", 22))
    # A result that is declared wrongly does not end the process.
    memory = libc.malloc(8)
    libc.free(memory)
    raises(AttributeError, "undefined symbol: fork", getattr, libc, "fork")
    equal(ctypes.pythonapi.PyLong_AsLong(ctypes.py_object(12)), 12)

    # How programs end a thread of theirs.
    ends = []

    def work():
        try:
            while True:
                time.sleep(0.01)
        except SystemExit:
            ends.append("ended")

    thread = threading.Thread(target=work)
    thread.start()
    equal(ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)), 1)
    thread.join(10)
    equal(ends, ["ended"])


@guest
def python_functions_become_functions_of_c():
    import ctypes
    import gc

    libc = ctypes.CDLL(None)
    whole = ctypes.POINTER(ctypes.c_int)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, whole, whole)
    numbers = (ctypes.c_int * 6)(5, 1, -7, 33, 99, 7)
    libc.qsort.restype = None
    libc.qsort(numbers, len(numbers), 4, compare(lambda a, b: a[0] - b[0]))
    equal(list(numbers), [-7, 1, 5, 7, 33, 99])
    libc.bsearch.restype = whole
    found = libc.bsearch(ctypes.byref(ctypes.c_int(33)), numbers, 6, 4, compare(lambda a, b: a[0] - b[0]))
    equal((found[0], ctypes.addressof(found.contents) - ctypes.addressof(numbers)), (33, 16))

    # Each type of parameter and result, as the values of direct calls.
    c = ctypes
    for kinds, call, arguments, result in [
        ((c.c_int,), lambda: -3, (), -3),
        ((c.c_short, c.c_short), lambda a: -a, (5,), -5),
        ((c.c_ubyte, c.c_int), lambda a: a, (0x1FE,), 0xFE),
        ((c.c_longlong, c.c_int), lambda a: a << 33, (3,), 3 << 33),
        ((c.c_int, c.c_longlong), lambda a: a >> 33, (7 << 33,), 7),
        ((c.c_double, c.c_double), lambda a: a / 4, (1.0,), 0.25),
        ((c.c_double, c.c_double, c.c_double), lambda a, b: a - b, (1.0, 0.5), 0.5),
        ((c.c_double, c.c_int), lambda a: a / 4, (1,), 0.25),
        ((c.c_int, *[c.c_int] * 6), lambda *a: sum(x << i for i, x in enumerate(a)), (1,) * 6, 63),
        ((None, c.c_int), lambda a: None, (1,), None),
        ((c.c_size_t, c.c_char_p), len, (b"text",), 4),
    ]:
        equal(ctypes.CFUNCTYPE(*kinds)(call)(*arguments), result)

    # There are sixteen of a signature; they are used again.
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    for i in range(100):
        equal(kind(lambda a: a + i)(1), i + 1)
    gc.collect()
    kept = [kind(lambda a, i=i: a + i) for i in range(16)]
    equal([one(1) for one in kept], list(range(1, 17)))
    raises(RuntimeError, "ffi_prep_closure", kind, lambda a: a)
    raises(RuntimeError, "ffi_prep_closure", ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float), lambda a: a)


@guest
def epoll_watches_descriptors():
    import select
    import selectors
    import socket

    equal(selectors.DefaultSelector, selectors.EpollSelector)
    one, other = socket.socketpair()
    with select.epoll() as poll, one, other:
        equal(os.get_inheritable(poll.fileno()), False)
        poll.register(one, select.EPOLLIN)
        equal((poll.poll(0), poll.poll(0.01)), ([], []))
        other.send(b"x")
        equal([poll.poll() for _ in range(2)], [[(one.fileno(), select.EPOLLIN)]] * 2)
        raises(FileExistsError, "", poll.register, one, select.EPOLLOUT)
        poll.modify(one, select.EPOLLIN | select.EPOLLOUT | select.EPOLLONESHOT)
        equal(poll.poll(), [(one.fileno(), select.EPOLLIN | select.EPOLLOUT)])
        equal(poll.poll(0), [])
        poll.modify(one, select.EPOLLOUT | select.EPOLLONESHOT)
        equal(poll.poll(), [(one.fileno(), select.EPOLLOUT)])
        poll.modify(one, select.EPOLLIN)
        number = one.fileno()
        one.recv(1)
        # What is closed is no longer watched, and its number is free.
        one.close()
        equal(poll.poll(0), [])
        raises(FileNotFoundError, "", poll.modify, other, select.EPOLLIN)
        read, write = os.pipe()
        equal(read, number)
        poll.register(number, select.EPOLLIN)
        os.close(write)
        equal(poll.poll(), [(number, select.EPOLLIN | select.EPOLLHUP)])
        os.dup2(other.fileno(), number)
        equal(poll.poll(0), [])
        os.close(number)
        with open(__file__) as file:
            raises(PermissionError, "", poll.register, file, select.EPOLLIN)
        raises(OSError, "", poll.register, poll.fileno(), select.EPOLLIN)
    raises(ValueError, "closed epoll", poll.poll)


@guest
def curses_draws_on_a_terminal():
    import curses
    import curses.panel
    import curses.textpad

    def draw(screen):
        curses.curs_set(0)
        curses.start_color()
        curses.init_pair(1, curses.COLOR_RED, curses.COLOR_BLACK)
        rows, columns = screen.getmaxyx()
        screen.addstr(0, 0, f"{rows}x{columns} \u00e4\u4e2d", curses.color_pair(1) | curses.A_BOLD)
        window = curses.newwin(3, 12, 2, 4)
        window.box()
        panel = curses.panel.new_panel(window)
        panel.move(3, 6)
        curses.panel.update_panels()
        curses.doupdate()
        seen = screen.instr(0, 0, 5)
        keys = [screen.getkey() for _ in range(3)]
        curses.flash()
        return seen, keys, curses.termname(), panel.window().getbegyx()

    control, terminal = os.openpty()
    saved = [(fd, os.dup(fd)) for fd in (0, 1)]
    sys.stdout.flush()
    try:
        import termios

        termios.tcsetwinsize(terminal, (24, 80))
        os.environ["TERM"] = "xterm-256color"
        for fd in (0, 1):
            os.dup2(terminal, fd)
        before = termios.tcgetattr(0)
        os.write(control, b"q\x1bOA\x1bOB")
        got = curses.wrapper(draw)
        after = termios.tcgetattr(0)
    finally:
        for fd, copy in saved:
            os.dup2(copy, fd)
            os.close(copy)
    os.set_blocking(control, False)
    shown = os.read(control, 65536)
    os.close(control)
    os.close(terminal)
    equal(got[0], b"24x80")
    equal(got[1:], (["q", "KEY_UP", "KEY_DOWN"], b"xterm-256color", (3, 6)))
    equal(before, after)
    assert "24x80 \u00e4\u4e2d".encode() in shown and b"\x1b[?1049h" in shown, shown


@guest
def timers_raise_signals():
    import signal
    import time

    calls = []
    signal.signal(signal.SIGALRM, lambda number, frame: calls.append(time.monotonic()))
    begun = time.monotonic()
    equal(signal.setitimer(signal.ITIMER_REAL, 0.05, 0.1), (0.0, 0.0))
    while len(calls) < 3:
        time.sleep(1)
    rest, period = signal.setitimer(signal.ITIMER_REAL, 0)
    assert 0 < rest <= 0.1 and period == 0.1, (rest, period)
    assert calls[2] - begun >= 0.25, calls
    # While Python code runs, and a call that is interrupted.
    calls.clear()
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    while not calls:
        pass

    def stop(number, frame):
        raise TimeoutError("too long")

    signal.signal(signal.SIGALRM, stop)
    equal(signal.alarm(1), 0)
    equal(signal.alarm(1), 1)
    raises(TimeoutError, "too long", time.sleep, 30)
    equal(signal.getitimer(signal.ITIMER_REAL), (0.0, 0.0))
    raises(OSError, "", signal.setitimer, signal.ITIMER_PROF, 1)
    # A signal that is waited for does not reach its handler.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    equal(signal.sigwait([signal.SIGALRM]), signal.SIGALRM)
    equal(signal.sigtimedwait([signal.SIGALRM], 0.02), None)
    signal.pthread_kill(__import__("threading").get_ident(), signal.SIGALRM)
    equal(signal.sigwaitinfo([signal.SIGALRM]).si_signo, signal.SIGALRM)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGALRM])


@guest
def an_alarm_ends_a_process_that_does_not_catch_it():
    import subprocess
    import signal

    for body in ("time.sleep(30)", "while True: pass"):
        code = f"import signal, time; signal.alarm(1)\n{body}"
        equal(subprocess.run([sys.executable, "-c", code]).returncode, -signal.SIGALRM)
    # A program that replaces another one keeps the timer.
    code = "import os, signal; signal.alarm(1); os.execvp('sleep', ['sleep', '30'])"
    equal(subprocess.run([sys.executable, "-c", code]).returncode, -signal.SIGALRM)


@guest
def files_are_locked():
    import fcntl
    import os
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lock")

        def attempt(body):
            code = f"import fcntl, sys; f = open({path!r}, 'r+b')\ntry: {body}\nexcept BlockingIOError: sys.exit(9)"
            return subprocess.run([sys.executable, "-c", code]).returncode

        exclusive, shared = "fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)", "fcntl.flock(f, fcntl.LOCK_SH | fcntl.LOCK_NB)"
        with open(path, "wb") as file:
            file.write(b"0123456789")
            fcntl.flock(file, fcntl.LOCK_EX)
            equal((attempt(exclusive), attempt(shared)), (9, 9))
            with open(path) as other:
                raises(BlockingIOError, "", fcntl.flock, other, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_SH)
            equal((attempt(exclusive), attempt(shared)), (9, 0))
        equal(attempt(exclusive), 0)
        with open(path, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX, 4, 2)
            part = "fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, {}, {})"
            equal([attempt(part.format(*range)) for range in ((2, 0), (1, 5), (0, 6), (0, 0))], [0, 9, 0, 9])
            fcntl.lockf(file, fcntl.LOCK_UN)
            equal(attempt(part.format(0, 0)), 0)
        # A lock ends with its process.
        child = subprocess.Popen(
            [sys.executable, "-c", f"import fcntl, time; f = open({path!r}, 'r+b'); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); time.sleep(60)"],
            stdout=subprocess.PIPE)
        child.stdout.readline()
        equal(attempt(exclusive), 9)
        child.kill()
        child.wait()
        equal(attempt(exclusive), 0)
        child.stdout.close()


@guest
def what_programs_ask_the_system():
    import errno
    import os
    import readline
    import shutil
    import socket
    import tempfile
    import termios
    import threading
    import time

    space = shutil.disk_usage("/")
    assert space.total >= space.used + space.free > 0, space
    equal(os.statvfs("/").f_bsize, 4096)
    equal((os.getresuid(), os.getpriority(os.PRIO_PROCESS, 0)), ((os.getuid(),) * 3, 0))
    os.setuid(os.getuid())
    raises(PermissionError, "", os.setuid, os.getuid() + 1)
    assert os.getgid() in os.getgrouplist("user", os.getgid())
    equal((os.nice(0), os.major(0x803)), (0, 8))
    ends = os.pipe()
    equal((os.writev(ends[1], [b"ab", b"c"]), os.readv(ends[0], [one := bytearray(2), bytearray(5)]), bytes(one)), (3, 3, b"ab"))
    assert errno.errorcode[errno.ENODATA] == "ENODATA" and termios.CERASE
    equal((threading.get_native_id(), socket.if_nameindex()), (os.getpid(), [(1, "lo")]))
    assert time.clock_gettime(time.CLOCK_BOOTTIME) > 0
    readline.clear_history()
    for line in ("one", "two", "three"):
        readline.add_history(line)
    readline.remove_history_item(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "history")
        readline.write_history_file(path)
        readline.append_history_file(1, path)
        readline.clear_history()
        readline.read_history_file(path)
    equal([readline.get_history_item(n) for n in range(1, 4)], ["two", "three", "three"])
    equal((readline.get_line_buffer(), readline.get_current_history_length()), ("", 3))


@guest
def files_are_mapped_as_copies():
    import mmap
    import tempfile

    with tempfile.TemporaryFile() as file:
        file.write(b"one\ntwo\n")
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            assert (mapped[:3], mapped[4], mapped.find(b"two"), len(mapped)) == (b"one", 116, 4, 8)
            assert (mapped.readline(), mapped.read(), mapped.tell()) == (b"one\n", b"two\n", 8)
            assert bytes(memoryview(mapped)[4:7]) == b"two"
        with mmap.mmap(file.fileno(), 0) as mapped:
            mapped[:3] = b"ONE"
            mapped.flush()
            file.seek(0)
            equal(file.read(), b"ONE\ntwo\n")
            mapped.resize(4)
        equal(os.fstat(file.fileno()).st_size, 4)


@guest
def descriptors_and_modes():
    import tempfile

    # Number 3 is the system's own.
    os.closerange(3, 64)
    equal(open("/etc/passwd").read(5), "root:")
    raises(OSError, "busy", os.dup2, 1, 3)
    folder = tempfile.mkdtemp()
    equal(oct(os.stat(folder).st_mode), "0o40700")
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        equal(oct(os.stat(file.name).st_mode), "0o100600")
        equal(oct(os.fstat(file.fileno()).st_mode), "0o100600")
    before = os.umask(0o027)
    try:
        os.mkdir(f"{folder}/inner")
        open(f"{folder}/file", "w").close()
    finally:
        os.umask(before)
    equal(oct(os.stat(f"{folder}/inner").st_mode), "0o40750")
    equal(oct(os.stat(f"{folder}/file").st_mode), "0o100640")
    equal(os.sysconf("SC_OPEN_MAX") > 0, True)


@guest
def waiting_is_interrupted_and_closed_pipes_are_ready():
    import select
    import signal
    import subprocess
    import time

    code = "import time\ntry: time.sleep(30)\nexcept KeyboardInterrupt: print('interrupted')"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    time.sleep(0.5)
    child.send_signal(signal.SIGINT)
    equal(child.communicate(timeout=20)[0], b"interrupted\n")
    reader, writer = os.pipe()
    os.close(reader)
    equal(select.select([], [writer], [], 5), ([], [writer], []))
    os.close(writer)


@guest
def network_is_refused_clearly():
    import socket
    import urllib.error
    import urllib.request

    refused = "is not allowed by the sandbox's policy"
    raises(urllib.error.URLError, refused, urllib.request.urlopen, "https://example.com/")
    raises(ConnectionRefusedError, refused, socket.create_connection, ("example.com", 80))


@guest
def contexts_of_tls_keep_what_they_are_told():
    import ssl

    context = ssl.create_default_context()
    equal((context.verify_mode, context.check_hostname), (ssl.CERT_REQUIRED, True))
    equal(context.minimum_version, ssl.TLSVersion.TLSv1_2)
    def switch_off():
        context.verify_mode = ssl.CERT_NONE
    raises(ValueError, "when check_hostname is enabled", switch_off)
    context.check_hostname = False
    switch_off()
    equal(context.verify_mode, ssl.CERT_NONE)
    raises(ssl.SSLError, "no TLS servers", context.wrap_bio, ssl.MemoryBIO(), ssl.MemoryBIO(), True)
    raises(FileNotFoundError, "No such file", context.load_verify_locations, "/nonexistent")


@guest
def user_site_is_enabled():
    import site
    import sysconfig

    equal(site.ENABLE_USER_SITE, True)
    assert site.USER_SITE.endswith("/.local/lib/python3.13/site-packages"), site.USER_SITE
    assert "posix_user" in sysconfig.get_scheme_names()


@guest
def threads_run_or_are_refused_clearly():
    import threading

    seen = []
    thread = threading.Thread(target=seen.append, args=[1])
    try:
        thread.start()
    except RuntimeError as error:
        equal(str(error), "can't start new thread")  # plain preview 1
    else:
        thread.join()
        equal(seen, [1])
    lock = threading.Lock()
    with lock:
        equal(lock.acquire(blocking=False), False)
    event = threading.Event()
    equal(event.is_set(), False)


# --- data ----------------------------------------------------------------------------


@check
def json_round_trip():
    import json

    data = {"a": [1, 2.5, None, True, "é\n"], "b": {"c": -1e300}}
    equal(json.loads(json.dumps(data)), data)
    equal(json.dumps(data, sort_keys=True), '{"a": [1, 2.5, null, true, "\\u00e9\\n"], "b": {"c": -1e+300}}')
    import _json

    equal(json.encoder.c_make_encoder, _json.make_encoder)


@check
def csv_tables():
    import csv
    import io

    rows = list(csv.DictReader(io.StringIO('n,t\n1,"a,""b"""\n2,c\n')))
    equal(rows, [{"n": "1", "t": 'a,"b"'}, {"n": "2", "t": "c"}])
    out = io.StringIO()
    csv.writer(out).writerows([["x", 'q"'], [1, None]])
    equal(out.getvalue(), 'x,"q"""\r\n1,\r\n')


@check
def sqlite():
    import sqlite3

    db = sqlite3.connect(":memory:")
    db.execute("create table t(a integer primary key, b text)")
    db.executemany("insert into t(b) values(?)", [(str(i),) for i in range(1000)])
    equal(db.execute("select sum(a), max(b) from t").fetchone(), (500500, "999"))
    equal(db.execute("select json_extract('{\"a\":[1,2]}', '$.a[1]')").fetchone(), (2,))
    equal(db.execute("select round(sqrt(2), 6), row_number() over () from t limit 1").fetchone(), (1.414214, 1))
    db.execute("create virtual table f using fts5(x)")
    db.execute("insert into f values('the quick brown fox')")
    equal(db.execute("select count(*) from f where f match 'quick'").fetchone(), (1,))
    db.create_function("twice", 1, lambda x: x * 2)
    equal(db.execute("select twice(21)").fetchone(), (42,))
    raises(sqlite3.OperationalError, "syntax error", db.execute, "selec")


@check
def sqlite_file():
    import sqlite3

    path = f"{TMP}/file.db"
    with sqlite3.connect(path) as db:
        db.execute("create table t(a)")
        db.executemany("insert into t values(?)", [(i,) for i in range(5000)])
    db.close()
    db = sqlite3.connect(path)
    try:
        with db:
            db.execute("delete from t")
            raise KeyError
    except KeyError:
        pass
    equal(db.execute("select count(*) from t").fetchone(), (5000,))
    db.execute("vacuum")
    equal(db.execute("pragma integrity_check").fetchone(), ("ok",))
    db.close()
    equal(os.path.exists(path + "-journal"), False)


@check
def sqlite_connections_share_a_file():
    import sqlite3

    path = f"{TMP}/shared.db"
    one, two = sqlite3.connect(path, timeout=0), sqlite3.connect(path, timeout=0)
    one.execute("create table t(a)")
    one.execute("insert into t values(1)")
    equal(two.execute("select count(*) from t").fetchone(), (0,))
    raises(sqlite3.OperationalError, "locked", two.execute, "create table u(a)")
    one.commit()
    two.execute("insert into t values(2)")
    two.commit()
    equal(one.execute("select sum(a) from t").fetchone(), (3,))
    one.close()
    two.close()
    equal(os.path.exists(path + ".lock"), False)


@check
def compression():
    import bz2
    import gzip
    import lzma
    import zlib

    data = b"wasibox " * 10000 + bytes(range(256)) * 40
    for module in (zlib, bz2, lzma, gzip):
        packed = module.compress(data)
        assert len(packed) < len(data) // 4, module
        equal(module.decompress(packed), data)
    equal(zlib.crc32(b"123456789"), 0xCBF43926)
    equal(zlib.adler32(b"Wikipedia"), 0x11E60398)
    equal(lzma.decompress(lzma.compress(data, format=lzma.FORMAT_ALONE)), data)
    raises(zlib.error, "incorrect header", zlib.decompress, b"not zlib")
    raises(EOFError, "ended before", gzip.decompress, gzip.compress(data)[:-1])


@check
def archives():
    import io
    import tarfile
    import zipfile

    for mode in ("gz", "bz2", "xz"):
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode=f"w:{mode}") as t:
            info = tarfile.TarInfo("a/b")
            info.size = 3
            t.addfile(info, io.BytesIO(b"abc"))
        raw.seek(0)
        with tarfile.open(fileobj=raw) as t:
            equal(t.extractfile("a/b").read(), b"abc")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", method) as z:
            z.writestr("x.txt", "text" * 100)
        with zipfile.ZipFile(raw) as z:
            equal((z.testzip(), z.read("x.txt")), (None, b"text" * 100))


@check
def hashes():
    import hashlib
    import hmac

    vectors = {  # FIPS 180/202, RFC 1321, RFC 7693: of b"abc"
        "md5": "900150983cd24fb0d6963f7d28e17f72",
        "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
        "sha224": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7",
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "sha384": "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
        "sha512": "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        "sha3_224": "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf",
        "sha3_256": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
        "sha3_384": "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25",
        "sha3_512": "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
        "blake2b": "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
        "blake2s": "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982",
    }
    for name, expected in vectors.items():
        equal(hashlib.new(name, b"abc").hexdigest(), expected)
        assert name in hashlib.algorithms_guaranteed
    equal(hashlib.shake_128(b"").hexdigest(8), "7f9c2ba4e88f827d")
    equal(hashlib.shake_256(b"").hexdigest(8), "46b9dd2b0ba88d13")
    # RFC 4231, test case 2.
    equal(
        hmac.new(b"Jefe", b"what do ya want for nothing?", "sha256").hexdigest(),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    )


@check
def numbers():
    import cmath
    import decimal
    import fractions
    import math
    import statistics

    with decimal.localcontext(decimal.Context(prec=30)):
        equal(str(decimal.Decimal(2).sqrt()), "1.41421356237309504880168872421")
    equal(decimal.__name__ and decimal.HAVE_THREADS, True)
    import _decimal

    equal(decimal.Decimal, _decimal.Decimal)
    equal(str(fractions.Fraction(1, 3) + fractions.Fraction(1, 6)), "1/2")
    equal((math.isqrt(10**20), math.gcd(12, 18), math.comb(10, 3)), (10**10, 6, 120))
    equal((repr(math.pi), repr(math.e ** 10), repr(math.gamma(5.5))), ("3.141592653589793", "22026.465794806703", "52.34277778455352"))
    equal(repr(0.1 + 0.2), "0.30000000000000004")
    equal(float("1e-320"), 1e-320)
    equal(round(2.675, 2), 2.67)
    equal(cmath.sqrt(-4), 2j)
    equal(statistics.stdev([1, 2, 3, 4]), 1.2909944487358056)
    equal(pow(3, -1, 7), 5)
    equal(f"{1234567.891:,.2f} {255:#x} {1e22} {float('nan')}", "1,234,567.89 0xff 1e+22 nan")
    raises(ZeroDivisionError, "division", lambda: 1 / 0)
    raises(OverflowError, "", math.exp, 1000)
    raises(ValueError, "math domain", math.sqrt, -1)


@check
def text():
    import codecs
    import difflib
    import locale
    import re
    import string
    import textwrap
    import unicodedata

    equal(re.sub(r"(?P<y>\d{4})-(\d\d)", r"\2/\g<y>", "on 2024-05"), "on 05/2024")
    equal(re.findall(r"\b\w+(?=!)", "hey! you ho!"), ["hey", "ho"])
    equal(unicodedata.normalize("NFD", "é"), "e\u0301")
    equal("straße".casefold(), "strasse")
    for name in ("shift_jis", "gb18030", "euc_kr", "big5", "utf-16", "cp1252", "koi8-r"):
        word = {"shift_jis": "日本", "gb18030": "中文", "euc_kr": "한국", "big5": "中文"}.get(name, "a")
        equal(word.encode(name).decode(name), word)
    equal(codecs.encode("hello", "rot13"), "uryyb")
    equal(textwrap.fill("one two three", 8), "one two\nthree")
    equal(list(difflib.unified_diff(["a"], ["b"], lineterm=""))[2:], ["@@ -1 +1 @@", "-a", "+b"])
    equal(string.Template("$a").substitute(a=1), "1")
    equal(sys.getfilesystemencoding(), "utf-8")
    locale.setlocale(locale.LC_ALL, "C")


@check
def dates():
    import datetime
    import time
    import zoneinfo

    day = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.UTC)
    equal(day.isoformat(), "2024-02-29T12:00:00+00:00")
    equal(day.strftime("%a %d %b %Y %j"), "Thu 29 Feb 2024 060")
    equal(datetime.datetime.strptime("2024-02-29", "%Y-%m-%d").weekday(), 3)
    summer = datetime.datetime(2024, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin"))
    equal(summer.utcoffset(), datetime.timedelta(hours=2))
    before = os.environ.get("TZ")
    for zone, names, offset, hour in (
        ("Europe/Berlin", ("CET", "CEST"), -3600, 14),
        ("America/New_York", ("EST", "EDT"), 18000, 8),
        ("Asia/Kolkata", ("IST", "IST"), -19800, 17),
        ("AEST-10AEDT,M10.1.0,M4.1.0/3", ("AEST", "AEDT"), -36000, 22),
        ("UTC", ("UTC", "UTC"), 0, 12),
    ):
        os.environ["TZ"] = zone
        time.tzset()
        equal((time.tzname, time.timezone), (names, offset))
        noon = 1719835200  # 2024-07-01 12:00 UTC
        equal(time.localtime(noon).tm_hour, hour)
        equal(time.mktime(time.localtime(noon)), noon)
        local = datetime.datetime.fromtimestamp(noon).astimezone()
        equal((local.hour, local.timestamp(), local.tzname()), (hour, noon, time.strftime("%Z", time.localtime(noon))))
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()
    assert time.time() > 1_700_000_000
    start = time.monotonic()
    time.sleep(0.02)
    assert 0.015 < time.monotonic() - start < 5
    equal(time.gmtime(0)[:6], (1970, 1, 1, 0, 0, 0))
    assert time.process_time() >= 0 and time.perf_counter() > 0


@check
def markup():
    import configparser
    import html
    import tomllib
    import xml.dom.minidom
    import xml.etree.ElementTree as ET
    from html.parser import HTMLParser

    root = ET.fromstring("<a x='1'><b>t&amp;é</b><b/></a>")
    equal([b.text for b in root.iter("b")], ["t&é", None])
    equal(ET.tostring(root, "unicode"), '<a x="1"><b>t&amp;é</b><b /></a>')
    raises(ET.ParseError, "mismatched tag", ET.fromstring, "<a></b>")
    equal(xml.dom.minidom.parseString("<a><b/></a>").toprettyxml(indent=" ").count("\n"), 4)
    equal(tomllib.loads("a = [1, 2]\n[b]\nc = 2024-01-01\n")["a"], [1, 2])
    config = configparser.ConfigParser()
    config.read_string("[s]\nk = v\n")
    equal(config["s"]["k"], "v")
    equal(html.unescape("&eacute;&#33;"), "é!")
    seen = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: seen.append((tag, attrs))
    parser.feed("<p class=x>hi<br>")
    equal(seen, [("p", [("class", "x")]), ("br", [])])


@check
def structures():
    import array
    import base64
    import bisect
    import collections
    import copy
    import dataclasses
    import enum
    import functools
    import heapq
    import itertools
    import operator
    import pickle
    import random
    import struct
    import uuid

    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: int = 0

    equal(copy.deepcopy([Point(1)]), [Point(1, 0)])
    equal(pickle.loads(pickle.dumps({"a": (1, 2.5, b"x")})), {"a": (1, 2.5, b"x")})
    equal(struct.pack("<IhQ", 1, -2, 3), b"\x01\0\0\0\xfe\xff\x03\0\0\0\0\0\0\0")
    equal(array.array("d", [1.5]).tobytes(), struct.pack("d", 1.5))
    equal(base64.b64encode(b"wasi"), b"d2FzaQ==")
    equal(collections.Counter("abca").most_common(1), [("a", 2)])
    equal(heapq.nsmallest(2, [5, 1, 4]), [1, 4])
    equal(bisect.bisect([1, 3, 5], 3), 2)
    equal(list(itertools.batched("abcd", 3)), [("a", "b", "c"), ("d",)])
    equal(functools.reduce(operator.mul, range(1, 6)), 120)
    equal(enum.Enum("E", "A B").B.value, 2)
    equal(random.Random(42).random(), 0.6394267984578837)
    assert random.random() != random.random()
    equal(str(uuid.uuid5(uuid.NAMESPACE_DNS, "python.org")), "886313e1-3b8a-5372-9b90-0c9aee199e5d")
    assert uuid.uuid4() != uuid.uuid4()


@check
def language():
    match {"k": [1, 2]}:
        case {"k": [a, *rest]}:
            equal((a, rest), (1, [2]))
    try:
        raise ExceptionGroup("g", [ValueError("v"), KeyError("k")])
    except* ValueError as group:
        equal(len(group.exceptions), 1)
    except* KeyError:
        pass
    equal(eval("(lambda x: x ** 2)(12)"), 144)
    code = compile("y = [i for i in range(3)]", "<s>", "exec")
    space = {}
    exec(code, space)
    equal(space["y"], [0, 1, 2])

    def generator():
        got = yield 1
        yield got

    g = generator()
    equal((next(g), g.send("x")), (1, "x"))
    import ast

    equal(ast.unparse(ast.parse("a  = 1 +2")), "a = 1 + 2")


@check
def command_line_tools():
    import runpy

    with open(f"{TMP}/in.json", "w") as f:
        f.write('{"a":1}')
    saved = sys.argv
    try:
        sys.argv = ["json.tool", f"{TMP}/in.json", f"{TMP}/out.json"]
        runpy.run_module("json.tool", run_name="__main__")
        sys.argv = ["zipfile", "-c", f"{TMP}/z.zip", f"{TMP}/in.json"]
        runpy.run_module("zipfile", run_name="__main__")
    finally:
        sys.argv = saved
    with open(f"{TMP}/out.json") as f:
        equal(f.read(), '{\n    "a": 1\n}\n')
    import zipfile

    equal(zipfile.ZipFile(f"{TMP}/z.zip").namelist(), ["in.json"])


@check
def every_module_imports():
    """All of the library but what is known to need what WASI lacks."""
    import importlib
    import warnings

    # Each says why when imported by name; those that print or open a browser are skipped.
    no_system = {
        "antigravity", "this", "idlelib", "turtle", "turtledemo", "lib2to3", "tkinter", "test",
        "ensurepip", "pty", "tty", "nturl2path", "msilib",
        "winreg", "winsound", "msvcrt", "_winapi", "_wmi", "_scproxy", "nt", "_overlapped",
        "fcntl", "grp", "pwd", "resource", "syslog", "termios", "readline",
        "_dbm", "_gdbm", "_hashlib", "_uuid", "_tkinter",
        "_posixsubprocess", "_interpreters",
        "_interpchannels", "_interpqueues", "_android_support", "_apple_support",
        "_ios_support", "_osx_support", "_aix_support", "_pyrepl",
    }
    bad = []
    for name in sorted(sys.stdlib_module_names - no_system):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                importlib.import_module(name)
        except ImportError as error:
            bad.append(f"{name}: {error}")
    equal(bad, [])


@check
def hashes_of_openssl():
    """Vectors of RFC 6070, 7914, FIPS 180-4's examples, RIPEMD-160's authors and GB/T 32905."""
    import hashlib
    import hmac

    key = hashlib.pbkdf2_hmac("sha1", b"password", b"salt", 4096, 20)
    equal(key.hex(), "4b007901b765489abead49d926f721d065a429c1")
    key = hashlib.pbkdf2_hmac("sha1", b"pass\0word", b"sa\0lt", 4096, 16)
    equal(key.hex(), "56fa6aa75548099dcc37d7f03425e0c3")
    key = hashlib.pbkdf2_hmac("sha256", b"passwd", b"salt", 1, 64)
    equal(key.hex()[:32], "55ac046e56e3089fec1691c22544b605")
    key = hashlib.pbkdf2_hmac("sha256", b"Password", b"NaCl", 80000, 64)
    equal(key.hex()[:32], "4ddcd8f60b98be21830cee5ef22701f9")
    key = hashlib.scrypt(b"", salt=b"", n=16, r=1, p=1)
    equal(key.hex()[:32], "77d6576238657b203b19ca42c18a0497")
    key = hashlib.scrypt(b"password", salt=b"NaCl", n=1024, r=8, p=16, maxmem=1 << 26)
    equal(key.hex()[:32], "fdbabe1c9d3472007856e7190d01e9fe")
    key = hashlib.scrypt(b"pleaseletmein", salt=b"SodiumChloride", n=16384, r=8, p=1)
    equal(key.hex()[:32], "7023bdcb3afd7348461c06cd81fd38eb")
    for name, digest in (
        ("ripemd160", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
        ("sha512_224", "4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa"),
        ("sha512_256", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        ("sm3", "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"),
    ):
        equal(hashlib.new(name, b"abc").hexdigest(), digest)
        assert name in hashlib.algorithms_available
        parts = hashlib.new(name)
        for part in b"a", b"b", b"c":
            parts.update(part)
        equal(parts.copy().hexdigest(), digest)
    tag = hmac.digest(b"Jefe", b"what do ya want for nothing?", "sha256")
    equal(tag.hex()[:32], "5bdcc146bf60754e6a042426089575c7")
    raises(ValueError, "unsupported hash type", hashlib.pbkdf2_hmac, "nothing", b"", b"", 1)
    raises(ValueError, "power of 2", hashlib.scrypt, b"", salt=b"", n=3, r=1, p=1)


@check
def times_and_locales():
    """glibc's additions to strftime; clocks of processor time; names of locales that are not there."""
    import locale
    import os
    import time

    when = (2024, 2, 9, 15, 4, 5, 4, 40, 0)
    equal(time.strftime("%k|%l|%P|%^a|%^B|%#p|%-k|%_5k|%05l", when), "15| 3|pm|FRI|FEBRUARY|pm|15|   15|00003")
    equal(time.strftime("%Y-%m-%d %H:%M %p %-d %e %%k" + "x" * 100, when), "2024-02-09 15:04 PM 9  9 %k" + "x" * 100)
    equal(time.strftime("", when), "")
    before, thread = time.process_time(), time.thread_time()
    time.sleep(0.3)
    assert time.process_time() - before < 0.2 and time.thread_time() - thread < 0.2
    sum(range(200000))
    assert time.process_time() > before and time.thread_time() > thread
    assert os.times().user >= 0
    equal(len(os.getloadavg()), 3)
    equal(len(os.sched_getaffinity(0)), os.cpu_count())
    saved = locale.setlocale(locale.LC_ALL)
    raises(locale.Error, "unsupported", locale.setlocale, locale.LC_ALL, "de_DE.UTF-8")
    raises(locale.Error, "unsupported", locale.setlocale, locale.LC_NUMERIC, "nothing")
    for name in "C", "C.UTF-8", "POSIX", "", saved:
        locale.setlocale(locale.LC_ALL, name)


@check
def event_loop():
    import asyncio

    async def work(n):
        await asyncio.sleep(0.01)
        return n * 2

    async def main():
        return await asyncio.gather(*(work(i) for i in range(3)))

    equal(asyncio.run(main()), [0, 2, 4])


def main(arguments):
    native = "--native" in arguments
    wanted = [a for a in arguments if not a.startswith("-")]
    import shutil

    shutil.rmtree(TMP, ignore_errors=True)
    os.makedirs(TMP)
    failed = 0
    for function in CHECKS:
        name = function.__name__
        if (wanted and name not in wanted) or (native and name in GUEST_ONLY):
            continue
        try:
            function()
        except Exception as error:
            failed += 1
            line = traceback.extract_tb(error.__traceback__)[1].lineno if error.__traceback__.tb_next else 0
            print(f"FAIL {name}: line {line}: {type(error).__name__}: {error}", flush=True)
        else:
            print(f"ok {name}", flush=True)
    shutil.rmtree(TMP, ignore_errors=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
