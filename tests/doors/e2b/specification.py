"""Sends requests that schemathesis makes of E2B's own OpenAPI documents to a server:
specification.py RUNNER IMAGE SOURCES

SOURCES has a clone of e2b-dev/E2B, named E2B. No request may be answered by a failure of the server
(5xx), whether it is valid or not.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

from server import serving

#: What is left out, because it has no end (the answer is a stream) or ends the sandbox of the others.
CONTROL = ["--exclude-method", "DELETE", "--exclude-path-regex", "/(pause|timeout|refreshes)$"]
SANDBOX = ["--exclude-path-regex", "^/(freeze|fsfreeze|collapse)$"]


def fuzz(folder, document, address, headers, more):
    command = [pathlib.Path(sys.executable).with_name("schemathesis"), "run", document]
    command += ["--url", address, "--checks", "not_a_server_error", "--max-examples", "25"]
    command += ["--seed", "1", "--no-color", "--request-timeout", "30", *more]
    for name, value in headers.items():
        command += ["--header", f"{name}: {value}"]
    return subprocess.run(command, cwd=folder, check=False).returncode


def create(env):
    body = json.dumps({"templateID": "base", "timeout": 3600}).encode()
    headers = {"X-API-Key": env["E2B_API_KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(f"{env['E2B_API_URL']}/sandboxes", body, headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def main():
    runner, image, sources = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
    documents = sources / "E2B/spec"
    with tempfile.TemporaryDirectory() as name, serving(runner, image, pathlib.Path(name)) as env:
        control = fuzz(name, documents / "openapi.yml", env["E2B_API_URL"], {"X-API-Key": env["E2B_API_KEY"]}, CONTROL)
        made = create(env)
        own = {
            "E2b-Sandbox-Id": made["sandboxID"],
            "E2b-Sandbox-Port": "49983",
            "X-Access-Token": made["envdAccessToken"],
        }
        sandbox = fuzz(name, documents / "envd/envd.yaml", env["E2B_SANDBOX_URL"], own, SANDBOX)
    raise SystemExit(control or sandbox)


main()
