"""Measures calls through the package, and prints medians in milliseconds as a line of JSON.

``cargo xtask bench sdk`` runs this.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import wasibox

RUNS = 200
FIRST = "import time; t = time.perf_counter(); import wasibox; s = wasibox.Session(); s.exec('true'); print(time.perf_counter() - t)"


def median(times: list[float]) -> float:
    """Returns the median of times in seconds, in milliseconds."""
    return statistics.median(times) * 1e3


def timed(act, runs: int = RUNS) -> list[float]:
    """Returns the seconds of each run."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        act()
        times.append(time.perf_counter() - begun)
    return times


def first(**env: str) -> float:
    """Returns the seconds of the import and the first call in a new process."""
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, check=True, env={**os.environ, **env})
    return float(done.stdout)


async def cancelled(runs: int = 20) -> list[float]:
    """Returns the seconds from each cancellation until the session has run the next call."""
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


times = {}
with wasibox.Session() as s:
    s.write("/tmp/data", bytes([7]) * 1_000_000)
    times["true"] = median(timed(lambda: s.exec("true")))
    times["command"] = median(timed(lambda: s.exec(["true"])))
    times["read"] = median(timed(lambda: s.read("/tmp/data")))
times["first"] = median([first() for _ in range(10)])
with tempfile.TemporaryDirectory() as empty:
    times["unpack"] = median([first(XDG_CACHE_HOME=empty)])
times["cancel"] = median(asyncio.run(cancelled()))
print(json.dumps({"peer": "Python", "times": times}))
