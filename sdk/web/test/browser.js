// Runs the tests in a real browser: browser.js chromium|firefox PROGRAM [ROUNDS [database]].
// WASIBOX_DIST is the folder with `web` and the image. With ROUNDS the page of `reload.js` is
// opened. It is left ROUNDS times while it writes to a private file or, with `database`, to
// IndexedDB. With WASIBOX_CASES the cases of that file are run (`cases.js`). Without both, all
// tests are run.
//
// No driver is needed: the browser opens a page that this program serves, and the page reports the
// result of each test to the server.

import { spawn } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { make, run, take } from './native.js';
import { begin } from './world.js';

const [kind, program, rounds, place] = process.argv.slice(2);
const dist = process.env.WASIBOX_DIST;
const cases = process.env.WASIBOX_CASES;
/** The folder with the package's modules that are tested by themselves. */
const source = process.env.WASIBOX_WEB_SOURCE;
const tests = fileURLToPath(new URL('.', import.meta.url));
/** Milliseconds without a report after which the page's process is taken for dead. */
const SILENCE = 180_000;

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
/** The headers that isolate a page. Only an isolated page may share memory with workers. */
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Returns the file that is served at a path. */
function fileOf(path) {
  if (path.startsWith('/web/')) return join(dist, normalize(path));
  // A module of the package that is tested by itself.
  if (path.startsWith('/source/')) return join(source, normalize(path.slice('/source'.length)));
  if (path === '/cases' && cases) return cases;
  return join(tests, normalize(path));
}

function serve(request, response) {
  if (request.method === 'POST') {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const { pathname, searchParams } = new URL(request.url, 'http://host');
      if (pathname.startsWith('/native/')) {
        native(pathname.slice(8), searchParams, body, response);
        return;
      }
      response.writeHead(204).end();
      hear(JSON.parse(body.toString()));
    });
    return;
  }
  if (request.url === '/round') {
    response.writeHead(200, { ...ISOLATED, 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ round: passed, finished, isLast: passed >= rounds }));
    return;
  }
  if (request.url === '/world') {
    response.writeHead(200, { ...ISOLATED, 'Content-Type': 'application/json' }).end(JSON.stringify(world));
    return;
  }
  const file = fileOf(new URL(request.url, 'http://host').pathname);
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) {
    response.writeHead(404, ISOLATED).end();
    return;
  }
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  response.writeHead(200, { ...ISOLATED, 'Content-Type': type, 'Content-Length': size });
  createReadStream(file).pipe(response);
}

/** The requests of a page to the native runner (`native.js`). */
const NATIVE = {
  made: () => make(dist),
  take: async (steps, bytes) => JSON.stringify(await take(dist, bytes, JSON.parse(steps.get('steps')))),
  run: async (_, programs) => JSON.stringify(await run(dist, JSON.parse(programs.toString()))),
};

async function native(what, parameters, body, response) {
  try {
    response.writeHead(200, ISOLATED).end(await NATIVE[what](parameters, body));
  } catch (error) {
    response.writeHead(500, ISOLATED).end(String(error.stderr ?? error));
  }
}

let passed = 0;
let failed = 0;
/** The number of the last call that has returned in the page of `reload.js`. */
let finished = 0;
/** The page's last report of its activity. */
let doing = '';
let clock;

function hear(result) {
  clearTimeout(clock);
  clock = setTimeout(() => end(`the page has said nothing for ${SILENCE / 1000} s${doing}`), SILENCE);
  if (result.doing !== undefined) {
    doing = `; ${result.doing}`;
  } else if (result.finished !== undefined) {
    finished = result.finished;
  } else if (result.kill) {
    restart();
  } else if (result.over !== undefined) {
    end(passed === result.over && failed === 0 ? null : `${failed} of ${result.over} failed`);
  } else if (result.error === undefined) {
    passed++;
    if (!cases) console.log(`ok    ${result.name} (${result.ms} ms)`);
  } else {
    failed++;
    console.log(`FAIL  ${result.name}\n${result.error.replace(/^/gm, '      ')}`);
  }
}

const profile = mkdtempSync(join(tmpdir(), 'wasibox-web-'));

/**
 * The arguments with which each browser opens a page, without a window and with an empty profile.
 */
const ARGUMENTS = {
  // Chromium has no sandbox for root, and it opens only our own pages here.
  chromium: (url) => [
    ...['--headless', '--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage'],
    ...['--disable-background-networking', `--user-data-dir=${profile}`, url],
  ],
  firefox: (url) => ['--headless', '--no-remote', '--profile', profile, url],
};
/** Preferences that keep Firefox from opening pages and making requests by itself. */
const FIREFOX = [
  'user_pref("browser.aboutwelcome.enabled", false);',
  'user_pref("datareporting.policy.dataSubmissionEnabled", false);',
  'user_pref("app.normandy.enabled", false);',
  'user_pref("network.captive-portal-service.enabled", false);',
  'user_pref("network.connectivity-service.enabled", false);',
  // The reload tests kill Firefox. It must begin again without restoring its session, and not in
  // safe mode at the fourth time.
  'user_pref("toolkit.startup.max_resumed_crashes", -1);',
  'user_pref("browser.sessionstore.resume_from_crash", false);',
  // There is no user who could allow persistent storage.
  'user_pref("dom.storageManager.prompt.testing", true);',
  'user_pref("dom.storageManager.prompt.testing.allow", true);',
];

let browser;
let isOver = false;

function end(problem) {
  if (isOver) return;
  isOver = true;
  clearTimeout(clock);
  if (problem) console.log(problem);
  console.log(`${kind}: ${passed} passed, ${failed} failed`);
  process.exitCode = problem ? 1 : 0;
  world.end();
  server.close();
  server.closeAllConnections();
  browser?.off('exit', start);
  if (isRunning()) {
    browser.once('exit', remove);
    kill();
  } else {
    remove();
  }
}

/** Kills the browser with the processes that it has begun. */
function kill() {
  process.kill(-browser.pid, 'SIGKILL');
}

function start() {
  const tested = cases ? 'cases.html' : 'page.html';
  const page = rounds === undefined ? tested : place === undefined ? 'reload.html' : `reload.html?${place}`;
  const url = `http://127.0.0.1:${server.address().port}/${page}`;
  // The browser leads a process group, so that its processes can be killed with it.
  browser = spawn(program, ARGUMENTS[kind](url), { stdio: 'ignore', detached: true });
  browser.on('error', (error) => end(`${program}: ${error.message}`));
  browser.on('exit', left);
}

const left = (code) => end(`the browser has ended: ${code}`);

/** Returns whether the browser's process runs. */
const isRunning = () => browser?.exitCode === null && browser.signalCode === null;

/** Kills the browser in the middle of its work, and starts it again. */
function restart() {
  browser.off('exit', left);
  browser.once('exit', start);
  kill();
}

function remove() {
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}

if (!(kind in ARGUMENTS) || !program) {
  console.error('usage: browser.js chromium|firefox PROGRAM [ROUNDS [database]]');
  process.exit(2);
}
if (kind === 'firefox') writeFileSync(join(profile, 'user.js'), FIREFOX.join('\n'));
const world = await begin();
const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  clock = setTimeout(() => end('the browser has not opened the page'), SILENCE);
  start();
});
process.on('SIGINT', () => end('interrupted'));
process.on('SIGTERM', () => end('ended'));
