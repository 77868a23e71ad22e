// Tests the command line of the package, `npx wasibox`.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import crypto from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";
import { after, test } from "node:test";

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "wasibox-"));
after(() => fs.rmSync(folder, { recursive: true, force: true }));
// Without these variables, which may name another image, the package uses its own.
const given = Object.entries(process.env).filter(([name]) => !name.startsWith("WASIBOX_"));
const env = { ...Object.fromEntries(given), XDG_CACHE_HOME: path.join(folder, "cache") };

function run(...args) {
  const done = spawnSync("node_modules/.bin/wasibox", args, { encoding: "utf8", env });
  return [done.status, done.stdout, done.stderr];
}

test("it has its image and speaks of itself", () => {
  const [, shown] = run("--help");
  assert.match(shown, /Usage: wasibox /);
  assert.doesNotMatch(shown, /\brunner\b/);
  assert.deepEqual(run("frob"), [2, "", "wasibox: unknown command 'frob'\nTry 'wasibox --help' for more information.\n"]);
  const store = ["--store", path.join(folder, "s.wbx")];
  const [status, , told] = run("session", "create", ...store, "a");
  assert.equal(status, 0, told);
  const [code, said, stderr] = run("session", "exec", ...store, "a", "echo hi");
  // The machine code that came with the image is used, so nothing is compiled.
  assert.deepEqual([code, said], [0, "hi\n"], stderr);
  assert.doesNotMatch(told + stderr, /compil/);
});

/** Starts a server on this machine that serves the packages of a folder as npm's registry would. */
function registry(packages) {
  const answer = (request, response) => {
    const name = decodeURIComponent(request.url.slice(1));
    const file = path.join(packages, path.basename(name));
    if (name.endsWith(".tgz")) return fs.createReadStream(file).pipe(response);
    const tarball = fs.readdirSync(packages).find((f) => f.replace(/-\d.*\.tgz$/, "") === name && f.endsWith(".tgz"));
    if (!tarball) return response.writeHead(404).end("{}");
    const bytes = fs.readFileSync(path.join(packages, tarball));
    const integrity = `sha512-${crypto.createHash("sha512").update(bytes).digest("base64")}`;
    const unpacked = spawnSync("tar", ["-xOzf", path.join(packages, tarball), "package/package.json"], { encoding: "utf8" });
    const description = JSON.parse(unpacked.stdout);
    const { version } = description;
    description.dist = { tarball: `http://${request.headers.host}/${tarball}`, integrity };
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: description } }));
  };
  return new Promise((resolve) => {
    const server = http.createServer(answer).listen(0, "127.0.0.1", () => resolve(server));
  });
}

test("npx begins it for a client of the Model Context Protocol", async () => {
  const packages = process.env.WASIBOX_PACKAGES;
  assert.ok(packages, "WASIBOX_PACKAGES names the folder of the packages: run cargo xtask sdk");
  const server = await registry(packages);
  const elsewhere = fs.mkdtempSync(path.join(folder, "empty-"));
  const client = spawn("npx", ["--yes", "wasibox", "mcp"], {
    cwd: elsewhere,
    env: { ...env, npm_config_registry: `http://127.0.0.1:${server.address().port}`, npm_config_cache: path.join(folder, "npm") },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let told = "";
  client.stderr.on("data", (chunk) => (told += chunk));
  try {
    const send = (message) => client.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/call", params: { name: "sandbox_exec", arguments: { command: "echo $((6 * 7))" } } });
    let answer;
    for await (const line of readline.createInterface({ input: client.stdout })) {
      const message = JSON.parse(line);
      if (message.id === 2) {
        answer = message.result;
        break;
      }
    }
    assert.ok(answer, told);
    assert.match(answer.content[0].text, /42/);
  } finally {
    // The server ends when its client has left.
    client.stdin.end();
    await once(client, "close");
    server.close();
    server.closeAllConnections();
  }
});
