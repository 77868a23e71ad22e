"""Tests executors. The guest and the machine's own CPython must print the same
(tests/harness/tests/python.rs), and so must a runtime without threads."""

import asyncio
import contextvars
import logging
import operator
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from concurrent.futures.thread import BrokenThreadPool


async def double(x):
    await asyncio.sleep(0.01)
    return x * 2


async def from_a_loop():
    print("to_thread:", await asyncio.to_thread(lambda: 5))
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(7)
    print("context:", await asyncio.to_thread(variable.get))
    loop = asyncio.get_running_loop()
    print("run_in_executor:", await loop.run_in_executor(None, sum, [1, 2]))
    try:
        await asyncio.to_thread(operator.truediv, 1, 0)
    except ZeroDivisionError as error:
        print("error:", repr(error))
    print("gather:", await asyncio.gather(*(asyncio.to_thread(pow, 2, n) for n in range(5))))
    with ThreadPoolExecutor() as pool:
        print("a loop of its own:", pool.submit(asyncio.run, double(4)).result())
        print("given pool:", await loop.run_in_executor(pool, pow, 3, 3))
    print("same loop:", loop is asyncio.get_running_loop())
    print("with timeout:", await asyncio.wait_for(asyncio.to_thread(str, 1), 10))
    return "end"


print(asyncio.run(from_a_loop()))

with ThreadPoolExecutor(max_workers=3) as pool:
    print("map:", list(pool.map(lambda x: x * x, range(5))))
    numbers = {pool.submit(divmod, 7, n): n for n in range(3)}
    results = [(numbers[f], repr(f.exception()) if f.exception() else f.result())
               for f in as_completed(numbers)]
    print("as_completed:", sorted(results))
    print("nested:", pool.submit(lambda: pool.submit(int, "7").result()).result())
    print("wait:", *map(len, wait([pool.submit(len, "abc")])))
try:
    pool.submit(int)
except RuntimeError as error:
    print("after the end:", error)

seen = []
with ThreadPoolExecutor(1, initializer=seen.append, initargs=("begun",)) as pool:
    print("initializer:", pool.submit(seen.copy).result(), pool.submit(seen.copy).result())
logging.getLogger("concurrent.futures").disabled = True
with ThreadPoolExecutor(1, initializer=lambda: 1 / 0) as pool:
    print("broken:", type(pool.submit(int).exception()).__name__)
    try:
        pool.submit(int)
    except BrokenThreadPool:
        print("still broken")
