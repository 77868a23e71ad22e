"""How long calls take by the package: ``cargo xtask bench sdk``."""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time

import wasibox

RUNS = 200
FIRST = "import time; t = time.perf_counter(); import wasibox; s = wasibox.Session(); s.exec('true'); print(time.perf_counter() - t)"


def report(name: str, times: list[float]) -> None:
    """Prints a line."""
    print(f"python  {name}: median {statistics.median(times) * 1e3:.3f} ms, best {min(times) * 1e3:.3f} ms")


def timed(act, runs: int = RUNS) -> list[float]:
    """Seconds of each run."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    return times


async def cancelled(runs: int = 20) -> list[float]:
    """Seconds from a cancellation until the session has run the next call."""
    times = []
    async with wasibox.AsyncSession() as s:
        await s.exec("true")
        for _ in range(runs):
            task = asyncio.create_task(s.exec("while :; do :; done"))
            await asyncio.sleep(0.1)
            begun = time.perf_counter()
            task.cancel()
            await asyncio.wait([task])
            await s.exec(["true"])
            times.append(time.perf_counter() - begun)
    return times


with wasibox.Session() as s:
    s.write("/tmp/data", bytes([7]) * 1_000_000)
    report("exec true", timed(lambda: s.exec(["true"])))
    report("read 1 MB", timed(lambda: s.read("/tmp/data")))
firsts = [
    float(subprocess.run([sys.executable, "-c", FIRST], capture_output=True, check=True).stdout)
    for _ in range(10)
]
report("import and first call", firsts)
report("cancelled and called again", asyncio.run(cancelled()))
