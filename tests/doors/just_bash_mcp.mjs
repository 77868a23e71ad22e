// Times `true` in just-bash's server for the Model Context Protocol at its standard streams, in one
// environment that is reused. WASIBOX_NODE_MODULES is the folder with the package.

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

const program = join(process.env.WASIBOX_NODE_MODULES, "just-bash-mcp/dist/index.js");
const server = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "ignore"] });
const waiting = new Map();
createInterface({ input: server.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  waiting.get(message.id)?.(message);
  waiting.delete(message.id);
});
server.on("exit", (status) => process.exit(status || 1));

const send = (message) => server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let id = 0;
const ask = (method, params) =>
  new Promise((told) => {
    id += 1;
    waiting.set(id, told);
    send({ id, method, params });
  });

await ask("initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "bench", version: "1" },
});
send({ method: "notifications/initialized" });
const took = [];
for (let n = 0; n < 520; n++) {
  const begun = performance.now();
  const { result } = await ask("tools/call", { name: "bash", arguments: { command: "true" } });
  took.push(performance.now() - begun);
  if (result?.isError || JSON.parse(result.content[0].text).exitCode !== 0) {
    throw new Error(JSON.stringify(result));
  }
}
const counted = took.slice(20).sort((a, b) => a - b);
const at = (part) => counted[Math.floor(counted.length * part)].toFixed(3);
console.log(`just-bash-mcp, stdio   median ${at(0.5)} ms, p99 ${at(0.99)} ms`);
server.removeAllListeners("exit");
server.kill();
