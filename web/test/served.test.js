// Tests the page of `runner serve` in Chromium, as a person uses it: terminals with programs of all
// kinds, through a connection that is cut. WASIBOX_DIST is the folder with the runner and the image,
// WASIBOX_CHROMIUM is the browser. If WASIBOX_PICTURES is set, pictures of the page are written to that
// folder.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { open } from './chromium.js';

const { WASIBOX_DIST: dist, WASIBOX_CHROMIUM: program, WASIBOX_PICTURES: pictures } = process.env;
const TOKEN = 'person-person-person';
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
let folder;
let runner;
let wire;
let page;

/** Passes connections on to a port, until they are cut. */
class Wire {
  #sockets = new Set();
  isCut = false;

  constructor(port) {
    this.server = createServer((near) => {
      if (this.isCut) return near.destroy();
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => (near.destroy(), far.destroy(), this.#sockets.delete(socket)));
      }
      near.pipe(far).pipe(near);
    });
  }

  listen() {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => resolve(this.server.address().port)));
  }

  cut(isCut) {
    this.isCut = isCut;
    if (isCut) for (const socket of this.#sockets) socket.destroy();
  }
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'wasibox-served-'));
  writeFileSync(join(folder, 'tokens.toml'), `[[token]]\nname = "person"\ntoken = "${TOKEN}"\n`);
  const options = ['--listen', '127.0.0.1:0', '--token-file', join(folder, 'tokens.toml'), '--store', join(folder, 'w.wbx')];
  runner = spawn(join(dist, 'runner'), ['serve', '--image', join(dist, 'image.webc'), ...options], { stdio: ['ignore', 'inherit', 'pipe'] });
  process.once('exit', () => runner.kill('SIGKILL'));
  const address = await new Promise((resolve, reject) => {
    runner.once('exit', () => reject(new Error('the server has ended')));
    createInterface({ input: runner.stderr }).on('line', (line) => {
      const found = /listening on http:\/\/127\.0\.0\.1:(\d+)$/.exec(line);
      if (found) resolve(Number(found[1]));
      else console.error(line);
    });
  });
  wire = new Wire(address);
  const port = await wire.listen();
  page = await open(program);
  await page.size(1280, 800);
  await page.go(`http://127.0.0.1:${port}/`);
  await page.until(`window.terminals?.enter`);
  const answers = await page.value(`fetch('/v1/sessions/w', { method: 'PUT', headers: { Authorization: 'Bearer ${TOKEN}' } }).then((a) => a.status)`);
  assert.equal(answers, 201);
  await page.value(`document.getElementById('token').value = '${TOKEN}'; document.querySelector('#enter button').click()`);
});

after(async () => {
  await page?.close();
  wire?.cut(true);
  wire?.server.close();
  if (runner && runner.exitCode === null) {
    const ended = new Promise((resolve) => runner.once('exit', resolve));
    runner.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

const ROWS = `[...document.querySelectorAll('.screen:not([hidden]) .xterm-rows > div')].map((row) => row.textContent.trimEnd())`;
const rows = () => page.value(ROWS);
const click = (selector) => page.value(`document.querySelector(${JSON.stringify(selector)}).click()`);
const tabs = () => page.value(`[...document.querySelectorAll('[role=tab]')].map((tab) => tab.textContent)`);

/** Waits until a row of the terminal matches. */
async function shows(pattern, seconds = 30) {
  await page.until(`${ROWS}.some((row) => ${pattern}.test(row))`, seconds).catch(async (error) => {
    const problem = await page.value(`document.getElementById('problem').textContent`);
    throw new Error([error.message, ...(await rows()), problem, ...page.problems].join('\n'));
  });
}

async function type(text) {
  await page.value(`document.querySelector('.screen:not([hidden]) .xterm-helper-textarea').focus()`);
  await page.type(text);
}

async function line(text) {
  await type(text);
  await page.enter();
}

const control = (letter) => page.press(letter, { code: `Key${letter.toUpperCase()}`, number: letter.toUpperCase().charCodeAt(0), modifiers: 2 });
const escape = () => page.press('Escape', { number: 27 });

let prompts = 0;

/** Waits until the shell waits for a command. */
const waits = () => page.until(`/[$#]$/.test(${ROWS}.filter((row) => row !== '').at(-1))`, 30);

/** Clears the screen of a shell that waits, so that a test sees its own text alone. */
async function prompt() {
  await waits();
  await line(`clear; echo rea""dy ${++prompts}`);
  await shows(`/^ready ${prompts}$/`);
  await waits();
}

async function picture(name) {
  if (pictures) writeFileSync(`${pictures}/${name}.png`, await page.picture());
}

test('the shell runs commands, shows characters of any width, and edits lines', async () => {
  await shows('/[$#]$/');
  await line('mkdir -p dir; touch file; ls --color=always -d dir file');
  await shows('/^dir +file$/');
  // xterm.js draws colours by classes: folders are bold blue.
  await page.until(`[...document.querySelectorAll('.xterm-rows .xterm-bold')].some((part) => part.textContent === 'dir')`);
  await line('echo größe 日本語 €; test -t 0 && tty');
  await shows('/^größe 日本語 €$/');
  await shows('/^.dev.pts.[0-9]+$/');
  // The cursor goes back over one character.
  await type('echo abd');
  await page.press('ArrowLeft', { number: 37 });
  await type('c');
  await page.enter();
  await shows('/^abcd$/');
  await page.press('ArrowUp', { number: 38 });
  await shows('/[$#] echo abcd$/');
  await control('c');
  await prompt();
});

test('keys interrupt and stop programs', async () => {
  await line('sleep 100; echo status $?');
  await pause(300);
  await control('c');
  await shows('/^\\^C/');
  await waits();
  await line('echo "was $?"');
  await shows('/^was 130$/');
  await line('cat');
  await line('typed');
  await page.until(`${ROWS}.filter((row) => row === 'typed').length === 2`);
  await control('c');
  await waits();
  await line('echo "then $?"');
  await shows('/^then 130$/');
  await line('sleep 50');
  await pause(300);
  await control('z');
  await shows('/Stopped +sleep 50/');
  await waits();
  await line('kill %1; wait; jobs');
  await shows('/Terminated +sleep 50/');
  await prompt();
});

test('programs of the whole screen: less, vim, nano, prompts of Python and Node', async () => {
  await line('seq 1 2000 > numbers; less numbers');
  await shows('/^numbers$/');
  await type('/1234');
  await page.enter();
  await page.until(`${ROWS}[0] === '1234'`);
  await type('q');
  await shows('/less numbers$/');
  await prompt();
  await line('vim note');
  await shows('/^~$/');
  await type('iwritten by vim');
  await shows('/^written by vim$/');
  await escape();
  await picture('served-vim');
  await line(':wq');
  await prompt();
  await line('cat note');
  await shows('/^written by vim$/');
  await line('nano note');
  await shows('/GNU nano/');
  await type('and by nano: ');
  await control('o');
  await page.enter();
  await control('x');
  await prompt();
  await line('cat note');
  await shows('/^and by nano: written by vim$/');
  await line('python3');
  await shows('/^>>>$/', 60);
  await line('6 * 7');
  await shows('/^42$/');
  await line('exit()');
  // Python drops what is typed while it ends, as terminals allow.
  await waits();
  await line('node');
  await shows('/^>$/', 60);
  await line('[1, 2].map((n) => n * 21)');
  await shows('/^\\[ 21, 42 \\]$/');
  await control('d');
  await prompt();
});

test('the program learns the size of the window', async () => {
  const size = () => page.value(`new Promise((resolve) => requestAnimationFrame(() => resolve(${ROWS}.length)))`);
  const before = await size();
  await line(`sh -c 'trap "echo size \\$(stty size); exit" WINCH; echo wai""ts; while :; do sleep 0.1; done'`);
  await shows('/^waits$/');
  await page.size(1000, 500);
  await page.until(`${ROWS}.length < ${before}`);
  const after = await size();
  await shows(`/^size ${after} [0-9]+$/`);
  await waits();
  await line('stty size');
  await shows(`/^${after} [0-9]+$/`);
  await page.size(1280, 800);
  await page.until(`${ROWS}.length === ${before}`);
  await prompt();
});

test('a program that prints without end waits for the screen, and Ctrl+C ends it', async () => {
  const begun = Date.now();
  await line('seq 1000000; echo all "$((40 + 2))"');
  await shows('/^all 42$/', 60);
  assert.deepEqual((await rows()).filter((row) => /^(999999|1000000)$/.test(row)), ['999999', '1000000']);
  console.log(`a million lines in ${Date.now() - begun} ms`);
  await line('yes');
  await pause(1500);
  // The page answers meanwhile.
  const asked = Date.now();
  assert.equal(await page.value('6 * 7'), 42);
  assert.ok(Date.now() - asked < 1000, `${Date.now() - asked} ms`);
  await control('c');
  await prompt();
});

test('a terminal stays after its connection was cut', async () => {
  await line('for i in 1 2 3 4 5 6; do echo "step $i of 6"; sleep 0.5; done; echo "al""l"');
  await shows('/^step 1 of 6$/');
  wire.cut(true);
  await page.until(`document.querySelector('.tab.offline')`);
  await pause(1200);
  wire.cut(false);
  await page.until(`!document.querySelector('.tab.offline')`);
  await shows('/^all$/');
  const steps = (await rows()).filter((row) => row.startsWith('step'));
  assert.deepEqual(steps, [1, 2, 3, 4, 5, 6].map((n) => `step ${n} of 6`));
});

test('a page that is opened again has the terminal with what it showed', async () => {
  await line('value=kept; echo "before ""the reload"');
  await shows('/^before the reload$/');
  await page.value('location.reload()').catch(() => {});
  await shows('/^before the reload$/');
  await line('echo "it is $value"');
  await shows('/^it is kept$/');
  await prompt();
});

test('several terminals at once, and their ends', async () => {
  await click('#add');
  await shows('/[$#]$/');
  assert.deepEqual(await tabs(), ['1: bash', '2: bash']);
  await line('echo "second"; sleep 1; echo "of two" > from-second');
  await click('.tab:nth-child(1) [role=tab]');
  await line('until [ -e from-second ]; do sleep 0.1; done; cat from-second');
  await shows('/^of two$/');
  await click('.tab:nth-child(2) [role=tab]');
  await shows('/^second$/');
  await line('exit 3');
  await shows('/bash exited with status 3; Enter begins another shell/');
  await page.enter();
  await shows('/[$#]$/');
  await line('echo "again $?"');
  await shows('/^again 0$/');
  await click('.tab:nth-child(2) .close');
  await page.until(`document.querySelectorAll('[role=tab]').length === 1`);
  await prompt();
});

test('files and history follow, and undo ends what runs with its reason', async () => {
  await page.until(`document.getElementById('files').textContent.includes('from-second')`);
  // The changes of a shell are a commit with its name.
  await page.until(`document.getElementById('past').textContent.includes('bash')`);
  await page.value(`window.asked = []; window.confirm = (question) => (asked.push(question), asked.length > 1)`);
  await line('sleep 1000');
  await pause(300);
  await click('#undo');
  await page.until('asked.length === 1');
  assert.match(await page.value('asked[0]'), /ends what runs in the session:\nbash/);
  await click('#undo');
  await shows('/bash has ended, because the session was moved/');
  await page.enter();
  // A shell that waits for a command is ended without a question.
  await prompt();
  await click('#undo');
  await shows('/bash has ended, because the session was moved/');
  assert.equal(await page.value('asked.length'), 2);
  await page.enter();
  await prompt();
});

test('pictures: desktop and phone, light and dark', async () => {
  await line('ls --color=always -la /; python3 -c "print(\'\\x1b[31mred \\x1b[32mgreen \\x1b[33myellow \\x1b[34mblue\\x1b[0m\')"');
  await shows('/red green yellow blue/');
  for (const [name, width, height] of [['desktop', 1280, 800], ['phone', 390, 780]]) {
    for (const scheme of ['light', 'dark']) {
      await page.ask('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
      await page.ask('Emulation.setTouchEmulationEnabled', { enabled: width < 600 });
      await page.size(width, height);
      await pause(400);
      const over = await page.value('document.documentElement.scrollWidth - innerWidth');
      assert.ok(over <= 0, `${name}: ${over} pixels too wide`);
      await picture(`served-${name}-${scheme}`);
    }
  }
  assert.deepEqual(page.problems.filter((problem) => !/ERR_CONNECTION|ERR_SOCKET|ERR_EMPTY|WebSocket/.test(problem)), []);
});
