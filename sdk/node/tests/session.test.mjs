// Tests sessions as a program uses them. The expected output is that of bash, coreutils, CPython
// and Node.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import * as wasibox from "wasibox";
import { using } from "./using.mjs";

const { CommandError, FileError, Session, defaultEngine } = wasibox;

test("three lines", () =>
  using({}, async (s) => {
    assert.equal((await s.exec("echo hi | wc -c")).stdout, "3\n");
    assert.equal((await s.python("6*7")).value, 42);
    await s.write("/tmp/a.txt", "hi");
    assert.equal((await s.read("/tmp/a.txt")).toString(), "hi");
  }));

test("CommonJS has the same classes", () => {
  const required = createRequire(import.meta.url)("wasibox");
  assert.deepEqual(Object.keys(wasibox).filter((name) => !["default", "module.exports", "__esModule"].includes(name)).sort(), Object.keys(required).sort());
  assert.equal(required.Session, Session);
  assert.equal(required.version, JSON.parse(fs.readFileSync("node_modules/wasibox/package.json", "utf8")).version);
});

test("an outcome tells all", () =>
  using({}, async (s) => {
    const out = await s.exec("cat; echo no >&2; echo x > f; exit 3", { stdin: "in", env: { A: "b" } });
    assert.deepEqual([out.exitCode, out.ok, out.stdout, out.stderr], [3, false, "in", "no\n"]);
    assert.deepEqual(
      out.files.map((f) => [f.path, f.change, f.size]),
      [["/home/user/f", "created", 2]],
    );
    assert.equal((await s.exec("echo $A")).stdout, "b\n");
    assert.deepEqual([...(await s.exec("printf 'a\\377'")).stdoutBytes], [97, 255]);
    assert.deepEqual([...(await s.exec("cat", { stdin: new Uint8Array([0, 255, 7]).subarray(1) })).stdoutBytes], [255, 7]);
    await assert.rejects(s.exec("echo why >&2; exit 3", { check: true }), (error) => {
      assert.ok(error instanceof CommandError);
      assert.deepEqual([error.name, error.kind, error.message], ["CommandError", "command", "exit code 3: why"]);
      return error.outcome.exitCode === 3;
    });
    assert.throws(() => out.check(), CommandError);
    assert.equal((await s.exec(["echo", "$v", "a b"])).stdout, "$v a b\n");
    assert.equal((await s.exec("pwd", { cwd: "/tmp" })).stdout, "/tmp\n");
    assert.equal(await s.cwd(), "/tmp");
    const slow = await s.exec("sleep 60", { timeout: 0.2 });
    assert.deepEqual([slow.exitCode, slow.limitHit], [124, "timeout"]);
    const cut = await s.exec("yes | head -c 100000", { maxOutput: 1000 });
    assert.equal(cut.truncated, true);
    assert.ok(cut.stdoutBytes.length <= 1000);
  }));

test("cells keep their variables, and give values and pictures", () =>
  using({}, async (s) => {
    await s.python("x = 41");
    assert.equal((await s.python("x + 1")).value, 42);
    assert.deepEqual((await s.python("{'a': [1, None]}")).value, { a: [1, null] });
    const set = await s.python("{1}");
    assert.deepEqual([set.value, set.valueRepr], ["{1}", "{1}"]);
    const cut = await s.python("list(range(100000))", { maxOutput: 1000 });
    assert.deepEqual([cut.value, cut.valueBytes], [null, 688890]);
    assert.match(cut.valueRepr, /bytes left out/);
    const whole = await s.python("list(range(100000))");
    assert.deepEqual([whole.value.length, whole.valueBytes], [100000, null]);
    assert.match((await s.python("1/0")).stderr, /ZeroDivisionError/);
    await s.javascript("const y = await Promise.resolve(41)");
    assert.equal((await s.javascript("y + 1")).value, 42);
    assert.deepEqual((await s.javascript("({ a: [1, null] })")).value, { a: [1, null] });
    // The smallest possible picture: a PNG of one pixel.
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const out = await s.python(`import base64; open("p.png", "wb").write(base64.b64decode("${png}")); open("t.txt", "w").close()`);
    const figures = await out.figures();
    assert.deepEqual(
      figures.map((f) => [f.path, f.mimeType, f.data.toString("base64")]),
      [["/home/user/p.png", "image/png", png]],
    );
    await s.reset();
    assert.match((await s.python("x")).stderr, /NameError/);
  }));

test("files", () =>
  using({}, async (s) => {
    await s.write("/tmp/d/a.py", "one\ntwo\n", { mode: 0o600 });
    assert.match(await s.edit("/tmp/d/a.py", "two", "TWO"), /TWO/);
    assert.equal((await s.exec("cat /tmp/d/a.py; stat -c %a /tmp/d/a.py")).stdout, "one\nTWO\n600\n");
    const [entry] = await s.list("/tmp/d");
    assert.deepEqual([entry.path, entry.kind, entry.size, entry.isDirectory], ["a.py", "file", 8, false]);
    assert.ok(Math.abs(entry.modified - Date.now() / 1e3) < 600);
    assert.deepEqual(await s.glob("**/*.py", "/tmp"), ["/tmp/d/a.py"]);
    assert.deepEqual(await s.grep("^T", "/tmp/d"), [{ path: "/tmp/d/a.py", line: 2, text: "TWO" }]);
    assert.deepEqual(await s.patch("--- a/tmp/d/a.py\n+++ b/tmp/d/a.py\n@@ -1,2 +1,2 @@\n-one\n+ONE\n TWO\n").catch((e) => e.kind), "file");
    await s.exec("cd /tmp/d");
    assert.equal((await s.patch("--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-one\n+ONE\n TWO\n")).length, 1);
    assert.equal(await s.readText("a.py"), "ONE\nTWO\n");
    await s.move("/tmp/d/a.py", "/tmp/b.py");
    assert.deepEqual([await s.exists("/tmp/b.py"), await s.exists("/tmp/d/a.py")], [true, false]);
    await s.makeDir("/tmp/e/f");
    assert.equal((await s.stat("/tmp/e/f")).isDirectory, true);
    assert.ok((await s.delete("/tmp/e", { recursive: true })) >= 1);
    const big = Buffer.alloc(20 << 20, "0123456789");
    await s.write("/tmp/big", big);
    assert.ok(big.equals(await s.read("/tmp/big")));
    await assert.rejects(s.read("/none"), (e) => e instanceof FileError && e.code === "ENOENT" && e.name === "FileError");
    await assert.rejects(s.edit("/tmp/b.py", "three", "3"), { name: "FileError", code: "no_match" });
  }));

test("history, forks, snapshots, values", () =>
  using({}, async (s) => {
    await s.exec("echo 1 > f");
    const one = await s.snapshot("one");
    await s.exec("echo 2 > f");
    assert.equal(await s.undo(), one);
    assert.equal(await s.readText("f"), "1\n");
    await s.redo();
    assert.deepEqual([...(await s.tags())], [["one", one]]);
    await s.restore("one");
    assert.equal(await s.readText("f"), "1\n");
    assert.deepEqual((await s.history()).slice(1, 3).map((c) => [c.command, c.exitCode]), [["echo 1 > f", 0], ["echo 2 > f", 0]]);
    const before = await s.head();
    await assert.rejects(
      s.transaction(async () => {
        await s.exec("echo 3 > f");
        throw new RangeError("no");
      }),
      RangeError,
    );
    assert.deepEqual([await s.readText("f"), await s.head()], ["1\n", before]);
    const fork = await s.fork("other");
    assert.equal(fork.name, "other");
    await fork.exec("echo 4 > f");
    assert.deepEqual([await s.readText("f"), await fork.readText("f")], ["1\n", "4\n"]);
    const many = await s.forkMany(3);
    const numbers = await Promise.all(many.map((f, n) => f.exec(`echo ${n} >> f; cat f`)));
    assert.deepEqual(numbers.map((o) => o.stdout), ["1\n0\n", "1\n1\n", "1\n2\n"]);
    assert.equal(await s.readText("f"), "1\n");
    await Promise.all(many.map((f) => f.close()));
    await assert.rejects(s.forkMany(1e6), { kind: "invalid" });
    const loaded = await Session.load(await fork.export());
    assert.equal(await loaded.readText("/home/user/f"), "4\n");
    await Promise.all([fork.close(), loaded.close()]);
    await s.kv.set("a", "1");
    assert.equal((await s.exec("kv get a")).stdout, "1");
    assert.deepEqual([await s.kv.keys(), await s.kv.delete("a"), await s.kv.get("a")], [["a"], true, undefined]);
    assert.ok((await s.log()).length > 0);
  }));

test("commands run in forks", () =>
  using({}, async (s) => {
    const collect = async (outcomes) => {
      const all = [];
      for await (const one of outcomes) all.push(one);
      return all;
    };
    await s.exec("echo 1 > f; v=1");
    const ended = await collect(s.map(["echo $v; rm f", ["cat", "f"], "sleep 0.3; exit 3"], { atOnce: 3 }));
    const shown = ended.map(([n, o]) => [n, o.stdout, o.exitCode]);
    assert.deepEqual(shown.sort(([a], [b]) => a - b), [[0, "1\n", 0], [1, "1\n", 0], [2, "", 3]]);
    assert.equal(ended[2][0], 2);
    assert.equal(await s.readText("f"), "1\n");
    assert.deepEqual(await collect(s.map([])), []);
    // More commands than run at once.
    const many = await collect(s.map(Array.from({ length: 6 }, (_, n) => `echo ${n}`), { atOnce: 2 }));
    assert.deepEqual(many.map(([n, o]) => o.stdout === `${n}\n`), Array(6).fill(true));
    await assert.rejects(collect(s.map(["false", "sleep 60"], { check: true })), CommandError);
    await assert.rejects(collect(s.map(["true"], { atOnce: 0 })), RangeError);
  }));

test("leaving a map early, or its signal, ends its commands", () =>
  using({}, async (s) => {
    const begun = performance.now();
    for await (const [index] of s.map(["true", "sleep 60", "sleep 60", "sleep 60"], { atOnce: 2 })) {
      assert.equal(index, 0);
      break;
    }
    const reason = new RangeError("enough");
    const ending = new AbortController();
    setTimeout(() => ending.abort(reason), 300);
    const loop = async () => {
      for await (const _ of s.map(["sleep 60", "sleep 60", "sleep 60"], { atOnce: 2, signal: ending.signal }));
    };
    await assert.rejects(loop(), reason);
    await assert.rejects(loop(), reason);
    assert.ok(performance.now() - begun < 30_000);
    assert.equal((await s.exec("echo on")).stdout, "on\n");
  }));

test("mounts, workspaces, stores, policies", async () => {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "wasibox-"));
  const file = (name, text) => {
    fs.writeFileSync(path.join(dir, name), text);
    return path.join(dir, name);
  };
  await using({ mounts: { "/in": file("in", "1") } }, async (s) => {
    assert.equal((await s.exec("cat /in")).stdout, "1");
    assert.equal((await s.exec("echo no > /in")).exitCode, 1);
  });
  fs.mkdirSync(path.join(dir, "out"));
  await using({ mounts: { "/out": { host: path.join(dir, "out"), writable: true, quota: "1M" } } }, async (s) => {
    assert.equal((await s.exec("echo yes > /out/f")).exitCode, 0);
    assert.equal((await s.exec("head -c 2000000 /dev/zero > /out/g")).limitHit, "mount_quota");
  });
  assert.equal(fs.readFileSync(path.join(dir, "out/f"), "utf8"), "yes\n");
  fs.mkdirSync(path.join(dir, "project"));
  file("project/a", "1\n");
  await using({ workspace: path.join(dir, "project") }, async (s) => {
    await s.exec("cd /work; echo 2 > a");
    assert.match(await s.workspaceDiff(), /^-1\n\+2$/m);
    assert.equal((await s.workspaceApply()).done.length, 1);
  });
  assert.equal(fs.readFileSync(path.join(dir, "project/a"), "utf8"), "2\n");
  const store = path.join(dir, "s.wbx");
  await using({ store, name: "a" }, async (s) => {
    await s.exec("echo kept > f");
    await s.export(path.join(dir, "a.wbs"));
    await assert.rejects(Session.create({ store, name: "a" }), wasibox.BusyError);
  });
  await using({ store, name: "a", open: "open" }, async (s) => assert.equal(await s.readText("f"), "kept\n"));
  await assert.rejects(Session.create({ store, name: "b", open: "open" }), wasibox.NotFoundError);
  await assert.rejects(Session.create({ store, name: "a", open: "create" }), wasibox.ConflictError);
  const loaded = await Session.load(path.join(dir, "a.wbs"));
  assert.equal(await loaded.readText("f"), "kept\n");
  await loaded.close();
  const engine = await defaultEngine();
  assert.deepEqual(await engine.sessions(store), ["a"]);
  await engine.remove(store, "a");
  assert.deepEqual(await engine.sessions(store), []);
  const policy = file("policy.toml", "[limits]\nfile-size = '1M'\ndisk = '16K'\n");
  await using({ policy, limits: { fileSize: "2K" } }, async (s) => {
    assert.equal((await s.exec("head -c 3000 /dev/zero > f")).limitHit, "file_size");
    assert.equal((await s.exec("for i in {1..20}; do head -c 2000 /dev/zero > f$i; done")).limitHit, "disk");
  });
  fs.rmSync(dir, { recursive: true });
});

test("mistakes have classes", async () => {
  await assert.rejects(Session.create({ limits: { memorie: 1 } }), wasibox.InvalidError);
  await assert.rejects(Session.create({ network: "what" }), wasibox.InvalidError);
  await assert.rejects(Session.load(Buffer.from("no snapshot")), wasibox.InvalidError);
  const s = await Session.create();
  await assert.rejects(s.exec("true", { timeout: -1 }), wasibox.InvalidError);
  await assert.rejects(s.exec(["no-such-command"]), wasibox.NotFoundError);
  await assert.rejects(s.restore("none"), wasibox.NotFoundError);
  await assert.rejects(s.restore(-1), wasibox.InvalidError);
  await s.close();
  await s.close();
  assert.equal(s.closed, true);
  for (const act of [() => s.exec("true"), () => s.read("/a"), () => s.undo(), () => s.fork()]) {
    await assert.rejects(act, (e) => e instanceof wasibox.ClosedError && e instanceof wasibox.WasiboxError);
  }
  assert.throws(() => s.interrupt(), wasibox.ClosedError);
});
