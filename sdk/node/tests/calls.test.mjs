// Tests output as it is written, and calls that are ended.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { CancelledError, Engine, Session } from "wasibox";
import { using } from "./using.mjs";

test("functions get output as it is written", () =>
  using({}, async (s) => {
    const seen = [];
    const out = await s.exec("echo a; sleep 0.5; printf '\\303'; sleep 0.1; printf '\\244'; echo e >&2", {
      onStdout: (text) => seen.push(text),
      onStderr: (text) => seen.push(text.toUpperCase()),
    });
    assert.equal(out.stdout, "a\nä");
    assert.equal(seen[0], "a\n");
    assert.equal(seen.filter((t) => t !== "E\n").join(""), "a\nä");
    assert.ok(seen.includes("E\n"));
    let last = "";
    await s.exec("printf 'a\\303'", { onStdout: (text) => (last += text) });
    assert.equal(last, "a\ufffd");
  }));

test("all output has come when a call has ended", () =>
  using({}, async (s) => {
    for (let n = 0; n < 20; n += 1) {
      let got = 0;
      const out = await s.exec("yes 123456789 | head -n 200000", { onStdout: (text) => (got += text.length) });
      assert.deepEqual([got, out.stdoutBytes.length], [2_000_000, 2_000_000]);
    }
  }));

test("what a function throws ends the call", () =>
  using({}, async (s) => {
    const enough = () => {
      throw new RangeError("enough");
    };
    await assert.rejects(s.exec("while :; do echo y; sleep 0.01; done", { onStdout: enough }), RangeError);
    const late = async () => {
      await sleep(10);
      throw new RangeError("enough");
    };
    await assert.rejects(s.exec("while :; do echo y; sleep 0.01; done", { onStdout: late }), RangeError);
    assert.equal((await s.exec("echo on")).stdout, "on\n");
  }));

test("a stream is a loop and an outcome", () =>
  using({}, async (s) => {
    const chunks = [];
    const stream = s.stream("echo a; echo b >&2; exit 4");
    for await (const chunk of stream) chunks.push(`${chunk.stream}:${chunk.text}`);
    assert.deepEqual(chunks.sort(), ["stderr:b\n", "stdout:a\n"]);
    assert.equal((await stream.outcome).exitCode, 4);
    // A loop that ends early ends the command.
    const endless = s.stream("yes");
    for await (const chunk of endless) {
      assert.equal(chunk.stream, "stdout");
      break;
    }
    await assert.rejects(endless.outcome, CancelledError);
    // An outcome without reading the output.
    const unread = s.stream("yes 123456789 | head -n 2000000");
    assert.equal((await unread.outcome).exitCode, 0);
    await assert.rejects(async () => {
      for await (const _ of s.stream("true", { timeout: -1 })) assert.fail();
    }, { kind: "invalid" });
    assert.equal((await s.exec("echo on")).stdout, "on\n");
  }));

test("a reader that is slow slows the guest", () =>
  using({}, async (s) => {
    const stream = s.stream("i=0; while [ $i -lt 400 ]; do head -c 65536 /dev/zero; i=$((i+1)); done; echo end >&2");
    const chunks = stream[Symbol.asyncIterator]();
    await chunks.next();
    await sleep(1000);
    // The guest waits. Of its 26 MB, at most 64 chunks of 64 KiB have been passed on, and some
    // bytes are in pipes.
    assert.ok(!(await Promise.race([stream.outcome.then(() => true), sleep(0).then(() => false)])));
    let size = 0;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) size += next.value.text.length;
    assert.ok(size > 20 << 20);
  }));

test("an aborted call ends the guest", () =>
  using({}, async (s) => {
    await s.exec("true");
    const took = [];
    for (const code of ["while :; do :; done", "sleep 100", "cat /dev/zero > /dev/null"]) {
      for (let n = 0; n < 3; n += 1) {
        const abort = new AbortController();
        const call = s.exec(code, { signal: abort.signal });
        await sleep(200);
        const began = performance.now();
        abort.abort();
        await assert.rejects(call, { name: "AbortError" });
        // The session can run the next call.
        assert.equal((await s.exec(["echo", "on"])).stdout, "on\n");
        took.push(performance.now() - began);
      }
    }
    // This has a margin for a busy machine; docs/sdk-node.md has the usual time.
    assert.ok(took.sort((a, b) => a - b)[4] < 500, String(took));
    for (const cell of ["python", "javascript"]) {
      await s[cell]("x = 1");
      const loop = cell === "python" ? "while True: pass" : "for (;;);";
      await assert.rejects(s[cell](loop, { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
      assert.equal((await s[cell]("x + 1")).value, 2);
    }
    await assert.rejects(s.exec("true", { signal: AbortSignal.abort() }), { name: "AbortError" });
    const reason = new RangeError("mine");
    await assert.rejects(s.exec("true", { signal: AbortSignal.abort(reason) }), reason);
    // A call that is aborted while it waits for another one never begins.
    let hasEnded = false;
    const first = s.exec("sleep 1; echo first").finally(() => (hasEnded = true));
    await assert.rejects(s.exec("echo > /tmp/second", { signal: AbortSignal.timeout(100) }), { name: "TimeoutError" });
    assert.equal(hasEnded, false);
    assert.equal((await first).stdout, "first\n");
    assert.equal(await s.exists("/tmp/second"), false);
  }));

test("the loop runs on while calls wait", () =>
  using({}, async (s) => {
    const call = s.exec("sleep 1");
    await sleep(100);
    const began = performance.now();
    assert.equal(s.name.length > 0, true);
    assert.equal(s.closed, false);
    assert.ok(performance.now() - began < 300);
    await call;
  }));

test("interrupt ends the call that runs", () =>
  using({}, async (s) => {
    const call = s.exec("while :; do :; done");
    await sleep(300);
    s.interrupt();
    assert.equal((await call).exitCode, 130);
  }));

test("a process ends though sessions are open", () => {
  const script = `import { Session } from "wasibox";
    const s = await Session.create(); console.log((await s.exec("echo hi")).stdout.trim());`;
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 120_000 });
  assert.equal(out.toString(), "hi\n");
});

test("threads of Node have sessions of their own, and may be ended", async () => {
  const code = (command) => `const { parentPort } = require("node:worker_threads");
    const { Session } = require("wasibox");
    (async () => {
      const s = await Session.create();
      parentPort.postMessage((await s.exec("echo hi")).stdout);
      ${command}
    })();`;
  const open = async (command) => {
    const worker = new Worker(code(command), { eval: true });
    assert.deepEqual(await once(worker, "message"), ["hi\n"]);
    return worker;
  };
  assert.deepEqual(await once(await open("await s.close();"), "exit"), [0]);
  const busy = await open('s.exec("yes", { onStdout() {} });');
  await sleep(100);
  await busy.terminate();
  await using({}, async (s) => assert.equal((await s.exec("echo on")).stdout, "on\n"));
});

test("guests by threads", async () => {
  const engine = await Engine.open({ isolation: "threads" });
  await using({ engine }, async (s) => assert.equal((await s.exec("echo hi | wc -c")).stdout, "3\n"));
});

test("await using", async () => {
  const s = await Session.create();
  await s[Symbol.asyncDispose]();
  assert.equal(s.closed, true);
});
