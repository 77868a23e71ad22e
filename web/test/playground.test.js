// Tests the playground in Chromium, as a person uses it. WASIBOX_DIST is the folder with `web`,
// WASIBOX_CHROMIUM is the browser, and WASIBOX_MODULES is the folder of packages. If
// WASIBOX_PICTURES is set, pictures of the page are written to that folder.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { open } from './chromium.js';
import { serve } from './server.js';

const { WASIBOX_DIST: dist, WASIBOX_CHROMIUM: program, WASIBOX_MODULES: modules, WASIBOX_PICTURES: pictures } = process.env;
let page;
let server;
let url;

before(async () => {
  // This host sets no headers, so the service worker must.
  server = await serve(`${dist}/web`, { isolated: false });
  ({ url } = server);
  page = await open(program);
});
after(async () => {
  await page?.close();
  await server?.close();
});

const READY = `document.body.getAttribute('aria-busy') === 'false' && document.querySelectorAll('#commits li').length > 0`;
const text = (selector) => page.value(`document.querySelector(${JSON.stringify(selector)}).textContent`);
const click = (selector) => page.value(`document.querySelector(${JSON.stringify(selector)}).click()`);
const screen = () => page.value(`[...document.querySelectorAll('.xterm-rows > div')].map((row) => row.textContent).join('\\n')`);

async function picture(name) {
  if (pictures) await writeFile(`${pictures}/${name}.png`, await page.picture());
}

async function example(title) {
  const choose = `{ const list = document.getElementById('example');
    list.value = [...list.options].find((o) => o.text === ${JSON.stringify(title)}).value;
    list.dispatchEvent(new Event('change')); }`;
  const before = await page.value(`document.querySelectorAll('#log article').length`);
  await page.value(choose);
  await page.until(`document.querySelectorAll('#log article').length > ${before} && ${READY}`);
}

/**
 * Types a line into the terminal, as a command or as input of the command that runs, and waits
 * until the terminal shows `expected`.
 */
async function typed(line, expected, { isInput = false } = {}) {
  await page.until(`playground.terminal.isReady === ${!isInput}`);
  await page.value(`document.querySelector('.xterm-helper-textarea').focus()`);
  await page.type(line);
  await page.enter();
  const rows = `[...document.querySelectorAll('.xterm-rows > div')].map((row) => row.textContent).join('\\n')`;
  await page.until(`${rows}.includes(${JSON.stringify(expected)})`, 20).catch(async (error) => {
    throw new Error(`${error.message}\n${await screen()}`);
  });
}

test('the page begins on a host that does not isolate it', async () => {
  await page.size(1280, 800);
  await page.go(url);
  await page.until(READY);
  assert.equal(await page.value('crossOriginIsolated'), true);
  await page.until(`document.getElementById('status').textContent.includes('MB stored')`);
});

test('a line of the terminal, input of a command, lines that belong together', async () => {
  await typed('echo $((6 * 7)) | tee answer; cd /tmp', '/tmp$');
  assert.match(await screen(), /^42/m);
  assert.equal(await text('#folder'), '/home/user');
  await typed('cd; read line; echo "<$line>"', 'read');
  await typed('some input', '<some input>', { isInput: true });
  await typed('for i in a b; do', '> ');
  await typed('echo "$i$i"; done', 'bb');
  await page.until(`document.getElementById('entries').textContent.includes('answer')`);
  await page.until(READY);
  const commits = await page.value(`[...document.querySelectorAll('#commits code')].map((code) => code.textContent)`);
  assert.deepEqual(commits, ['for i in a b; do', 'cd; read line; echo "<$line>"', 'echo $((6 * 7)) | tee answer; cd /tmp', 'the beginning']);
  assert.equal(await page.value(`document.getElementById('redo').disabled`), true);
});

const ROWS = `[...document.querySelectorAll('.xterm-rows > div')].map((row) => row.textContent.trimEnd())`;
const key = (letter) => page.press(letter, { code: `Key${letter.toUpperCase()}`, number: letter.toUpperCase().charCodeAt(0), modifiers: 2 });

/** Waits until a row of the terminal matches. */
const shows = (pattern) =>
  page.until(`${ROWS}.some((row) => ${pattern}.test(row))`, 60).catch(async (error) => {
    throw new Error(`${error.message}\n${await screen()}`);
  });

test('a line has a terminal: its size, colours, Ctrl+C, programs of the whole screen', async () => {
  await typed('clear', '$');
  await typed('test -t 0 && tty', '/dev/pts/0');
  await typed('echo $(stty size) size', ' size');
  await shows('/^[0-9]+ [0-9]+ size$/');
  await page.until(`playground.terminal.isReady`);
  const [, size] = /^(\d+ \d+) size$/m.exec(await screen());
  assert.equal(Number(size.split(' ')[0]), await page.value(`${ROWS}.length`));
  await typed('mkdir -p /tmp/d/folder; ls --color=auto /tmp/d', 'folder');
  await page.until(`[...document.querySelectorAll('.xterm-rows .xterm-bold')].some((part) => part.textContent === 'folder')`);
  await typed('sleep 100', 'sleep 100');
  await page.until(`!playground.terminal.isReady`);
  await key('c');
  await page.until(`playground.terminal.isReady`, 20);
  await typed('echo größe 日本語; echo "en""d"', 'end');
  await shows('/^größe 日本語$/');
  await typed('seq 1 500 > /tmp/n; less /tmp/n', '/tmp/n');
  await shows('/^1$/');
  await page.type('/321');
  await page.enter();
  await page.until(`${ROWS}[0] === '321'`, 60);
  await page.type('q');
  await typed('vim /tmp/note', '~');
  await shows('/^~$/');
  await page.type('iwritten here');
  await shows('/^written here$/');
  await picture('desktop-vim');
  await page.press('Escape', { number: 27 });
  await page.type(':wq');
  await page.enter();
  await typed('clear', '$');
  await typed('cat /tmp/note', 'written here');
  await typed('python3', '>>>');
  await page.type('6 * 7');
  await page.enter();
  await shows('/^42$/');
  await page.type('exit()');
  await page.enter();
  await page.until(`playground.terminal.isReady`, 60);
  await typed('seq 300000; echo al""l', 'all');
  await typed('clear', '$');
  await page.until(READY);
});

test('an example is one commit, which one undo takes back and one redo makes again', async () => {
  const names = () => text('#entries');
  const before = await page.value(`document.querySelectorAll('#commits li').length`);
  await example('awk and jq: logs');
  assert.equal(await page.value(`document.querySelectorAll('#commits li').length`), before + 1);
  assert.match(await names(), /log\.jsonl[^]*logs\.sh/);
  await click('#undo');
  await page.until(`!document.getElementById('entries').textContent.includes('logs.sh')`);
  assert.doesNotMatch(await names(), /log\.jsonl/);
  await page.until(`!document.getElementById('redo').disabled`);
  await click('#redo');
  await page.until(`document.getElementById('entries').textContent.includes('logs.sh') && document.getElementById('redo').disabled`);
});

test('what is edited is not replaced unasked, and is there after a reload', async () => {
  await page.value(`window.asked = []; window.confirm = (question) => (asked.push(question), false)`);
  await page.value(`document.getElementById('file').value = 'draft.sh'; document.querySelector('.cm-content').focus()`);
  await page.press('a', { code: 'KeyA', number: 65, modifiers: 2 });
  await page.type('echo drafted');
  await page.value(`{ const list = document.getElementById('example'); list.value = '0'; list.dispatchEvent(new Event('change')); }`);
  await page.until('asked.length === 1');
  assert.match(await page.value('asked[0]'), /^draft\.sh has changes that are not saved/);
  assert.equal(await text('.cm-content'), 'echo drafted');
  await page.go(url);
  await page.until(READY);
  assert.equal(await text('.cm-content'), 'echo drafted');
  assert.equal(await page.value(`document.getElementById('file').value`), 'draft.sh');
  await click('#run');
  await page.until(`document.querySelectorAll('#log article').length === 1 && ${READY}`);
  assert.equal(await text('#log article:last-child pre'), 'drafted\n');
});

test('examples: a table, a picture, a script', async () => {
  await example('Shell: count words');
  assert.match(await text('#log article:last-child pre'), /^ +3 the\n +2 and\n/);
  await example('pandas: a table');
  assert.equal(await text('#log article:last-child thead'), 'regionsummeanmax');
  assert.equal(await text('#log article:last-child tbody tr'), 'north533133.25150');
  await example('matplotlib: a picture');
  const drawn = `[...document.querySelectorAll('#log article:last-child img')].every((i) => i.complete && i.naturalWidth > 300)`;
  await page.until(drawn);
  await example('JavaScript: files');
  assert.match(await text('#log article:last-child table'), /sales\.csv/);
  await picture('desktop-results');
});

test('a folder goes into a .zip, and out of one', async () => {
  // The text that is waited for occurs only in the output, not in the command.
  await typed('mkdir -p z/deep && echo kept > z/deep/file && cd z && echo $((6 * 7))', '42');
  await page.value(`playground.files.folder = '/home/user/z'; playground.refresh()`);
  // This keeps the file that a click would download.
  await page.value(`{ const make = URL.createObjectURL; URL.createObjectURL = (blob) => (window.blob = blob, make.call(URL, blob)); }`);
  await click('#zip');
  await page.until('window.blob');
  const signature = await page.value('blob.arrayBuffer().then((b) => [...new Uint8Array(b, 0, 4)])');
  assert.deepEqual(signature, [0x50, 0x4b, 3, 4]);
  await page.value(`{ const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([blob], 'again.zip'));
    document.getElementById('files').dispatchEvent(new DragEvent('drop', { dataTransfer })); }`);
  await page.until(`document.getElementById('entries').textContent.includes('again.zip')`);
  await typed('rm -r deep; cd; ls z', 'again.zip');
  const unpack = `document.querySelector('[aria-label="Unpack again.zip"]')`;
  await page.until(unpack);
  await page.value(`${unpack}.click()`);
  await page.until(`document.getElementById('entries').textContent.includes('deep/')`);
  await typed('cat z/deep/file', 'kept');
  await page.value(`playground.files.folder = '/home/user'; playground.refresh()`);
});

test('what is edited is saved, changed, compared and undone', async () => {
  const commits = () => page.value(`document.querySelectorAll('#commits li').length`);
  await page.value(`document.getElementById('file').value = 'note.txt'; document.querySelector('.cm-content').focus()`);
  await page.press('a', { code: 'KeyA', number: 65, modifiers: 2 });
  await page.type('one\ntwo\n');
  await page.press('s', { code: 'KeyS', number: 83, modifiers: 2 });
  await page.until(`document.getElementById('status').textContent === 'note.txt is saved'`);
  await typed('cat note.txt; sed -i s/two/2/ note.txt', 'two');
  await page.until(`document.querySelector('#commits code').textContent.startsWith('cat note.txt')`);
  await click('#commits button');
  await page.until(`document.querySelector('#changes[open] .cm-deletedChunk, #changes[open] .cm-changedLine')`);
  assert.match(await text('#diffs h3'), /note\.txt \(modified\)/);
  assert.match(await text('#diffs'), /two[^]*2/);
  await picture('desktop-changes');
  await page.press('Escape', { number: 27 });
  await page.until(`!document.querySelector('#changes[open]')`);
  const before = await commits();
  await click('#undo');
  await page.until(`document.querySelector('#commits li:nth-child(2) [aria-current]')`);
  assert.equal(await commits(), before);
  await typed('cat note.txt', 'two');
});

test('the session is there again after a reload, and without the server', async () => {
  await page.go(url);
  await page.until(READY);
  await typed('cat answer; wc -l < note.txt', '42');
  await server.close();
  await page.go(url);
  await page.until(READY);
  await typed('echo off-$(cat answer)', 'off-42');
  server = await serve(`${dist}/web`, { isolated: true, port: new URL(url).port });
});

test('a link holds a session', async () => {
  await page.value(`navigator.clipboard.writeText = async (text) => { window.link = text; }`);
  await page.value(`playground.begin('small')`);
  await page.until(READY);
  await typed('echo shared > shared; echo done', 'done');
  await click('#share');
  await page.value(`document.getElementById('copy-link').click()`);
  await page.until('window.link');
  const link = await page.value('window.link');
  assert.ok(link.startsWith(`${url}#session=`) && link.length < 5000, `${link.length} characters`);
  await page.go('about:blank');
  await page.go(link);
  await page.until(READY);
  assert.match(await page.value(`document.getElementById('session').value`), /^shared-/);
  assert.equal(await page.value('location.hash'), '');
  await typed('cat shared', 'shared');
});

test('on a phone the terminal keeps its lines while another pane is shown', async () => {
  await page.size(390, 844);
  let rows;
  let widest;
  for (const pane of ['terminal', 'files']) {
    await click(`nav [data-pane=${pane}]`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    [rows, widest] = await page.value(`{ const rows = [...document.querySelectorAll('.xterm-rows > div')];
      [rows.length, Math.max(...rows.map((row) => row.textContent.length))] }`);
    assert.ok(rows > 20 && widest > 20, `${rows} rows, ${widest} columns while ${pane} is shown`);
  }
  // The pane is now larger than when it was hidden, and a few lines need no scrolling.
  await page.size(390, 900);
  await click('nav [data-pane=terminal]');
  await page.until(`document.querySelectorAll('.xterm-rows > div').length > ${rows}`);
  const [slider, bar] = await page.value(`{ const bar = document.querySelector('#screen .scrollbar.vertical');
    [bar.querySelector('.slider').offsetHeight, bar.offsetHeight] }`);
  assert.equal(slider, bar);
});

test('axe-core finds no serious fault, in light and dark, on desktop and phone', async () => {
  const axe = await readFile(`${modules}/axe-core/axe.min.js`, 'utf8');
  for (const title of ['pandas: a table', 'matplotlib: a picture']) await example(title);
  // The page's policy forbids adding a script, so the code is evaluated.
  await page.value(`{ ${axe} }; window.axe !== undefined`);
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.size(width, height);
    for (const theme of ['light', 'dark']) {
      if ((await page.value('document.documentElement.dataset.theme')) !== theme) await click('#theme');
      const panes = width < 600 ? ['files', 'editor', 'terminal', 'results', 'history'] : [null];
      for (const pane of panes) {
        if (pane) await click(`nav [data-pane=${pane}]`);
        await new Promise((resolve) => setTimeout(resolve, 200));
        const found = await page.value(`axe.run().then(({ violations }) => violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join(' | ')))`);
        assert.deepEqual(found, [], `${width} ${theme} ${pane}`);
        await picture(`${width < 600 ? 'phone' : 'desktop'}-${theme}${pane ? `-${pane}` : ''}`);
      }
    }
  }
});

test('nothing went wrong that was not seen', () => {
  const expected = /net::ERR_CONNECTION_REFUSED|Failed to load resource/;
  assert.deepEqual(page.problems.filter((problem) => !expected.test(problem)), []);
});
