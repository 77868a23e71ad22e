// Vercel's AI SDK: a tool over `@e2b/code-interpreter`, which `generateText` calls
// with a scripted model.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Sandbox } from "@e2b/code-interpreter";
import { generateText, isStepCount, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { z } from "zod";

const usage = { inputTokens: {}, outputTokens: {} };
const say = (text) => ({ content: [{ type: "text", text }], finishReason: { unified: "stop" }, usage, warnings: [] });
const call = (toolName, input) => ({
  content: [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls" },
  usage,
  warnings: [],
});

/** Returns the tools of a sandbox, as E2B's examples for the AI SDK define them. */
const toolsOf = (sandbox) => ({
  execute_python: tool({
    description: "Execute Python code in a Jupyter notebook cell and return the result",
    inputSchema: z.object({ code: z.string() }),
    execute: async ({ code }) => {
      const { text, results, logs, error } = await sandbox.runCode(code);
      return { text, formats: results.map((result) => result.formats()), logs, error: error?.name };
    },
  }),
  run_command: tool({
    description: "Run a shell command",
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => (await sandbox.commands.run(command)).stdout,
  }),
});

test("a model calls tools of a sandbox", async () => {
  const sandbox = await Sandbox.create();
  try {
    const model = new MockLanguageModelV4({
      doGenerate: [
        call("run_command", { command: "seq 4 > n; wc -l < n" }),
        call("execute_python", { code: "numbers = list(map(int, open('n')))\nprint('read')\nsum(numbers)" }),
        call("execute_python", { code: "import pandas\npandas.DataFrame({'n': numbers})" }),
        call("execute_python", { code: "numbers[10]" }),
        say("done"),
      ],
    });
    const { text, steps } = await generateText({ model, tools: toolsOf(sandbox), prompt: "go", stopWhen: isStepCount(9) });
    const outputs = steps.flatMap((step) => step.toolResults.map((result) => result.output));
    assert.equal(text, "done");
    assert.equal(outputs[0].trim(), "4");
    assert.deepEqual([outputs[1].text, outputs[1].logs.stdout.join("")], ["10", "read\n"]);
    assert.ok(outputs[2].formats[0].includes("html"), JSON.stringify(outputs[2]));
    assert.equal(outputs[3].error, "IndexError");
  } finally {
    await sandbox.kill();
  }
});
