// The tests in a real browser: browser.js chromium|firefox PROGRAM [ROUNDS [database]]. WASIBOX_DIST is the folder with `web` and
// the image. With ROUNDS the page that is left so many times while it writes (`reload.js`), by a private file or a database, with
// WASIBOX_CASES the cases of that file (`cases.js`), else all tests.
//
// No driver is needed: the browser opens a page of a server here, and the page reports the result of each test to the
// server.

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
const tests = fileURLToPath(new URL('.', import.meta.url));
/** The page says nothing for so long when its process has died. */
const SILENCE = 180_000;

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm' };
/** What makes a page isolated, so that it may share memory with workers. */
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** The file that is served at a path. */
function fileOf(path) {
  if (path.startsWith('/web/')) return join(dist, normalize(path));
  // A module of the package that is tested by itself.
  if (path.startsWith('/source/')) return join(tests, '..', normalize(path.slice('/source'.length)));
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

/** What the native runner is asked for by a page, `native.js`. */
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
/** The last call that has returned to the page that is left. */
let finished = 0;
/** What the page has last said it does. */
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

/** How each browser is told to open a page without a window, with nothing of a user's. */
const ARGUMENTS = {
  // Root has no sandbox in Chromium, and what it opens here is ours alone.
  chromium: (url) => [
    ...['--headless', '--no-sandbox', '--no-first-run', '--disable-gpu', '--disable-dev-shm-usage'],
    ...['--disable-background-networking', `--user-data-dir=${profile}`, url],
  ],
  firefox: (url) => ['--headless', '--no-remote', '--profile', profile, url],
};
/** No page of its own, no requests of its own. */
const FIREFOX = [
  'user_pref("browser.aboutwelcome.enabled", false);',
  'user_pref("datareporting.policy.dataSubmissionEnabled", false);',
  'user_pref("app.normandy.enabled", false);',
  'user_pref("network.captive-portal-service.enabled", false);',
  'user_pref("network.connectivity-service.enabled", false);',
  // Tests of reloads kill it: it begins again as if nothing had happened, and not in safe mode at the fourth time.
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

/** Ends the browser with the processes that it has begun. */
function kill() {
  process.kill(-browser.pid, 'SIGKILL');
}

function start() {
  const tested = cases ? 'cases.html' : 'page.html';
  const page = rounds === undefined ? tested : place === undefined ? 'reload.html' : `reload.html?${place}`;
  const url = `http://127.0.0.1:${server.address().port}/${page}`;
  // A group of its own, which is ended with it.
  browser = spawn(program, ARGUMENTS[kind](url), { stdio: 'ignore', detached: true });
  browser.on('error', (error) => end(`${program}: ${error.message}`));
  browser.on('exit', left);
}

const left = (code) => end(`the browser has ended: ${code}`);

/** Whether the browser's process has not ended. */
const isRunning = () => browser?.exitCode === null && browser.signalCode === null;

/** Ends the browser in the middle of what it does, and begins it again. */
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
