// Tests many calls, at once and one after another.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "wasibox";
import { using } from "./using.mjs";

const numbers = (count) => Array.from({ length: count }, (_, n) => n);

test("100 calls at once, over 200 sessions and of one", async () => {
  const sessions = [];
  for (const part of [0, 100]) {
    sessions.push(...(await Promise.all(numbers(100).map((n) => Session.create({ name: `s${part + n}` })))));
  }
  // These are more sessions than may have a process at the same time, so some of them sleep.
  for (const part of [sessions.slice(0, 100), sessions.slice(100)]) {
    const got = await Promise.all(part.map((s, n) => s.exec(["echo", `${n * 7}`])));
    assert.deepEqual(got.map((o) => o.stdout), numbers(100).map((n) => `${n * 7}\n`));
  }
  await Promise.all(sessions.map((s) => s.close()));
  await using({}, async (s) => {
    const all = await Promise.all(numbers(100).map((n) => s.exec(["echo", String(n)])));
    assert.deepEqual(all.map((o) => o.stdout), numbers(100).map((n) => `${n}\n`));
  });
});

test("thousands of calls leave nothing", () =>
  using({}, async (s) => {
    const data = Buffer.alloc(100_000, 7);
    await s.write("/tmp/data", data);
    const acts = [
      [() => s.stat("/tmp"), 2000],
      [async () => assert.equal((await s.read("/tmp/data")).length, data.length), 500],
      // The history of a call takes about a kilobyte in the store.
      [async () => assert.ok((await s.exec(["true"], { listFiles: false })).ok), 100],
    ];
    for (const [act, count] of acts) {
      // The garbage collector decides when it frees buffers, so the peak memory rises for some
      // rounds and then stops. With a leak, it rises in each round.
      const peaks = [];
      const rises = () => peaks.length < 2 || peaks.at(-1) - peaks.at(-2) > (4 << 20);
      while (rises() && peaks.length < 8) {
        for (let n = 0; n < count; n += 1) await act();
        global.gc?.();
        peaks.push(Math.max(process.memoryUsage.rss(), peaks.at(-1) ?? 0));
      }
      assert.ok(!rises(), `${act}: ${peaks.map((bytes) => bytes >> 20)} MiB`);
    }
  }));

test("sessions that nobody closes are let go of", { skip: global.gc === undefined }, async () => {
  const { defaultEngine } = await import("wasibox");
  const engine = await defaultEngine();
  await (async () => {
    const s = await Session.create();
    await s.exec("true");
    assert.equal(engine.awake, 1);
  })();
  for (let n = 0; n < 100 && engine.awake > 0; n += 1) {
    global.gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(engine.awake, 0);
});
