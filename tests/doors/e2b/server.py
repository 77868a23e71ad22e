"""The server that E2B's suites and the frameworks use."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

KEY = "e2b_0000000000000000000000000000000000000000"
TOKENS = f"""[[token]]
name = "suites"
token = "{KEY}"
limits = {{ sessions = 1000, requests = 1000, cpu-seconds = 100000 }}
"""


def free_address():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % listener.getsockname()[1]


def begin_server(runner, image, folder):
    """Begins a server, waits until it listens, and returns its process and its address."""
    (folder / "tokens.toml").write_text(TOKENS)
    address = free_address()
    command = [runner, "serve", "--image", image, "--listen", free_address(), "--e2b", address]
    command += ["--token-file", folder / "tokens.toml", "--log", "error"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    host, port = address.split(":")
    for _ in range(300):
        try:
            socket.create_connection((host, int(port))).close()
            return server, f"http://{address}"
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server does not begin")


@contextlib.contextmanager
def serving(runner, image, folder):
    """Runs a server for a block, which gets the environment that leads E2B's packages to it."""
    # The server ends with this program, however it is ended.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    server, url = begin_server(runner, image, folder)
    env = {k: v for k, v in os.environ.items() if not k.startswith("E2B_")}
    try:
        yield env | {"E2B_API_KEY": KEY, "E2B_API_URL": url, "E2B_SANDBOX_URL": url}
    finally:
        server.terminate()
        server.wait()
