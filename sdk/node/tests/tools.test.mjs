// Tests host tools: functions of this program that guests call.
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { InvalidError, Session, ToolError, tool } from "wasibox";
import { z } from "zod";
import { using } from "./using.mjs";

const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  schema: {
    properties: { city: { type: "string" }, days: { type: "integer", default: 1 } },
    required: ["city"],
    additionalProperties: false,
  },
  execute: ({ city, days = 1 }) => {
    if (city === "Atlantis") throw new ToolError("no station there");
    return { city, days };
  },
});

test("functions become commands, and functions of Python and JavaScript", () =>
  using({ tools: [weather, { name: "plain", execute: ({ a, b = 2 }) => a + b }] }, async (s) => {
    assert.equal((await s.exec("tool --list")).stdout, "plain\nweather  The weather of a city.\n");
    assert.deepEqual(JSON.parse((await s.exec("tool weather Bern --days 3")).stdout), { city: "Bern", days: 3 });
    assert.equal((await s.python("import tools\ntools.weather('Thun')['days'], tools.plain(a=40)")).valueRepr, "(1, 42)");
    assert.deepEqual((await s.javascript("await require('tools').weather({ city: 'Biel' })")).value, { city: "Biel", days: 1 });
    const fork = await s.fork();
    assert.equal((await fork.exec("tool plain '{\"a\": 1}'")).stdout, "3\n");
    await fork.close();
    await s.setTools([]);
    assert.equal((await s.exec("tool plain --a 1")).exitCode, 127);
  }));

test("failures reach the guest", () => {
  const bad = ({ kind }) => {
    if (kind === "type") throw new TypeError("what is that");
    if (kind === "text") throw "plain";
    if (kind === "none") return undefined;
    if (kind === "rejected") return Promise.reject(new RangeError());
    const round = {};
    round.round = round;
    return round;
  };
  return using({ tools: [weather, { name: "bad", execute: bad, output: { type: ["object", "null"] } }] }, async (s) => {
    const said = async (kind) => {
      const { exitCode, stdout, stderr } = await s.exec(["tool", "bad", "--kind", kind]);
      return [exitCode, stdout, stderr];
    };
    assert.deepEqual(await said("type"), [1, "", "tool: bad: TypeError: what is that\n"]);
    assert.deepEqual(await said("text"), [1, "", "tool: bad: plain\n"]);
    assert.deepEqual(await said("none"), [0, "null\n", ""]);
    assert.deepEqual(await said("rejected"), [1, "", "tool: bad: RangeError\n"]);
    assert.match((await said("round"))[2], /TypeError: Converting circular structure to JSON/);
    const code = "import tools\ntry: tools.weather('Atlantis')\nexcept tools.ToolError as e: print(e)";
    assert.equal((await s.python(code)).stdout, "no station there\n");
    assert.equal((await s.exec("tool weather --city Bern --day 1")).exitCode, 2);
  });
});

test("schemas of libraries", () => {
  const schema = z.object({ at: z.string().transform((text) => text.toUpperCase()), n: z.number().int().default(7) });
  const tools = [tool({ name: "shout", schema, execute: ({ at, n }) => `${at}${n}` })];
  return using({ tools }, async (s) => {
    assert.equal((await s.exec("tool -r shout --at here")).stdout, "HERE7\n");
    const wrong = await s.exec("tool shout --at here --n 1.5");
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /^tool: shout: n: /);
  });
});

test("calls run beside each other in the loop", () => {
  let most = 0;
  let now = 0;
  const execute = async ({ n }) => {
    most = Math.max(most, ++now);
    await sleep(300);
    now -= 1;
    return n;
  };
  return using({ tools: [{ name: "nap", execute }] }, async (s) => {
    const { stdout } = await s.exec("for n in 1 2 3 4 5; do tool nap --n $n & done | sort; wait");
    assert.equal(stdout, "1\n2\n3\n4\n5\n");
    assert.ok(most > 1, `${most} at once`);
  });
});

test("nobody waits any more", { timeout: 60_000 }, async () => {
  // A tool does not keep the event loop alive, and neither does anything else after a call.
  const alive = setInterval(() => {}, 1000);
  const begun = new EventTarget();
  const execute = async (_, { signal }) => {
    begun.dispatchEvent(new Event("begun"));
    await once(signal, "abort");
    begun.dispatchEvent(new Event("ended"));
  };
  await using({ tools: [{ name: "forever", execute, timeout: 60 }] }, async (s) => {
    let ended = once(begun, "ended");
    assert.equal((await s.exec("timeout 0.3 tool forever")).exitCode, 124);
    await ended;
    ended = once(begun, "ended");
    const abort = new AbortController();
    const call = s.exec("tool forever", { signal: abort.signal });
    await once(begun, "begun");
    abort.abort();
    await assert.rejects(call, { name: "AbortError" });
    await ended;
    await s.setTools([{ name: "forever", execute, timeout: 0.2 }]);
    const { exitCode, stderr } = await s.exec("tool forever");
    assert.deepEqual([exitCode, stderr], [1, "tool: forever: the tool took longer than 0.2 s\n"]);
  }).finally(() => clearInterval(alive));
});

test("what is no tool is refused, and leaves no session", async () => {
  const execute = () => 1;
  for (const tools of [[{ name: "a b", execute }], [{ name: "a", schema: { type: 7 }, execute }], [{ name: "a" }], [{ name: "a", execute }, { name: "a", execute }]]) {
    await assert.rejects(Session.create({ tools }), InvalidError);
  }
});

test("a tool keeps no program alive", { timeout: 60_000 }, async () => {
  const { execFileSync } = await import("node:child_process");
  const code = `import { Session } from "wasibox";
    const s = await Session.create({ tools: [{ name: "one", execute: () => 1 }] });
    console.log((await s.exec("tool one")).stdout.trim());`;
  assert.equal(execFileSync(process.execPath, ["--input-type=module", "-e", code]).toString(), "1\n");
});
