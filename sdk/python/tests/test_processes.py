"""Tests processes that continue from call to call, and ports. Expected output is that of bash, CPython."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request

import pytest

import wasibox


def test_a_process_is_written_to_and_read():
    with wasibox.Session() as s:
        p = s.start_process("while read x; do echo \"<$x> $A\"; done; exit 4", env={"A": "b"})
        assert (p.process, p.status, p.exit_code, p.terminal) == (1, "running", None, False)
        s.write_process(1, "one\ntwo")
        first = s.read_process(1, until="one", wait=60)
        assert (first.found, first.output, first.dropped) == (True, "<one> b\n", 0)
        s.write_process(1, "\n", end=True)
        rest = s.read_process(1, until="never", wait=60)
        assert (rest.found, rest.output, rest.process.exit_code) == (False, "<two> b\n", 4)
        assert s.read_process(1, after=0, max_output=5).output == "<one>"
        assert [one.status for one in s.processes()] == ["exited"]
        with pytest.raises(wasibox.NotFoundError):
            s.read_process(9)
        with pytest.raises(wasibox.InvalidError):
            s.read_process(1, until="(")
        with pytest.raises(wasibox.InvalidError):
            s.start_process([])


def test_a_terminal_has_a_size():
    with wasibox.Session() as s:
        p = s.start_process(["sh"], terminal=True, size=(30, 90)).process
        s.write_process(p, "stty size\r")
        assert s.read_process(p, until="30 90\r\n", wait=60).found
        s.write_process(p, "stty size\r", size=(20, 40))
        assert s.read_process(p, until="20 40\r\n", wait=60).found
        killed = s.kill_process(p, 9, wait=30)
        assert (killed.status, killed.exit_code) == ("signaled", 137)


def test_undo_says_what_it_has_ended():
    with wasibox.Session() as s:
        s.exec("touch a")
        s.start_process(["sleep", "1000"])
        s.undo()
        assert s.read_process(1, until="x", wait=60).process.status == "lost"


def test_ports_are_exposed_until_they_are_closed():
    with wasibox.Session() as s:
        s.write("/tmp/d/page", "hello\n")
        p = s.start_process(["python3", "-m", "http.server", "8000"], cwd="/tmp/d").process
        assert s.read_process(p, port=8000, wait=60).found
        (port,) = s.ports()
        assert (port.port, port.address, port.command) == (8000, "0.0.0.0", "python3 -m http.server 8000")
        with s.expose(8000) as exposed:
            assert exposed.url == f"http://127.0.0.1:{exposed.port}/"
            assert urllib.request.urlopen(exposed.url + "page").read() == b"hello\n"
            with pytest.raises(wasibox.ConflictError):
                s.expose(8000, exposed.port)
        with pytest.raises(OSError):
            urllib.request.urlopen(exposed.url + "page", timeout=10)
        with pytest.raises(wasibox.InvalidError):
            s.expose(0)


def test_a_coroutine_waits_for_a_process():
    async def main() -> str:
        async with wasibox.AsyncSession() as s:
            p = await s.start_process("sleep 0.2; echo done")
            waits = s.read_process(p.process, until="done", wait=60)
            output, outcome = await asyncio.gather(waits, s.exec("echo call"))
            assert outcome.stdout == "call\n"
            assert [one.process for one in await s.processes()] == [1]
            assert await s.ports() == []
            return output.output

    assert asyncio.run(main()) == "done\n"
