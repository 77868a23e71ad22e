"""Tests threads. The guest and the machine's own CPython must print the same
(tests/harness/tests/python.rs). No result may depend on time or on which thread runs first."""

import _thread
import asyncio
import atexit
import concurrent.futures
import contextvars
import json
import os
import queue
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

# The maximum wait for something that certainly happens.
LONG = 60

# The state of a new interpreter, although the prepared one has already used threads' objects.
print(
    "at first:",
    Thread().name,
    threading.main_thread().name,
    threading.main_thread().ident == threading.get_ident(),
    threading.current_thread() is threading.main_thread(),
    threading.enumerate() == [threading.main_thread()],
)


def started(*functions, **options):
    threads = [Thread(target=f, **options) for f in functions]
    for thread in threads:
        thread.start()
    return threads


def together(*functions):
    for thread in started(*functions):
        thread.join()


# --- shared and separate state ---------------------------------------

counter = 0
lock = threading.Lock()


def count():
    global counter
    for _ in range(5000):
        with lock:
            counter += 1


together(*[count] * 8)
print("a lock:", counter)

items, results = queue.Queue(maxsize=3), queue.SimpleQueue()


def produce():
    for n in range(100):
        items.put(n)
    items.put(None)


def consume():
    while (n := items.get()) is not None:
        results.put(n * n)
        items.task_done()
    items.put(None)


together(produce, consume, consume, consume)
print("producer and consumers:", sorted(results.get() for _ in range(100)) == [n * n for n in range(100)])

turn, log = threading.Condition(), []


def speaker(own, other):
    def speak():
        for n in range(3):
            with turn:
                turn.wait_for(lambda: len(log) % 2 == own, LONG)
                log.append(f"{other}{n}")
                turn.notify_all()

    return speak


together(speaker(1, "pong"), speaker(0, "ping"))
print("a condition:", log)

local = threading.local()


def own():
    assert not hasattr(local, "name")
    local.name = threading.current_thread().name
    time.sleep(0.01)
    assert local.name == threading.current_thread().name


together(*[own] * 5)
print("thread-local:", hasattr(local, "name"))

barrier, passed = threading.Barrier(4), []
together(*[lambda: passed.append(barrier.wait(LONG))] * 4)
print("a barrier:", sorted(passed))

gate, inside, most = threading.Semaphore(2), 0, 0


def enter():
    global inside, most
    with gate:
        inside += 1
        most = max(most, inside)
        time.sleep(0.005)
        inside -= 1


together(*[enter] * 6)
print("a semaphore:", most)

event = threading.Event()
timer = threading.Timer(0.01, event.set)
timer.start()
print("a timer:", event.wait(LONG))
timer = threading.Timer(LONG, print, ["never"])
timer.start()
timer.cancel()
timer.join()

again = threading.RLock()
with again, again:
    together(lambda: print("a lock of another's:", again.acquire(blocking=False)))

variable = contextvars.ContextVar("variable", default=1)
variable.set(2)
together(lambda: print("context:", variable.get()))

# --- how they end ---------------------------------------------------------------

threading.excepthook = lambda a: print("raised:", a.exc_type.__name__, a.exc_value, a.thread.name)
together(lambda: 1 / 0)
together(lambda: sys.exit(3))
threading.excepthook = threading.__excepthook__

for _ in range(1000):
    thread = Thread(target=int)
    thread.start()
    thread.join()
print("one after another:", threading.active_count())

hold = threading.Event()
many = started(*[lambda: hold.wait(LONG)] * 100)
print("at once:", threading.active_count(), len({t.ident for t in many}))
hold.set()
for thread in many:
    thread.join(LONG)
print("afterwards:", threading.active_count(), any(t.is_alive() for t in many))

sleeper = Thread(target=hold.wait, daemon=True)
hold.clear()
sleeper.start()
sleeper.join(0.01)
print("join with time:", sleeper.is_alive())
hold.set()
sleeper.join()

for wrong in (lambda: threading.current_thread().join(), sleeper.start, Thread().join):
    try:
        wrong()
    except RuntimeError as error:
        print("refused:", error)

# --- waits ------------------------------------------------------------------------

with lock:
    print("no lock:", lock.acquire(timeout=0.01))
try:
    queue.Queue().get(timeout=0.01)
except queue.Empty:
    print("nothing in the queue")
print("no event:", threading.Event().wait(0.01))

naps = 20
began = time.monotonic()
together(*[lambda: time.sleep(0.5)] * naps)
print("sleeps overlap:", time.monotonic() - began < naps * 0.5)

# Both threads compute and never wait, and each gets its turns.
stop, turns = False, [0, 0]


def compute(n):
    def loop():
        while not stop:
            turns[n] += 1

    return loop


workers = started(compute(0), compute(1))
until = time.monotonic() + LONG
while min(turns) < 1000 and time.monotonic() < until:
    time.sleep(0.001)
stop = True
for worker in workers:
    worker.join()
print("both compute:", min(turns) >= 1000)

read, write = os.pipe()
together(lambda: print("a pipe:", os.read(read, 10)), lambda: os.write(write, b"through"))

together(
    *[lambda n=n: results.put(subprocess.check_output(["echo", str(n)], text=True)) for n in range(4)]
)
print("processes:", sorted(results.get() for _ in range(4)))

# --- signals ----------------------------------------------------------------------

handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(threading.current_thread().name))


def kill_soon(number):
    def kill():
        time.sleep(0.02)
        os.kill(os.getpid(), number)

    return kill


before = threading.Event()
thread, = started(kill_soon(signal.SIGUSR1))
while not handled:
    before.wait(0.5)
thread.join()
print("handled by:", handled)

for wait in (threading.Event().wait, threading.Lock().acquire, queue.Queue().get, lambda: time.sleep(LONG)):
    if isinstance(getattr(wait, "__self__", None), type(lock)):
        wait()
    thread, = started(kill_soon(signal.SIGINT))
    try:
        wait()
    except KeyboardInterrupt:
        print("interrupted")
    thread.join()

# A signal ends a deadlock of two threads for the first thread; the other one is a daemon.
one, two = threading.Lock(), threading.Lock()


def cross():
    two.acquire()
    crossed.wait(LONG)
    one.acquire()


crossed = threading.Barrier(2)
started(cross, daemon=True)
one.acquire()
crossed.wait(LONG)
thread, = started(kill_soon(signal.SIGINT))
try:
    two.acquire()
except KeyboardInterrupt:
    print("a deadlock ends")
thread.join()

try:
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    together(lambda: results.put(signal.getsignal(signal.SIGUSR1)))
    print("disposition:", results.get())
except ValueError as error:
    print(error)


def set_handler():
    try:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    except ValueError as error:
        print("refused:", error)


together(set_handler)
try:
    _thread.interrupt_main()
    time.sleep(LONG)
except KeyboardInterrupt:
    print("interrupt_main")

# --- depth -----------------------------------------------------------------------


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


def too_deep(name, function):
    def call():
        try:
            function()
            print(name, "no error")
        except RecursionError:
            print(name, "RecursionError")

    return call


class Same:
    def __eq__(self, other):
        return [self] == [Same()]

    def __repr__(self):
        return repr([self])

    def __getattr__(self, name):
        return getattr(self, name + "x")


nested = []
for _ in range(100_000):
    nested = [nested]
together(lambda: print("depth:", deep(900)))
together(too_deep("Python:", lambda: deep(100_000)))
together(too_deep("comparisons:", lambda: Same() == Same()))
together(too_deep("repr:", lambda: repr(Same())))
together(too_deep("attributes:", lambda: Same().a))
together(too_deep("nested lists:", lambda: repr(nested)))
together(too_deep("json:", lambda: json.dumps(nested)))
together(too_deep("loads:", lambda: json.loads("[" * 100_000)))
together(too_deep("isinstance:", lambda: isinstance(1, eval("(" + "(" * 50 + "int,)" + ",)" * 50))))
while nested:
    nested = nested[0]

print("stack size:", threading.stack_size(), threading.stack_size(4 << 20), threading.stack_size())
together(lambda: print("larger stack:", deep(900)))
try:
    threading.stack_size(1)
except ValueError as error:
    print(error)
threading.stack_size(0)

# --- executors and loops ------------------------------------------------------------

with ThreadPoolExecutor(4) as pool:
    meet = threading.Barrier(4)
    print("four at once:", sorted(pool.map(lambda n: (meet.wait(LONG), n)[1], range(4))))
    print("which threads:", len({pool.submit(threading.get_ident).result() for _ in range(4)}) <= 4)
    wait = threading.Event()
    busy = [pool.submit(wait.wait, LONG) for _ in range(4)]
    waiting = pool.submit(int)
    print("cancelled:", waiting.cancel(), waiting.cancelled())
    try:
        busy[0].result(timeout=0.01)
    except concurrent.futures.TimeoutError:
        print("no result yet")
    wait.set()
    print("done:", len(concurrent.futures.wait(busy, LONG).done))


async def loops():
    meet = threading.Barrier(2)
    waits = [asyncio.to_thread(meet.wait, LONG) for _ in range(2)]
    print("to_thread:", sorted(await asyncio.gather(*waits)))
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    started(lambda: loop.call_soon_threadsafe(future.set_result, "called"))
    print("call_soon_threadsafe:", await future)

    async def double(n):
        return 2 * n

    def elsewhere():
        return asyncio.run_coroutine_threadsafe(double(21), loop).result(LONG)

    print("run_coroutine_threadsafe:", await asyncio.to_thread(elsewhere))
    try:
        async with asyncio.timeout(0.01):
            await asyncio.to_thread(time.sleep, 0.1)
    except TimeoutError:
        print("a timeout while a thread works")


asyncio.run(loops())
together(lambda: print("a loop in a thread:", asyncio.run(asyncio.sleep(0.01, "slept"))))

# --- libraries ------------------------------------------------------------------------


def database():
    with sqlite3.connect("/tmp/threads.db", timeout=LONG) as connection:
        connection.execute("create table if not exists t (n)")
        for n in range(10):
            connection.execute("insert into t values (?)", [n])
            connection.commit()
    connection.close()


if os.path.exists("/tmp/threads.db"):
    os.remove("/tmp/threads.db")
together(*[database] * 3)
print("a database:", sqlite3.connect("/tmp/threads.db").execute("select count(*), sum(n) from t").fetchall())
os.remove("/tmp/threads.db")

together(*[lambda: __import__("xml.dom.minidom").dom.minidom.parseString("<a/>")] * 4)
print("imports")


class Holder:
    def __del__(self):
        gone.append(threading.current_thread() is not threading.main_thread())


gone = []
together(lambda: Holder())
print("finalised:", gone)

# --- the end ---------------------------------------------------------------------------


def last():
    time.sleep(0.05)
    print("a thread that is waited for")


def for_ever():
    while True:
        time.sleep(0.001)


atexit.register(lambda: print("at exit", threading.active_count() >= 2))
started(last)
started(for_ever, lambda: time.sleep(LONG), daemon=True)
print("end of the script")
