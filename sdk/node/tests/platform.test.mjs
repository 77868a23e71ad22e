// Tests the message on a platform that the package does not support.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";

const installed = "node_modules/wasibox";
const description = JSON.parse(fs.readFileSync(`${installed}/package.json`, "utf8"));

/**
 * Loads a copy of the package with a broken native module and a changed package.json, and returns
 * the error.
 */
function broken(change) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "wasibox-"));
  fs.cpSync(`${installed}/dist`, path.join(folder, "dist"), { recursive: true });
  const json = structuredClone(description);
  change(json);
  fs.writeFileSync(path.join(folder, "package.json"), JSON.stringify(json));
  fs.mkdirSync(path.join(folder, "native"));
  fs.writeFileSync(path.join(folder, `native/wasibox.${process.platform}-${process.arch}.node`), "no module");
  const said = spawnSync(process.execPath, ["-e", "require(process.argv[1])", folder], { encoding: "utf8" });
  fs.rmSync(folder, { recursive: true });
  assert.notEqual(said.status, 0);
  return said.stderr;
}

test("the description says which glibc, and that is what the files need", () => {
  const [, version] = /^>=(\d+\.\d+)$/.exec(description.config.glibc);
  // The files name the versions of the symbols that they need.
  const files = [`native/wasibox.${process.platform}-${process.arch}.node`, "native/runner"];
  const names = files.flatMap((file) => fs.readFileSync(path.join(installed, file)).toString("latin1").match(/\bGLIBC_2\.\d+\b/g));
  const newest = Math.max(...names.map((name) => Number(name.split(".")[1])));
  const minor = Number(version.split(".")[1]);
  // auditwheel has tags only for the glibc of some distributions, so the declared version may be a
  // few versions newer.
  assert.ok(newest <= minor && newest > minor - 8, `${newest} in the files, ${version} in the description`);
});

test("a machine with an older C library is told so", () => {
  const older = broken((json) => (json.config.glibc = ">=99.1"));
  assert.match(older, /glibc 99\.1 and later, and this machine has (\d+\.\d+)\)/);
  assert.ok(older.includes(execFileSync("getconf", ["GNU_LIBC_VERSION"], { encoding: "utf8" }).trim().split(" ")[1]));
  const other = broken(() => undefined);
  assert.match(other, /no native module for .*too short|invalid ELF/s);
  assert.doesNotMatch(other, /glibc/);
});
