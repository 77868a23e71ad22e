// Tests the adapter with the real `deepagents`: an agent with a scripted model, and the backend's
// methods as deepagents' own standard tests expect them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { createDeepAgent } from "deepagents";
import { WasiboxBackend } from "wasibox/adapters/deepagents";
import { using } from "./using.mjs";

/** A model that gives messages as they are, one in each step. */
class ScriptedModel extends BaseChatModel {
  constructor(messages) {
    super({});
    this.messages = messages;
  }

  _llmType() {
    return "scripted";
  }

  bindTools() {
    return this;
  }

  async _generate() {
    const message = this.messages.shift();
    return { generations: [{ message, text: "" }] };
  }
}

const call = (name, args) => new AIMessage({ content: "", tool_calls: [{ name, args, id: name }] });

test("an agent works in a session", () =>
  using({}, async (s) => {
    const model = new ScriptedModel([
      call("write_file", { file_path: "/home/user/a.py", content: "print(6 * 7)\n" }),
      call("edit_file", { file_path: "/home/user/a.py", old_string: "7", new_string: "8" }),
      call("execute", { command: "python3 a.py; cat none" }),
      call("grep", { pattern: "print", path: "/home/user" }),
      new AIMessage("done"),
    ]);
    const agent = createDeepAgent({ model, backend: new WasiboxBackend(s) });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "go" }] });
    const results = Object.fromEntries(messages.filter((m) => m.getType() === "tool").map((m) => [m.name, m.text]));
    assert.match(results.execute, /48\n.*none: No such file or directory/s);
    assert.match(results.grep, /\/home\/user\/a\.py/);
    assert.equal(messages.at(-1).text, "done");
    assert.equal(await s.readText("a.py"), "print(6 * 8)\n");
    await s.undo();
  }));

test("files", () =>
  using({}, async (s) => {
    const backend = new WasiboxBackend(s);
    assert.deepEqual(await backend.write("/home/user/d/n.txt", "one\ntwo\nthree\n"), { path: "/home/user/d/n.txt", filesUpdate: null });
    assert.deepEqual(await backend.read("/home/user/d/n.txt", 1, 1), {
      content: "two",
      mimeType: "text/plain",
      totalLines: 3,
      startLine: 2,
      endLine: 2,
      nextOffset: 2,
    });
    assert.equal((await backend.read("/home/user/d/n.txt", 9)).error, "'/home/user/d/n.txt' has only 3 lines");
    assert.equal((await backend.edit("/home/user/d/n.txt", "t", "T")).error, "Multiple occurrences (2) in '/home/user/d/n.txt': give more context, or replace all");
    assert.equal((await backend.edit("/home/user/d/n.txt", "t", "T", true)).occurrences, 2);
    assert.equal((await backend.edit("/none", "t", "T")).error, "File '/none' not found");
    assert.deepEqual(await backend.grep("Two", "/home/user", "*.txt"), {
      matches: [{ path: "/home/user/d/n.txt", line: 2, text: "Two" }],
      truncated: false,
    });
    assert.deepEqual((await backend.ls("/home/user")).files.map(({ path, is_dir }) => [path, is_dir]), [["/home/user/d/", true]]);
    assert.deepEqual((await backend.glob("**/*", "/home/user")).files, [
      { path: "d", is_dir: true },
      { path: "d/n.txt", is_dir: false },
    ]);
    const png = Buffer.from("iVBORw0KGgo=", "base64");
    await backend.write("/home/user/a.png", "iVBORw0KGgo=");
    const read = await backend.read("/home/user/a.png");
    assert.ok(png.equals(read.content) && read.mimeType === "image/png");
    assert.equal((await backend.readRaw("/home/user/d/n.txt")).data.content, "one\nTwo\nThree\n");
    assert.deepEqual(await backend.uploadFiles([["/up", png], ["relative", png]]), [
      { path: "/up", error: null },
      { path: "relative", error: "invalid_path" },
    ]);
    assert.deepEqual((await backend.downloadFiles(["/none", "/home/user/d"])).map((one) => one.error), ["file_not_found", "is_directory"]);
    assert.deepEqual(await backend.delete("/home/user/d"), { path: "/home/user/d", filesUpdate: null });
    assert.deepEqual((await backend.ls("/home/user/d")).files, []);
  }));

test("commands", () =>
  using({}, async (s) => {
    const backend = new WasiboxBackend(s, { timeout: 1 });
    assert.deepEqual(await backend.execute("echo a; echo b >&2; exit 3"), { output: "a\nb\n", exitCode: 3, truncated: false });
    assert.match((await backend.execute("while :; do :; done")).output, /\[limit: timeout\]$/);
    assert.equal((await backend.execute("x=1; cd /tmp")).exitCode, 0);
    assert.equal((await backend.execute("pwd")).output, "/home/user\n");
    assert.equal(backend.id, s.name);
    await backend.close();
    assert.equal(backend.isRunning, false);
  }));
