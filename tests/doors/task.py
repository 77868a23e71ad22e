"""Runs a data task of fifteen steps with the official Python client: task.py RUNNER IMAGE.

The task runs at standard streams, then over HTTP. The server is killed in the middle and started
again on the same store. Expected values follow from arithmetic.
"""

import asyncio
import base64
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

RUNNER, IMAGE = sys.argv[1:3]
ROWS = "\n".join(f"{n},{n * n}" for n in range(1, 101))
FIGURE = """
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
plt.plot(df.x, df.y)
plt.savefig("/output/figure.png")
"""


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, result.content)
    return result


async def run(client, command):
    done = (await call(client, "sandbox_exec", command=command)).structured_content
    assert done["exit_code"] == 0, done
    return done["stdout"]


async def before(client):
    """Runs steps 1 to 11, before the server is killed."""
    tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {"sandbox_exec", "execute_python", "edit_file", "undo", "restore"} <= tools
    await call(client, "write_file", path="/home/user/data.csv", content="x,y\n" + ROWS + "\n")
    assert await run(client, "tail -n +2 data.csv | awk -F, '{ s += $2 } END { print s }'") == "338350\n"
    done = await call(client, "execute_python", code="import pandas as pd\ndf = pd.read_csv('data.csv')\nint(df.y.sum())")
    assert done.structured_content["value"] == "338350"
    figure = await call(client, "execute_python", code=FIGURE)
    pictures = [block for block in figure.content if block.type == "image"]
    assert len(pictures) == 1 and base64.b64decode(pictures[0].data).startswith(b"\x89PNG\r\n\x1a\n")
    listed = await client.list_resources()
    assert [str(r.uri) for r in listed.resources] == ["sandbox:///output/figure.png"]
    await call(client, "edit_file", path="data.csv", edits=[{"old": "10,100\n", "new": "10,0\n"}])
    assert await run(client, "grep -c ',0$' data.csv") == "1\n"
    await call(client, "undo", steps=2)
    assert await run(client, "grep -c '^10,100$' data.csv") == "1\n"
    await call(client, "snapshot", name="whole")
    assert await run(client, "rm data.csv; ls *.csv 2>/dev/null | wc -l") == "0\n"


async def after(client):
    """Runs steps 12 to 15, with another server and the same session."""
    assert await run(client, "ls *.csv 2>/dev/null | wc -l") == "0\n"
    await call(client, "restore", commit="whole")
    assert await run(client, "wc -l < data.csv") == "101\n"
    done = await call(client, "execute_python", code="int(df.x.sum())")
    assert done.structured_content["value"] == "5050"


async def by_streams(store):
    server = StdioServerParameters(command=RUNNER, args=["mcp", "--image", IMAGE, "--store", store])
    for steps in (before, after):
        is_done = False
        try:
            async with asyncio.timeout(300), Client(stdio_client(server)) as client:
                await steps(client)
                is_done = True
                if steps is before:
                    os.kill(child(), signal.SIGKILL)
        except Exception:
            # The client cannot close its connection to a server that was killed.
            if not is_done or steps is after:
                raise


def child():
    """Returns the number of the server process that the client has started."""
    own = str(os.getpid())
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/cmdline", "rb") as command:
                parent = stat.read().rpartition(")")[2].split()[1]
                if parent == own and command.read().split(b"\0")[:2] == [RUNNER.encode(), b"mcp"]:
                    return int(pid)
        except OSError:
            pass  # The process has ended.
    raise ProcessLookupError("there is no server")


def begin(store, port):
    server = subprocess.Popen([RUNNER, "mcp", "--image", IMAGE, "--store", store, "--http", f"127.0.0.1:{port}"])
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return server
        time.sleep(0.05)
    raise TimeoutError("the server does not listen")


async def by_http(store):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    for steps in (before, after):
        server = begin(store, port)
        try:
            async with Client(f"http://127.0.0.1:{port}/mcp?session=task") as client:
                await steps(client)
                if steps is before:
                    os.kill(server.pid, signal.SIGKILL)
                    server.wait()
        except Exception:
            # The client cannot close its connection to a server that was killed.
            if server.poll() is None or steps is after:
                raise
        finally:
            server.kill()
            server.wait()


def main():
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(by_streams(os.path.join(folder, "streams.wbx")))
        print("at standard streams: done")
        asyncio.run(by_http(os.path.join(folder, "http.wbx")))
        print("by HTTP: done")


main()
