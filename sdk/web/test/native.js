// The native runner's part in the tests: it makes a session, takes one back and runs programs.

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

const SHELL = [
  'f() { echo "f $n $1"; }; declare -A m=([k]=v); n="4  1"; mkdir ~/d; cd ~/d; printf "x%.0s" {1..100000} > big; ln -s big link; chmod 640 big',
  'echo two > two',
  'seq 100 > ~/numbers',
];
const PYTHON = [
  'import itertools, random, pandas as pd\nx = [1]\nx += [x, x]\ncount = itertools.count(7)\nx = [0, x, x]',
  'df = pd.DataFrame({"a": [1, 2, 6]})\nfile = open("/home/user/numbers")\nfile.readline()\nseen = hash("a")',
  'state = random.getstate(); later = random.random(); random.setstate(state)\nx[1] = x[2] = {"k": None}',
];
const JAVASCRIPT = [
  'let a = [1, 2]; const m = new Map([["one", 1]]); function* numbers() { for (let n = 3; ; n++) yield n; } const next = numbers(); next.next().value',
  'm.set("two", 2); a[0] = () => m.get("two")',
];

/**
 * Calls `act` with a function that runs the native runner on a new store, and the store's folder.
 */
async function withRunner(dist, act) {
  const folder = await mkdtemp(join(tmpdir(), 'wasibox-web-'));
  const env = { ...process.env, WASIBOX_STORE: 'there.wbx', WASIBOX_IMAGE: `${dist}/image.webc` };
  try {
    const whole = (...args) => execute(`${dist}/runner`, args, { cwd: folder, env });
    // The runner compiles the image first, because it reports this on standard error, and the
    // programs' standard error is compared.
    await whole('compile', env.WASIBOX_IMAGE);
    const native = (...args) => whole(...args).then(({ stdout }) => stdout);
    return await act(Object.assign(native, { whole }), folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Makes a session with files, a shell, parked interpreters and history. Returns it as `.wbs`. */
export function make(dist) {
  return withRunner(dist, async (native, folder) => {
    await native('session', 'create', 'a');
    for (const script of SHELL) await native('session', 'exec', 'a', script);
    for (const code of PYTHON) await native('session', 'python', 'a', code);
    for (const code of JAVASCRIPT) await native('session', 'javascript', 'a', code);
    await native('snapshot', 'export', 'a', 'a.wbs', '--history');
    return readFile(join(folder, 'a.wbs'));
  });
}

/**
 * Imports a session and runs steps in it. A step consists of a command of `runner session` and its
 * arguments. Returns the output of each step.
 */
export function take(dist, bytes, steps) {
  return withRunner(dist, async (native, folder) => {
    await writeFile(join(folder, 'b.wbs'), bytes);
    await native('snapshot', 'import', '--name', 'b', 'b.wbs');
    const told = [];
    for (const [verb, ...rest] of steps) told.push(await native('session', verb, 'b', ...rest));
    return told;
  });
}

/**
 * Runs programs of Python, each in its own process. Returns the status, standard output and
 * standard error of each.
 */
export function run(dist, programs) {
  return withRunner(dist, async (native) => {
    await native('session', 'create', 'a');
    const told = [];
    for (const code of programs) {
      const ran = (fields) => told.push([fields.code ?? 0, fields.stdout, fields.stderr]);
      await native.whole('session', 'exec', 'a', '--', 'python3', '-c', code).then(ran, ran);
    }
    return told;
  });
}
