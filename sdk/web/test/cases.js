// Runs the harness's cases and the tasks, in Node and in pages. They come as a JSON list, which
// `cargo xtask web --cases` makes (xtask/src/web/cases.rs).

/** The number of cases that share a session. `prepare` removes the files of the previous case. */
const PER_SESSION = 200;
/** The time limit of a case, in seconds. */
const TIMEOUT = 60;
/** The folder and the script of a case, as in the harness (`tests/harness/src/run.rs`). */
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

/** Runs a case. Returns a text about how its result differs from the expected one, or null. */
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
 * Runs all cases.
 *
 * @param {() => Promise<object>} make begins a session
 * @param {(one: object, problem: string | null) => void} report is called after each case
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
