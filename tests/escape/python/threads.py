#: attacks = threads, tasks and pools
#: timeout = 1
#: status = any
import asyncio, threading, concurrent.futures, sys
for f in (lambda: [threading.Thread(target=print).start() for _ in range(10000)], lambda: list(concurrent.futures.ThreadPoolExecutor(1000).map(print, range(9))),
          lambda: list(concurrent.futures.ProcessPoolExecutor(9).map(print, range(9))), lambda: threading.stack_size(1 << 30), lambda: threading.Lock().acquire(timeout=1)):
    try:
        f()
    except (Exception, MemoryError):
        pass
async def bomb():
    await asyncio.gather(*[bomb() for _ in range(10)])
asyncio.run(bomb())
