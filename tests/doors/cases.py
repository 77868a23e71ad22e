"""Runs the harness's cases of shell and tools through a door, as scripts of a session's shell.

    cases.py RUNNER IMAGE CASES.json DOOR [SAMPLE]

DOOR is `session` (the command line's `session exec`), `mcp`, `http`, `python` (this Python has the
package), `threads` (the same, with sessions that are threads of the process) or `node` (the working
folder has the package). With SAMPLE, about that many cases are run; their names determine which.
Each case has a session of its own, because a script in a session sees what earlier ones left.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

WORK = "/case"
MOST = 4 << 20
SECONDS = 60
PORT = 8941


class Door:
    """A door. `run` runs a script in a new session; it returns status, output and error output."""

    def __init__(self, runner, image, folder):
        self.runner, self.image, self.folder = runner, image, folder

    def close(self):
        pass


class SessionDoor(Door):
    def runner_of(self, *args, stdin=""):
        command = [self.runner, "session", *args]
        env = {**os.environ, "WASIBOX_STORE": f"{self.folder}/w.wbx", "WASIBOX_IMAGE": self.image}
        done = subprocess.run(command, env=env, input=stdin.encode(), capture_output=True)
        return done.returncode, *(s.decode("utf-8", "replace") for s in (done.stdout, done.stderr))

    def run(self, name, setup, script, stdin):
        self.runner_of("create", name)
        self.runner_of("exec", name, setup)
        options = ["--cwd", WORK, "--timeout", str(SECONDS)]
        done = self.runner_of("exec", *options, name, script, stdin=stdin)
        self.runner_of("rm", name)
        return done


class ToolDoor(Door):
    """A door that runs scripts with the tool `sandbox_exec`."""

    def run(self, name, setup, script, stdin):
        self.begin(name)
        self.tool(name, {"command": setup})
        ran = self.tool(
            name,
            {"command": script, "cwd": WORK, "stdin": stdin, "max_output": MOST, "timeout": SECONDS},
        )
        self.end(name)
        return ran["exit_code"], ran["stdout"], ran["stderr"]


class McpDoor(ToolDoor):
    def __init__(self, *args):
        super().__init__(*args)
        command = [self.runner, "mcp", "--image", self.image]
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        self.number = 0
        client = {"name": "cases", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        self.ask("initialize", hello)
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.child.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while True:
            answer = json.loads(self.child.stdout.readline())
            if answer.get("id") == self.number and "method" not in answer:
                break
        if "error" in answer or answer["result"].get("isError"):
            raise RuntimeError(json.dumps(answer)[:500])
        return answer["result"]

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["structuredContent"]

    def begin(self, name):
        self.call("use_session", {"name": name, "create": True})

    def tool(self, name, arguments):
        return self.call("sandbox_exec", arguments)

    def end(self, name):
        pass

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class HttpDoor(ToolDoor):
    TOKEN = "the-token-of-the-cases"

    def __init__(self, *args):
        super().__init__(*args)
        tokens = f"{self.folder}/tokens.toml"
        with open(tokens, "w") as file:
            limits = "limits = { sessions = 100000, requests = 256, cpu-seconds = 100000 }"
            file.write(f'[[token]]\nname = "cases"\ntoken = "{self.TOKEN}"\n{limits}\n')
        command = [self.runner, "serve", "--image", self.image, "--listen", f"127.0.0.1:{PORT}"]
        self.child = subprocess.Popen([*command, "--log", "error", "--token-file", tokens])
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{PORT}/readyz").close()
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the server does not answer")

    def ask(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        url = f"http://127.0.0.1:{PORT}/v1/sessions/{path}"
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read() or b"null")

    def begin(self, name):
        self.ask("PUT", name)

    def tool(self, name, arguments):
        return self.ask("POST", f"{name}/tools/sandbox_exec", arguments)

    def end(self, name):
        self.ask("DELETE", name)

    def close(self):
        self.child.terminate()
        self.child.wait()


class PythonDoor(Door):
    ISOLATION = "process"

    def __init__(self, *args):
        super().__init__(*args)
        import wasibox

        self.wasibox = wasibox
        self.engine = wasibox.Engine(image=self.image, isolation=self.ISOLATION)

    def run(self, name, setup, script, stdin):
        with self.wasibox.Session(engine=self.engine) as session:
            session.exec(setup)
            done = session.exec(script, cwd=WORK, stdin=stdin, timeout=SECONDS, max_output=MOST)
        return done.exit_code, done.stdout, done.stderr


class ThreadDoor(PythonDoor):
    ISOLATION = "threads"


class NodeDoor(Door):
    """A Node process that reads each request as a line of JSON and answers with a line of JSON."""

    def __init__(self, *args):
        super().__init__(*args)
        command = ["node", os.path.join(os.path.dirname(__file__), "cases.cjs"), self.image]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self, name, setup, script, stdin):
        options = {"cwd": WORK, "stdin": stdin, "timeout": SECONDS, "maxOutput": MOST}
        request = {"setup": setup, "script": script, "options": options}
        self.child.stdin.write(json.dumps(request).encode() + b"\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError("Node has ended")
        return json.loads(line)

    def close(self):
        self.child.stdin.close()
        self.child.wait()


DOORS = {
    "session": SessionDoor,
    "mcp": McpDoor,
    "http": HttpDoor,
    "python": PythonDoor,
    "threads": ThreadDoor,
    "node": NodeDoor,
}


def place_of(case):
    """Returns a number that depends on this case alone, so that new cases do not change a sample."""
    return zlib.crc32(f"{case['file']}: {case['name']}".encode())


def setup_of(case):
    """Returns a script that creates the files of a case."""
    lines = [f"mkdir -p {WORK}; cd {WORK}"]
    for name, content in case["files"].items():
        folder = os.path.dirname(name)
        lines += [f"mkdir -p {shlex.quote(folder)}"] if folder else []
        lines.append(f"printf %s {shlex.quote(content)} > {shlex.quote(name)}")
    return "\n".join(lines)


def main():
    runner, image, cases, door, *sample = sys.argv[1:]
    with open(cases) as file:
        cases = json.load(file)
    if sample:
        share = max(1, len(cases) // int(sample[0]))
        cases = [case for case in cases if place_of(case) % share == 0]
    began, wrong = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        door_of = DOORS[door](runner, image, folder)
        try:
            for number, case in enumerate(cases):
                try:
                    found = door_of.run(f"c{number}", setup_of(case), case["script"], case["stdin"])
                except (OSError, RuntimeError) as error:
                    found = (None, "", str(error))
                if tuple(found[:2]) == (case["status"], case["stdout"]):
                    continue
                wrong += 1
                print(f"{door}: {case['file']}: {case['name']}\n--- script\n{case['script']}")
                print(f"--- expected {case['status']}\n{case['stdout']}")
                print(f"--- found {found[0]}\n{found[1]}--- stderr\n{found[2]}")
        finally:
            door_of.close()
    print(f"{door}: {len(cases)} cases, {wrong} wrong, {time.monotonic() - began:.1f} s")
    sys.exit(wrong > 0)


main()
