// A worker of the external collection's scorer (`cargo xtask conformance DIR --web` or
// `--sessions`). It reads requests from standard input and writes replies to standard output, each
// a line of JSON. WASIBOX_DIST is the folder with `web` and the image. If WASIBOX_PACKAGE is set,
// it is the package for Node, and the sessions that are scored are those of the native runner.

import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const dist = process.env.WASIBOX_DIST;
const native = process.env.WASIBOX_PACKAGE;
const { Engine, Session } = await import(pathToFileURL(native ?? `${dist}/web/index.js`));
const grants = native
  ? { engine: await Engine.open({ image: `${dist}/image.webc`, isolation: 'threads' }) }
  : { baseUrl: pathToFileURL(`${dist}/web/`), image: await readFile(`${dist}/image.webc`) };

/** The number of cases after which a new session begins, because a session keeps their history. */
const PER_SESSION = 100;
/** The folder, script and variables of a case, as in the scorer's target of the native runner. */
const WORK = '/case';
const SCRIPT = '/meta/script.sh';
const ENV = { TZ: 'UTC', LANG: 'C.UTF-8', SH: 'bash' };

const bytes = (text) => new Uint8Array(Buffer.from(text ?? '', 'base64'));

/** Copies a folder of the host into the session, with the modes of its files. */
async function bring(box, from, to) {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [there, here] = [join(from, entry.name), `${to}/${entry.name}`];
    if (entry.isDirectory()) {
      await box.makeDir(here);
      await bring(box, there, here);
    } else {
      await box.write(here, new Uint8Array(await readFile(there)));
    }
    const mode = (await stat(there)).mode & 0o7777;
    if (mode !== (entry.isDirectory() ? 0o755 : 0o644)) await box.exec(['chmod', mode.toString(8), here]);
  }
}

let box = null;
/** The commit of the session before its first case. */
let empty;
let served = 0;

/**
 * Makes a session, or restores it to its state before the first case. The files of a case are not
 * deleted one by one, because they may be anywhere, and in directories that cannot be read.
 */
async function begin() {
  if (served++ % PER_SESSION !== 0) return box.restore(empty);
  await box?.close();
  box = await Session.create(grants);
  await box.exec(['mkdir', WORK, '/meta'], { check: true });
  empty = await box.head();
}

async function run({ script_b64, stdin_b64, cwd, timeout }) {
  await begin();
  await bring(box, cwd, WORK);
  await box.write(SCRIPT, bytes(script_b64));
  // This timeout is less than the scorer's own, which would end this worker.
  const options = { cwd: WORK, env: ENV, stdin: bytes(stdin_b64), timeout, listFiles: false };
  const { exitCode, stdoutBytes, stderr, limitHit } = await box.exec(['bash', SCRIPT], options);
  return { stdout_b64: Buffer.from(stdoutBytes).toString('base64'), stderr, status: exitCode, timeout: limitHit === 'timeout' };
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await run(JSON.parse(line)).catch(async (error) => {
    await box?.close();
    [box, served] = [null, 0];
    return { stderr: String(error?.stack ?? error), status: -1 };
  });
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
await box?.close();
