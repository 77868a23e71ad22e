// Tests processes that continue from call to call, and ports. Expected output is that of bash and
// CPython.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as wasibox from "wasibox";
import { using } from "./using.mjs";

test("a process is written to and read", () =>
  using({}, async (s) => {
    const p = await s.processes.start('while read x; do echo "<$x> $A"; done; exit 4', { env: { A: "b" } });
    assert.deepEqual([p.process, p.status, p.exitCode, p.terminal], [1, "running", null, false]);
    await s.processes.write(1, "one\ntwo");
    const first = await s.processes.read(1, { until: "one", wait: 60 });
    assert.deepEqual([first.found, first.output, first.dropped], [true, "<one> b\n", 0]);
    await s.processes.write(1, "\n", { end: true });
    const rest = await s.processes.read(1, { until: "never", wait: 60 });
    assert.deepEqual([rest.found, rest.output, rest.process.exitCode], [false, "<two> b\n", 4]);
    assert.equal((await s.processes.read(1, { after: 0, maxOutput: 5 })).output, "<one>");
    assert.deepEqual((await s.processes.list()).map((one) => one.status), ["exited"]);
    await assert.rejects(s.processes.read(9), wasibox.NotFoundError);
    await assert.rejects(s.processes.start([]), wasibox.InvalidError);
  }));

test("a terminal has a size", () =>
  using({}, async (s) => {
    const { process } = await s.processes.start(["sh"], { size: { rows: 30, columns: 90 } });
    await s.processes.write(process, "stty size\r");
    assert.ok((await s.processes.read(process, { until: "30 90\r\n", wait: 60 })).found);
    const killed = await s.processes.kill(process, 9, { wait: 30 });
    assert.deepEqual([killed.status, killed.exitCode], ["signaled", 137]);
  }));

test("ports are exposed until they are closed", () =>
  using({}, async (s) => {
    await s.write("/tmp/d/page", "hello\n");
    const { process } = await s.processes.start(["python3", "-m", "http.server", "8000"], { cwd: "/tmp/d" });
    assert.ok((await s.processes.read(process, { port: 8000, wait: 60 })).found);
    const [open] = await s.ports();
    assert.deepEqual([open.port, open.address, open.command], [8000, "0.0.0.0", "python3 -m http.server 8000"]);
    const exposed = await s.expose(8000);
    assert.equal(exposed.url, `http://127.0.0.1:${exposed.port}/`);
    const headers = { connection: "close" };
    assert.equal(await (await fetch(`${exposed.url}page`, { headers })).text(), "hello\n");
    await assert.rejects(s.expose(8000, exposed.port), wasibox.ConflictError);
    exposed.close();
    await assert.rejects(fetch(`${exposed.url}page`, { headers }));
    await assert.rejects(s.expose(0), wasibox.InvalidError);
  }));
