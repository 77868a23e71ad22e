// Times calls of sessions of just-bash and the Wasmer SDK, and prints a line of JSON for each.
// usage: node node.mjs NODE_MODULES IMAGE
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [modules, image] = process.argv.slice(2);
const RUNS = 200;

/** Returns the median milliseconds of `runs` calls, after a tenth as many that do not count. */
async function median(runs, act) {
  const times = [];
  for (let i = 0; i < runs + runs / 10; i++) {
    const begun = performance.now();
    await act();
    if (i >= runs / 10) times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}

function expect(output, want) {
  if (output.trim() !== want) throw new Error(`expected ${want}, not ${JSON.stringify(output)}`);
}

const SCRIPTS = { true: "", "echo hi | wc -c": "3", "echo x > /tmp/x": "" };

async function measure(peer, open, runs) {
  const times = {};
  const session = await open();
  for (const [script, want] of Object.entries(SCRIPTS)) {
    times[script] = await median(runs, async () => expect(await session.exec(script), want));
  }
  await session.write(new Uint8Array(1_000_000).fill(97));
  times.read = await median(runs, async () => {
    if ((await session.read()).length !== 1_000_000) throw new Error("another file");
  });
  await session.close();
  times.new = await median(runs / 10, async () => {
    const session = await open();
    expect(await session.exec("true"), "");
    await session.close();
  });
  console.log(JSON.stringify({ peer, times }));
}

const { Bash } = await import(pathToFileURL(`${modules}/just-bash/dist/bundle/index.js`));
await measure("just-bash", async () => {
  const bash = new Bash();
  return {
    exec: async (script) => (await bash.exec(script)).stdout,
    write: (data) => bash.fs.writeFile("/tmp/data", data),
    read: () => bash.fs.readFileBuffer("/tmp/data"),
    close: async () => {},
  };
}, RUNS);

const { Wasmer } = await import(pathToFileURL(`${modules}/@wasmer/sdk/dist/node.js`));
const wasmer = new Wasmer();
const pkg = await wasmer.packages.load(new Uint8Array(await readFile(image)));
await measure("@wasmer/sdk", async () => {
  const sandbox = await wasmer.sandboxes.create({ packages: [pkg] });
  const exec = async (script) => {
    const output = await sandbox.command("bash", ["-c", script]).run({ check: false });
    return Buffer.from(output.stdout.bytes).toString();
  };
  return {
    exec,
    write: (data) => sandbox.fs.writeFile("/workspace/data", data),
    read: () => sandbox.fs.readFile("/workspace/data"),
    close: () => sandbox.close(),
  };
}, 20);
await wasmer.close();
process.exit(0);
