"""Measures forks of a session whose Python holds NumPy: making them, the first cell in each, the
memory of those that are awake and of those that sleep.

``cargo xtask bench forks`` runs this. Linux only: memory is that of proc(5)'s ``smaps_rollup``.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import sqlite3
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import wasibox

AWAKE = 100
SLEEPING = 1000
RUNS = 5
CODE = "import numpy as np\na = np.arange(65536)\nx = 0"
ENGINE = wasibox.Engine(awake=AWAKE + 8)


def children() -> set[int]:
    """Returns the ids of this process's children: the sessions' processes, and those of the pool."""
    tasks = pathlib.Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def memory(process: int | str, line: str) -> int:
    """Returns the bytes of a line of ``smaps_rollup``."""
    text = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(re.search(rf"^{line}: +(\d+) kB$", text, re.M)[1]) * 1024


def heap_of(process: int) -> int:
    """Returns the bytes of a process's own pages that belong to no file: its heaps and stacks."""
    own, is_file = 0, False
    for line in pathlib.Path(f"/proc/{process}/smaps").read_text().splitlines():
        if head := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+)", line):
            is_file = head[1] != "0"
        elif line.startswith("Private_Dirty:") and not is_file:
            own += int(line.split()[1]) * 1024
    return own


def processor_time() -> float:
    """Returns the seconds of processor time that this process and its children have used."""
    ticks = os.sysconf("SC_CLK_TCK")
    fields = (pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in children())
    ours = os.times()
    return ours.user + ours.system + sum(int(f[11]) + int(f[12]) for f in fields) / ticks


def measure_making(kind: str, session: wasibox.Session) -> None:
    times = []
    for _ in range(RUNS):
        begun = time.perf_counter()
        forks = session.fork_many(AWAKE)
        times.append(time.perf_counter() - begun)
        for fork in forks:
            fork.close()
    print(f"{AWAKE} forks, {kind}: {statistics.median(times) * 1e3:.1f} ms")


def run_first(fork: wasibox.Session) -> None:
    outcome = fork.python("x += 1\nx")
    assert (outcome.exit_code, outcome.value) == (0, 1), outcome


def measure_first_cells(session: wasibox.Session) -> None:
    threads = os.cpu_count() or 1
    times, spent, whole, heaps, pages = [], [], [], [], []
    for _ in range(RUNS):
        forks = session.fork_many(AWAKE)
        used, begun = processor_time(), time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(run_first, forks))
        times.append(time.perf_counter() - begun)
        spent.append(processor_time() - used)
        # The parent's process and two or three of the pool are among them, which a median ignores.
        awake = children()
        assert len(awake) >= AWAKE
        whole.append(statistics.median(memory(pid, "Pss") for pid in awake))
        heaps.append(statistics.median(heap_of(pid) for pid in awake))
        pages.append(statistics.median(memory(pid, "Private_Dirty") for pid in awake) - heaps[-1])
        for fork in forks:
            fork.close()
        time.sleep(1)  # Their processes have ended, and the pool has workers again.
    mib = [statistics.median(sizes) / 2**20 for sizes in (whole, heaps, pages)]
    print(
        f"the first cell (`x += 1`) in all {AWAKE}, {threads} at a time: {statistics.median(times):.2f} s "
        f"({statistics.median(spent):.2f} s of processor time)"
    )
    print("memory (PSS) of each after it: %.2f MiB, of which heap %.2f, pages of Python's memory %.2f" % tuple(mib))


def stored_bytes(file: pathlib.Path) -> int:
    """Returns the size of a store with what is still in SQLite's log."""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        return db.execute("PRAGMA page_count").fetchone()[0] * db.execute("PRAGMA page_size").fetchone()[0]


def measure_sleeping(session: wasibox.Session, stored: wasibox.Session, file: pathlib.Path) -> None:
    before = memory("self", "Private_Dirty")
    forks = session.fork_many(SLEEPING)
    grown = memory("self", "Private_Dirty") - before
    print(f"{SLEEPING} forks that sleep: {grown / 1e3 / SLEEPING:.1f} KB each in this process")
    for fork in forks:
        fork.close()
    size = stored_bytes(file)
    stored.fork_many(SLEEPING)
    grown = stored_bytes(file) - size
    print(f"{SLEEPING} forks that sleep: {grown / 1e3 / SLEEPING:.1f} KB each in the store's file")


ENGINE.warm_up()
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    with wasibox.Session(engine=ENGINE) as own, wasibox.Session(engine=ENGINE, store=folder / "w.wbx") as stored:
        for session in (own, stored):
            session.python(CODE)
        measure_making("in memory", own)
        measure_making("in a file", stored)
        measure_first_cells(own)
        measure_sleeping(own, stored, folder / "w.wbx")
