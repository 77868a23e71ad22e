// Every block of JavaScript in the guide and the package's README runs, in a process of its own.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { test } from "node:test";

for (const name of process.env.WASIBOX_DOCS.split(":")) {
  const text = fs.readFileSync(name, "utf8");
  const blocks = [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map((match) => match[1]);
  blocks.forEach((block, n) =>
    test(`${name}, block ${n}`, () => {
      const out = execFileSync(process.execPath, ["--input-type=module", "-e", block], { timeout: 120_000 });
      // What a comment says is what is printed.
      const said = [...block.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map((match) => match[1]);
      assert.deepEqual(out.toString().split("\n").filter(Boolean), said);
    }),
  );
  test(`${name} has blocks`, () => assert.ok(blocks.length > 0));
}
