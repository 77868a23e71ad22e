"""Memory over many calls."""

from __future__ import annotations

import gc

import wasibox


def resident() -> int:
    """Bytes of this process that are in memory."""
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
                # A session's history is in memory: commands that change nothing make it grow least.
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
