// The examples run, and print the lines that they promise.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const folder = process.env.WASIBOX_EXAMPLES;
const examples = fs.readdirSync(folder).filter((name) => name.endsWith(".mjs"));

for (const name of examples) {
  test(name, () => {
    const text = fs.readFileSync(path.join(folder, name), "utf8");
    const promised = text.split("\n// prints:\n")[1].replaceAll(/^\/\/ /gm, "");
    // It is run as a module of this folder, which has the package.
    const options = { timeout: 120_000, encoding: "utf8" };
    assert.equal(execFileSync(process.execPath, ["--input-type=module", "-e", text], options), promised);
  });
}

test("there are examples", () => assert.ok(examples.length > 0));
