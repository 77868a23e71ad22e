"""Speaks the Model Context Protocol with `wasibox mcp` over its standard streams.

Chat clients do the same when their configuration names the command `wasibox` with the argument
`mcp`. A real client uses a library; this one shows what goes over the wire.

    pip install wasibox wasibox-image
    python mcp_client.py
"""

import json
import subprocess
import sys

server = subprocess.Popen(
    [sys.executable, "-m", "wasibox", "mcp"],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    text=True,
)


def send(message: dict) -> None:
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    server.stdin.flush()


def request(number: int, method: str, params: dict) -> dict:
    """Sends a request, and returns its result; other messages are left out."""
    send({"id": number, "method": method, "params": params})
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]
    raise EOFError("the server has ended")


client = {"name": "example", "version": "1"}
hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
print(request(1, "initialize", hello)["serverInfo"]["name"])
send({"method": "notifications/initialized"})
tools = request(2, "tools/list", {})["tools"]
print("sandbox_exec" in [tool["name"] for tool in tools])
call = {"name": "sandbox_exec", "arguments": {"command": "seq 3 | paste -sd+ | bc"}}
print(request(3, "tools/call", call)["content"][0]["text"].strip())
server.stdin.close()
server.wait()

# prints:
# wasibox
# True
# 6
