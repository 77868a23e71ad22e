// Runs a data task of fifteen steps with the official TypeScript client: task.mjs RUNNER IMAGE.
// WASIBOX_NODE_MODULES is the folder with the packages of package.json.
//
// The task is that of task.py. It runs at standard streams, then over HTTP, with a server that is
// killed in the middle and started again on the same store. Expected values follow from arithmetic.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

const sdk = createRequire(join(process.env.WASIBOX_NODE_MODULES, "of-these.js"));
const load = (name) => import(pathToFileURL(sdk.resolve(`@modelcontextprotocol/sdk/client/${name}.js`)));
const { Client } = await load("index");
const { StdioClientTransport } = await load("stdio");
const { StreamableHTTPClientTransport } = await load("streamableHttp");

const [runner, image] = process.argv.slice(2);
const rows = Array.from({ length: 100 }, (_, i) => `${i + 1},${(i + 1) ** 2}\n`).join("");
const FIGURE = `
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
plt.plot(df.x, df.y)
plt.savefig("/output/figure.png")
`;

async function call(client, name, args = {}) {
  // The client checks structured content against the tool's output schema.
  const result = await client.callTool({ name, arguments: args });
  assert.ok(!result.isError, `${name}: ${JSON.stringify(result.content)}`);
  return result;
}

async function run(client, command) {
  const done = (await call(client, "sandbox_exec", { command })).structuredContent;
  assert.equal(done.exit_code, 0, JSON.stringify(done));
  return done.stdout;
}

// Steps 1 to 11, before the server is killed.
async function before(client) {
  const { tools } = await client.listTools();
  for (const name of ["sandbox_exec", "execute_python", "edit_file", "undo", "restore"]) {
    assert.ok(tools.some((tool) => tool.name === name), name);
  }
  await call(client, "write_file", { path: "/home/user/data.csv", content: `x,y\n${rows}` });
  assert.equal(await run(client, "tail -n +2 data.csv | awk -F, '{ s += $2 } END { print s }'"), "338350\n");
  const code = "import pandas as pd\ndf = pd.read_csv('data.csv')\nint(df.y.sum())";
  assert.equal((await call(client, "execute_python", { code })).structuredContent.value, "338350");
  const figure = await call(client, "execute_python", { code: FIGURE });
  const pictures = figure.content.filter((block) => block.type === "image");
  assert.equal(pictures.length, 1);
  assert.equal(Buffer.from(pictures[0].data, "base64").subarray(0, 8).toString("latin1"), "\x89PNG\r\n\x1a\n");
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((r) => r.uri), ["sandbox:///output/figure.png"]);
  const { contents } = await client.readResource({ uri: resources[0].uri });
  assert.equal(contents[0].blob, pictures[0].data);
  await call(client, "edit_file", { path: "data.csv", edits: [{ old: "10,100\n", new: "10,0\n" }] });
  assert.equal(await run(client, "grep -c ',0$' data.csv"), "1\n");
  await call(client, "undo", { steps: 2 });
  assert.equal(await run(client, "grep -c '^10,100$' data.csv"), "1\n");
  await call(client, "snapshot", { name: "whole" });
  assert.equal(await run(client, "rm data.csv; ls *.csv 2>/dev/null | wc -l"), "0\n");
}

// Steps 12 to 15, with another server and the same session.
async function after(client) {
  assert.equal(await run(client, "ls *.csv 2>/dev/null | wc -l"), "0\n");
  await call(client, "restore", { commit: "whole" });
  assert.equal(await run(client, "wc -l < data.csv"), "101\n");
  assert.equal((await call(client, "execute_python", { code: "int(df.x.sum())" })).structuredContent.value, "5050");
}

async function connected(transport, steps) {
  const client = new Client({ name: "task", version: "1" });
  await client.connect(transport);
  await steps(client);
  return client;
}

async function byStreams(store) {
  for (const steps of [before, after]) {
    const transport = new StdioClientTransport({ command: runner, args: ["mcp", "--image", image, "--store", store] });
    const client = await connected(transport, steps);
    if (steps === before) {
      process.kill(transport.pid, "SIGKILL");
    }
    await client.close();
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

async function listens(port) {
  for (let tries = 0; tries < 1200; tries++) {
    const socket = connect(port, "127.0.0.1");
    const came = await once(socket, "connect").then(() => true, () => false);
    socket.destroy();
    if (came) {
      return;
    }
    await sleep(50);
  }
  throw new Error("the server does not listen");
}

async function byHttp(store) {
  const port = await freePort();
  for (const steps of [before, after]) {
    const args = ["mcp", "--image", image, "--store", store, "--http", `127.0.0.1:${port}`];
    const server = spawn(runner, args, { stdio: ["ignore", "inherit", "inherit"] });
    const ended = once(server, "exit");
    try {
      await listens(port);
      const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp?session=task`));
      const client = await connected(transport, steps);
      if (steps === after) {
        await transport.terminateSession();
      }
      server.kill("SIGKILL");
      await client.close();
    } finally {
      server.kill("SIGKILL");
      await ended;
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "doors-"));
try {
  await byStreams(join(folder, "streams.wbx"));
  console.log("at standard streams: done");
  await byHttp(join(folder, "http.wbx"));
  console.log("by HTTP: done");
} finally {
  rmSync(folder, { recursive: true });
}
