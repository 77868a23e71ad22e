"""Memory over many calls."""

from __future__ import annotations

import asyncio
import gc
import os
import time

import wasibox


def resident() -> int:
    """Returns the resident memory of this process in bytes."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def test_10_000_calls_leave_nothing():
    data = bytes(100_000)
    with wasibox.Session() as s:
        s.write("/tmp/data", data)

        def calls(n):
            for _ in range(n):
                s.stat("/tmp")

        def reads(n):
            for _ in range(n):
                assert s.read("/tmp/data") == data

        def execs(n):
            for _ in range(n):
                # The history of a session without a store is in memory. Commands that change
                # nothing make it grow least.
                assert s.exec(["true"], list_files=False).ok

        for act, warm, count, each in ((calls, 2000, 8000, 100), (reads, 500, 1500, 100)):
            act(warm)
            gc.collect()
            before = resident()
            act(count)
            gc.collect()
            grown = resident() - before
            assert grown < each * count + (4 << 20), (act.__name__, grown)
        execs(100)
        before = resident()
        execs(500)
        # The history of a call takes about a kilobyte in the store.
        assert resident() - before < 500 * 8192 + (4 << 20)


def held() -> tuple[int, int]:
    """Returns the numbers of descriptors and threads of this process."""
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def test_sessions_that_are_closed_leave_nothing():
    engine = wasibox.Engine(warm=0)

    def sessions(n):
        for _ in range(n):
            with wasibox.Session(engine=engine) as s:
                assert s.exec(["true"]).ok

    async def cancelled(n):
        for _ in range(n):
            async with wasibox.AsyncSession(engine=engine) as s:
                await s.exec("true")
                task = asyncio.create_task(s.exec("while :; do :; done"))
                await asyncio.sleep(0.02)
                task.cancel()
                await asyncio.wait([task])

    def acts(n):
        sessions(n)
        asyncio.run(cancelled(n))
        gc.collect()

    acts(5)
    before, memory = held(), resident()
    acts(40)
    # The threads of cancelled calls take a moment to end.
    until = time.monotonic() + 20
    while time.monotonic() < until and any(now > then + 4 for now, then in zip(held(), before)):
        time.sleep(0.1)
    assert all(now <= then + 4 for now, then in zip(held(), before)), (before, held())
    assert resident() - memory < 16 << 20
