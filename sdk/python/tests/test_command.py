"""The command line of the package: ``wasibox`` and ``python -m wasibox``."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

BIN = Path(sys.executable).parent
COMMAND = str(BIN / "wasibox")


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    # Without these variables, which may name another image, the package uses its own.
    given = {k: v for k, v in os.environ.items() if not k.startswith("WASIBOX_")}
    env = {**given, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=300)


@pytest.fixture(scope="module")
def empty_cache(tmp_path_factory):
    """A cache folder into which the image is unpacked once, for all tests that use the fixture."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("command", [[COMMAND], [sys.executable, "-m", "wasibox"]])
def test_it_has_its_image_and_speaks_of_itself(command, empty_cache):
    shown = run(*command, "--help").stdout
    assert "Usage: wasibox " in shown
    assert not re.search(r"\brunner\b", shown)
    wrong = run(*command, "frob")
    assert wrong.returncode == 2
    assert wrong.stderr == "wasibox: unknown command 'frob'\nTry 'wasibox --help' for more information.\n"
    store = str(Path(empty_cache) / f"{len(command)}.wbx")
    cached = partial(run, XDG_CACHE_HOME=empty_cache, WASIBOX_STORE=store)
    assert cached(*command, "session", "create", "a").returncode == 0
    said = cached(*command, "session", "exec", "a", "echo hi")
    # The machine code that came with the image is used, so nothing is compiled.
    assert (said.returncode, said.stdout) == (0, "hi\n"), said.stderr
    assert "compil" not in said.stderr


def test_unpacking_is_told_to_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "WASIBOX_STORE": str(tmp_path / "s.wbx")}
    env.pop("WASIBOX_IMAGE", None)
    done = subprocess.run([COMMAND, "session", "create", "a"], stderr=theirs, stdout=subprocess.PIPE, env=env)
    os.close(theirs)
    said = os.read(ours, 10000).decode()
    os.close(ours)
    assert done.returncode == 0, said
    assert re.match(r"wasibox: unpacking the image \(\d+ MB\), once\r\n", said), said


async def answer_of(server: StdioServerParameters) -> str:
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "sandbox_exec" in names
        said = await client.call_tool("sandbox_exec", {"command": "echo $((6 * 7)) | tee answer"})
        return said.content[0].text


async def test_a_client_speaks_with_it(empty_cache):
    server = StdioServerParameters(command=COMMAND, args=["mcp"], env={**os.environ, "XDG_CACHE_HOME": empty_cache})
    assert "42" in await answer_of(server)


class Index(SimpleHTTPRequestHandler):
    """Serves the wheels of a folder as an index of packages (PEP 503)."""

    def do_GET(self) -> None:
        parts = self.path.strip("/").split("/")
        if parts[0] != "simple":
            super().do_GET()
            return
        wheels = sorted(Path(self.directory).glob("*.whl"))
        mine = [w.name for w in wheels if w.name.split("-")[0].replace("_", "-") == parts[-1]]
        page = "".join(f'<a href="/{name}">{name}</a>' for name in mine).encode()
        self.send_response(200 if mine else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        """Logs nothing."""


@pytest.fixture
def index():
    """The URL of an index on this machine that has only our packages."""
    packages = os.environ.get("WASIBOX_PACKAGES")
    assert packages, "WASIBOX_PACKAGES names the folder of the wheels: run cargo xtask sdk"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, directory=packages))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/simple"
    server.shutdown()


async def test_uvx_begins_it(index, tmp_path):
    # As in a client's configuration: {"command": "uvx", "args": ["wasibox", "mcp"]}.
    given = {
        "PATH": f"{BIN}:/usr/bin:/bin",
        # Machine code is bound to a key in the home folder. A new home therefore shows whether the
        # code of the package works without a cache.
        "HOME": str(tmp_path),
        "UV_CACHE_DIR": str(tmp_path / "uv"),
        "UV_DEFAULT_INDEX": index,
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
    }
    assert "42" in await answer_of(StdioServerParameters(command="uvx", args=["wasibox", "mcp"], env=given))
