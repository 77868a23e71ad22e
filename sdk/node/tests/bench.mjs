// Measures calls through the package, and prints medians in milliseconds as a line of JSON.
// `cargo xtask bench sdk` runs this.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Session } from "wasibox";

const RUNS = 200;
const FIRST = `const t = performance.now(); const { Session } = await import("wasibox");
  const s = await Session.create(); await s.exec("true"); console.log(performance.now() - t);`;

function median(times) {
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}

async function timed(act, runs = RUNS) {
  const times = [];
  for (let n = 0; n < runs; n += 1) {
    const begun = performance.now();
    await act();
    times.push(performance.now() - begun);
  }
  return times;
}

/** Returns the milliseconds of the import and the first call in a new process. */
const first = (env = {}) =>
  Number(execFileSync(process.execPath, ["--input-type=module", "-e", FIRST], { env: { ...process.env, ...env } }));

/** Returns the milliseconds from each cancellation until the session has run the next call. */
async function cancelled(s, runs = 20) {
  const times = [];
  for (let n = 0; n < runs; n += 1) {
    const abort = new AbortController();
    const call = s.exec("while :; do :; done", { signal: abort.signal }).catch(() => undefined);
    await sleep(100);
    const begun = performance.now();
    abort.abort();
    await call;
    await s.exec(["true"]);
    times.push(performance.now() - begun);
  }
  return times;
}

const s = await Session.create();
await s.write("/tmp/data", Buffer.alloc(1_000_000, 7));
const times = {
  true: median(await timed(() => s.exec("true"))),
  command: median(await timed(() => s.exec(["true"]))),
  read: median(await timed(() => s.read("/tmp/data"))),
  first: median(Array.from({ length: 10 }, () => first())),
  cancel: median(await cancelled(s)),
};
const empty = fs.mkdtempSync(path.join(os.tmpdir(), "wasibox-"));
times.unpack = first({ XDG_CACHE_HOME: empty });
fs.rmSync(empty, { recursive: true });
await s.close();
console.log(JSON.stringify({ peer: "Node", times }));
