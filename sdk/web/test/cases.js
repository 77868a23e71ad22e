// The harness's cases in Node: cases.js FILE, a list of cases in JSON as `cargo xtask web --cases` makes it of tests/cases.
// Tells those that fail, and the rate. WASIBOX_DIST is the folder with `web` and the image.

import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const dist = process.env.WASIBOX_DIST;
const { Session } = await import(pathToFileURL(`${dist}/web/index.js`));
const baseUrl = pathToFileURL(`${dist}/web/`);
const cases = JSON.parse(await readFile(process.argv[2], 'utf8'));

/** A session serves so many cases: what they leave in it is no part of the next ones. */
const PER_SESSION = 200;
/** Seconds. */
const TIMEOUT = 60;
/** Of the harness, `tests/harness/src/run.rs`. */
const WORK = '/case';
const SCRIPT = '/meta/script.sh';

async function make() {
  return Session.create({ baseUrl, log: (text) => console.error(text) });
}

async function prepare(box, { files, script }) {
  const folders = Object.keys(files).filter((name) => name.includes('/'));
  const parents = folders.map((name) => `${WORK}/${name.slice(0, name.lastIndexOf('/'))}`);
  const clean = `cd / && chmod -R u+rwx ${WORK} 2>/dev/null; rm -rf ${WORK} /tmp/* /tmp/.[!.]*; mkdir -p "$@"`;
  await box.exec(['bash', '-c', clean, 'bash', WORK, '/meta', ...parents]);
  for (const [name, content] of Object.entries(files)) await box.write(`${WORK}/${name}`, content);
  await box.write(SCRIPT, script);
}

/** What is not as it should be, or null. */
async function problem(box, one) {
  await prepare(box, one);
  const options = { cwd: WORK, stdin: one.stdin, timeout: TIMEOUT };
  const { exitCode: status, stdout, stderr, limitHit } = await box.exec(['bash', SCRIPT], options);
  const isRight = status === one.status && stdout === one.stdout && (one.stderr === null || one.stderr === stderr);
  if (isRight) return null;
  const found = [`--- script\n${one.script}`, `--- expected ${one.status}\n${one.stdout}`];
  found.push(`--- found ${status}${limitHit ? `, ${limitHit}` : ''}\n${stdout}--- stderr\n${stderr}`);
  return found.join('\n');
}

let box = null;
let failed = 0;
for (const [n, one] of cases.entries()) {
  if (n % PER_SESSION === 0) {
    box?.close();
    box = await make();
  }
  const found = await problem(box, one).catch((error) => error.stack);
  if (found === null) continue;
  failed++;
  console.log(`FAIL  ${one.file}: ${one.name}\n${found}\n`);
}
box?.close();
const passed = cases.length - failed;
console.log(`cases in Node: ${passed} of ${cases.length} pass, ${((100 * passed) / cases.length).toFixed(2)} %`);
process.exitCode = failed === 0 ? 0 : 1;
