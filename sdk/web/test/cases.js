// The harness's cases and the tasks, in Node and in pages: a list of cases in JSON, as `cargo xtask web --cases` makes it
// (xtask/src/web/cases.rs).

/** A session serves so many cases: what they leave in it is no part of the next ones. */
const PER_SESSION = 200;
/** Seconds. */
const TIMEOUT = 60;
/** Of the harness, `tests/harness/src/run.rs`. */
const WORK = '/case';
const SCRIPT = '/meta/script.sh';

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

/**
 * Runs them all.
 * @param {() => Promise<object>} make begins a session
 * @param {(one: object, problem: string | null) => void} report is told of each
 */
export async function runCases(cases, make, report) {
  let box = null;
  for (const [n, one] of cases.entries()) {
    if (n % PER_SESSION === 0) {
      await box?.close();
      box = await make();
    }
    await report(one, await problem(box, one).catch((error) => String(error.stack)));
  }
  await box?.close();
}
