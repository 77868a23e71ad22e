// Tests the adapter with the real `bash-tool`, whose tools are called as the AI SDK calls them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { createBashTool } from "bash-tool";
import { bashToolSandbox } from "wasibox/adapters/bash-tool";
import { using } from "./using.mjs";

const call = (tool, input) => tool.execute(input, { toolCallId: "1", messages: [] });

test("bash, readFile and writeFile", () =>
  using({}, async (s) => {
    const sandbox = await bashToolSandbox(s);
    const { tools } = await createBashTool({ sandbox, files: { "src/a.txt": "one\ntwo\n" } });
    assert.deepEqual(await call(tools.bash, { command: "pwd; wc -l < src/a.txt; echo no >&2; exit 3" }), {
      stdout: "/workspace\n2\n",
      stderr: "no\n",
      exitCode: 3,
    });
    await call(tools.writeFile, { path: "b/c.txt", content: "three" });
    assert.deepEqual(await call(tools.readFile, { path: "b/c.txt" }), { content: "three" });
    assert.equal((await call(tools.bash, { command: "cat b/c.txt" })).stdout, "three");
    await call(tools.bash, { command: "x=41" });
    assert.equal((await call(tools.bash, { command: "echo $((x + 1))" })).stdout, "42\n");
    await assert.rejects(call(tools.readFile, { path: "none" }), { code: "ENOENT" });
    await sandbox.session.undo();
  }));

test("another folder, limits that are told", () =>
  using({}, async (s) => {
    const sandbox = await bashToolSandbox(s, { destination: "project", timeout: 0.5 });
    const { tools } = await createBashTool({ sandbox, destination: "/home/user/project" });
    assert.equal((await call(tools.bash, { command: "pwd" })).stdout, "/home/user/project\n");
    const slow = await call(tools.bash, { command: "echo begun; sleep 60" });
    assert.deepEqual([slow.stdout, slow.exitCode], ["begun\n", 124]);
    assert.match(slow.stderr, /\[limit: timeout\]\n$/);
  }));

test("a model that calls the tool gets its output", () =>
  using({}, async (s) => {
    const { tools } = await createBashTool({ sandbox: await bashToolSandbox(s) });
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const replies = [
      {
        content: [{ type: "tool-call", toolCallId: "1", toolName: "bash", input: '{"command":"echo hi | wc -c"}' }],
        finishReason: { unified: "tool-calls", raw: "tool_calls" },
        usage,
        warnings: [],
      },
      { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] },
    ];
    const seen = [];
    const model = new MockLanguageModelV3({
      doGenerate: async ({ prompt }) => {
        seen.push(prompt);
        return replies[seen.length - 1];
      },
    });
    const { text } = await generateText({ model, tools, prompt: "count", stopWhen: stepCountIs(3) });
    assert.equal(text, "done");
    const result = seen[1].at(-1).content[0];
    assert.deepEqual(result.output, { type: "json", value: { stdout: "3\n", stderr: "", exitCode: 0 } });
  }));
