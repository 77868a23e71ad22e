// Runs every block of JavaScript and TypeScript in the guides and the package's README, each in a
// process of its own.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

/** Checks the types of a module with strict options, and returns its JavaScript. */
function compiled(text) {
  const folder = fs.mkdtempSync("docs-");
  try {
    fs.writeFileSync(`${folder}/block.mts`, text);
    const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
    const options = ["--strict", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,esnext.disposable", "--types", "node"];
    const done = spawnSync(process.execPath, [tsc, ...options, `${folder}/block.mts`], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout);
    return fs.readFileSync(`${folder}/block.mjs`, "utf8");
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

for (const name of process.env.WASIBOX_DOCS.split(":")) {
  const text = fs.readFileSync(name, "utf8");
  const blocks = [...text.matchAll(/^```(js|ts)\n([\s\S]*?)^```/gm)];
  blocks.forEach(([, language, block], n) =>
    test(`${name}, block ${n}`, () => {
      const script = language === "ts" ? compiled(block) : block;
      const out = execFileSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 120_000 });
      // The comment after each `console.log` is its expected output.
      const said = [...block.matchAll(/console\.log\(.*\/\/ (.*)$/gm)].map((match) => match[1]);
      assert.deepEqual(out.toString().split("\n").filter(Boolean), said);
    }),
  );
  test(`${name} has blocks`, () => assert.ok(blocks.length > 0));
}

test("a block with a wrong type is refused", () => {
  assert.throws(() => compiled('import { Session } from "wasibox";\nconst s: number = await Session.create();\n'), /TS2322/);
});

test("TypeScript 7 finds the types of Node by itself", () => {
  const folder = fs.mkdtempSync("docs-");
  try {
    const block = 'import { Session } from "wasibox";\nimport type {} from "wasibox/adapters/bash-tool";\n' +
      "const s = await Session.create();\nconst b: Uint8Array = await s.read(\"/etc/hostname\");\n";
    fs.writeFileSync(`${folder}/block.mts`, block);
    const package7 = createRequire(import.meta.url).resolve("typescript-7/package.json");
    const tsc = package7.replace(/package\.json$/, "bin/tsc");
    const options = ["--ignoreConfig", "--strict", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2023,esnext.disposable"];
    const done = spawnSync(process.execPath, [tsc, ...options, `${folder}/block.mts`], { encoding: "utf8" });
    assert.equal(done.status, 0, done.stdout);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});
