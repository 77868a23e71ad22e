// The tests in Node, and the example of the README.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { define } from './tests.js';

const dist = resolve(process.env.WASIBOX_DIST);
const index = pathToFileURL(`${dist}/web/index.js`);
const baseUrl = pathToFileURL(`${dist}/web/`);
const wasibox = await import(index);
after(define(wasibox, { baseUrl }, test));
const run = promisify(execFile);

test('the example of the README', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example] = /```js\n([^]*?)```/.exec(readme);
  const folder = await mkdtemp(join(tmpdir(), 'wasibox-web-'));
  try {
    await symlink(`${dist}/web/image`, join(folder, 'image'));
    const script = example.replace('wasibox-web', index.href).replace('/wasibox/', `${pathToFileURL(folder)}/`);
    await writeFile(join(folder, 'example.mjs'), script);
    const { stdout, stderr } = await run(process.execPath, [join(folder, 'example.mjs')]);
    assert.deepEqual([stdout, stderr], ['0 2+4\n6\n', '']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a session goes from the native runner to here and back', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wasibox-web-'));
  const native = (...args) =>
    run(`${dist}/runner`, args, { cwd: folder, env: { ...process.env, WASIBOX_STORE: 'there.wbx', WASIBOX_IMAGE: `${dist}/image.webc` } });
  const look = 'f x; echo ${m[k]} ${m[new]} "$n"; pwd; cd ~/d; stat -c "%n %a %s %F" *; cat link | wc -c; cd - > /dev/null';
  try {
    await native('session', 'create', 'a');
    const made = 'f() { echo "f $n $1"; }; declare -A m=([k]=v); n="4  1"; mkdir ~/d; cd ~/d; printf "x%.0s" {1..100000} > big; ln -s big link; chmod 640 big';
    await native('session', 'exec', 'a', made);
    await native('session', 'exec', 'a', 'echo two > two');
    await native('snapshot', 'export', 'a', 'a.wbs', '--history');

    const s = await wasibox.Session.load(await readFile(join(folder, 'a.wbs')), { baseUrl });
    const before = 'f 4  1 x\nv 4  1\n/home/user/d\nbig 640 100000 regular file\nlink 777 3 symbolic link\ntwo 644 4 regular file\n100000\n';
    assert.deepEqual([(await s.exec(look)).stdout, (await s.history()).filter((c) => c.command.includes('two')).length], [before, 1]);
    await s.undo();
    await s.undo();
    assert.equal(await s.exists('/home/user/d/two'), false);
    await s.redo();
    await s.exec('n=43; echo web > web; rm two; cd /tmp; m[new]=w; f() { echo "g $n $1"; }');
    await writeFile(join(folder, 'b.wbs'), await s.export({ history: true }));
    await s.close();

    await native('snapshot', 'import', '--name', 'b', 'b.wbs');
    const after = 'g 43 x\nv w 43\n/tmp\nbig 640 100000 regular file\nlink 777 3 symbolic link\nweb 644 4 regular file\n100000\n';
    assert.equal((await native('session', 'exec', 'b', look)).stdout, after);
    await native('session', 'undo', 'b');
    await native('session', 'undo', 'b');
    assert.equal((await native('session', 'exec', 'b', look)).stdout, before);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('an image that is there whole', async () => {
  const image = await readFile(`${dist}/image.webc`);
  const s = await wasibox.Session.create({ baseUrl, image });
  assert.equal((await s.exec('python3 -c "print(6 * 7)"; exec node -p 1')).stdout, '42\n1\n');
  await s.close();
});

test('a part that is damaged, and one that is missing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wasibox-web-'));
  try {
    const list = JSON.parse(await readFile(`${dist}/web/image/image.json`, 'utf8'));
    const files = [list.kernel, list.catalog, ...list.parts].map(({ file }) => file);
    const of = (name) => list.parts.find((part) => part.name === name).file;
    await mkdir(join(folder, 'image'));
    for (const name of ['image.json', ...files]) await symlink(`${dist}/web/image/${name}`, join(folder, 'image', name));
    await rm(join(folder, 'image', of('python')));
    const stdlib = await readFile(`${dist}/web/image/${of('share')}`);
    stdlib[stdlib.length >> 1] ^= 1;
    await rm(join(folder, 'image', of('share')));
    await writeFile(join(folder, 'image', of('share')), stdlib);
    const log = [];
    const s = await wasibox.Session.create({ baseUrl: pathToFileURL(`${folder}/`), log: (text) => log.push(text) });
    const told = await s.exec('cat /usr/share/zoneinfo/Europe/Berlin | wc -c; python3 -c 1; echo $?; echo on');
    assert.match(told.stdout, /^0\n12[67]\non\n$/);
    assert.match(told.stderr, /Berlin: (I\/O|Input\/output) error/);
    assert.match(log.join('\n'), /damaged[^]*ENOENT/);
    await s.close();
  } finally {
    await rm(folder, { recursive: true });
  }
});
