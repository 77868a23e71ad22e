// Runs a command of an image in the Wasmer SDK for Node:
// `node sdk_run.mjs NODE_MODULES IMAGE COMMAND [ARG...]`. The exit status is the guest's.
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [modules, image, command, ...args] = process.argv.slice(2);
const sdk = pathToFileURL(`${modules}/@wasmer/sdk/dist/node.js`);
const { Wasmer } = await import(sdk);
const wasmer = new Wasmer();
const pkg = await wasmer.packages.load(new Uint8Array(await readFile(image)));
const sandbox = await wasmer.sandboxes.create({ packages: [pkg] });
const output = await sandbox.command(command, args).run({ check: false });
process.stdout.write(Buffer.from(output.stdout.bytes));
process.stderr.write(Buffer.from(output.stderr.bytes));
const status = output.exitCode;
await sandbox.close();
await wasmer.close();
process.exit(status);
