// Runs a load test: load.mjs RUNNER IMAGE [SESSIONS [SECONDS]]. Keeps SESSIONS sessions of `runner
// serve` with a store busy: each gets its next request as soon as it has answered. Prints the
// number of calls, their latencies and the memory of the server, with and without its workers. Any
// wrong answer is an error.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const [runner, image, sessions = "50", seconds = "180"] = process.argv.slice(2);
const TOKEN = "a-token-of-the-load";
// Memory is read every second. The report has its means over this many equal parts of the time.
const PARTS = 12;

async function served(folder) {
  const tokens = join(folder, "tokens.toml");
  const limits = "limits = { sessions = 1000, requests = 1000, cpu-seconds = 1000000 }";
  writeFileSync(tokens, `[[token]]\nname = "load"\ntoken = "${TOKEN}"\n${limits}\n`);
  const args = ["serve", "--image", image, "--listen", "127.0.0.1:0", "--token-file", tokens, "--log", "warn"];
  const server = spawn(runner, [...args, "--store", join(folder, "w.wbx")], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const [piece] of on(server.stderr, "data", { close: ["end"] })) {
    const port = /127\.0\.0\.1:([1-9]\d*)/.exec(piece);
    if (port) {
      server.stderr.pipe(process.stderr);
      return { server, port: Number(port[1]) };
    }
  }
  throw new Error("the server has ended");
}

// Returns the memory of a process in MiB. Memory that it shares with others is counted in part
// (PSS).
function own(pid) {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1"))[1]) / 1024;
}

// Returns the memory of a process alone, and with the processes that it has started.
function memory(pid) {
  let workers = 0;
  for (const child of readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").concat(begunByThreads(pid))) {
    try {
      if (child !== "") workers += own(child);
    } catch { /* It has ended. */ }
  }
  return { server: own(pid), all: own(pid) + workers };
}

function begunByThreads(pid) {
  const threads = readdirSync(`/proc/${pid}/task`).filter((id) => id !== String(pid));
  return threads.flatMap((id) => {
    try {
      return readFileSync(`/proc/${pid}/task/${id}/children`, "latin1").split(" ");
    } catch {
      return [];
    }
  });
}

const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
function ask(port, method, path, body) {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };
    const asked = request({ port, host: "127.0.0.1", method, path, headers, agent }, (answer) => {
      let text = "";
      answer.on("data", (piece) => (text += piece)).on("end", () => resolve({ status: answer.statusCode, text }));
      answer.on("error", reject);
    });
    asked.on("error", reject).end(body && JSON.stringify(body));
  });
}

async function busy(port, name, until, took) {
  assert.equal((await ask(port, "PUT", `/v1/sessions/${name}`)).status, 201);
  const tool = async (tool, input) => {
    const begun = performance.now();
    const { status, text } = await ask(port, "POST", `/v1/sessions/${name}/tools/${tool}`, input);
    took.push(performance.now() - begun);
    assert.equal(status, 200, text);
    return JSON.parse(text);
  };
  for (let n = 1; performance.now() < until; n++) {
    const ran = await tool("sandbox_exec", { command: `n=$((n + 1)); seq ${n} | awk '{ s += $1 } END { print s }' | tee sum; echo $n >&2` });
    assert.equal(`${ran.stdout}${ran.stderr}`, `${(n * (n + 1)) / 2}\n${n}\n`);
    await tool("write_file", { path: `/tmp/${n % 10}`, content: `${name} ${n}\n`.repeat(50) });
    const read = await tool("read_file", { path: `/tmp/${n % 10}` });
    assert.ok(JSON.stringify(read).includes(`${name} ${n}\\n`), JSON.stringify(read));
    if (n % 10 === 0) {
      const cell = await tool("execute_python", { code: "i = globals().get('i', 0) + 1\ni" });
      assert.equal(cell.value, String(n / 10));
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "load-"));
const { server, port } = await served(folder);
try {
  const took = [];
  const begun = performance.now();
  const until = begun + Number(seconds) * 1000;
  const all = Array.from({ length: Number(sessions) }, (_, n) => busy(port, `s${n}`, until, took));
  const samples = [];
  const watch = (async () => {
    for (await sleep(1000); performance.now() < until; await sleep(1000)) samples.push(memory(server.pid));
  })();
  await Promise.all([...all, watch]);
  took.sort((a, b) => a - b);
  const at = (part) => took[Math.floor((took.length - 1) * part)].toFixed(1);
  const rate = (took.length / (performance.now() - begun)) * 1000;
  console.log(`${sessions} sessions, ${seconds} s: ${took.length} calls, ${rate.toFixed(0)} a second, no error`);
  console.log(`latency: median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`);
  const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;
  for (const which of ["server", "all"]) {
    const parts = Array.from({ length: PARTS }, (_, n) => {
      const [from, to] = [n, n + 1].map((at) => Math.floor((samples.length * at) / PARTS));
      return mean(samples.slice(from, to).map((m) => m[which])).toFixed(0);
    });
    console.log(`memory of ${which === "all" ? "server and workers" : "the server"} (MiB, PSS, means): ${parts.join(" ")}`);
  }
} finally {
  server.kill("SIGKILL");
  await once(server, "exit");
  rmSync(folder, { recursive: true });
}
