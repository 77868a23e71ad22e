// The tests in Node, and the example of the README.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { make, run as runNatively, take } from './native.js';
import { define } from './tests.js';
import { begin } from './world.js';

const dist = resolve(process.env.WASIBOX_DIST);
const index = pathToFileURL(`${dist}/web/index.js`);
const baseUrl = pathToFileURL(`${dist}/web/`);
const wasibox = await import(index);
const native = { made: () => make(dist), take: (bytes, steps) => take(dist, bytes, steps), run: (programs) => runNatively(dist, programs) };
const world = await begin();
after(world.end);
after(define(wasibox, { baseUrl }, test, native, world));
const run = promisify(execFile);

test('the example of the README', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example] = /```js\n([^]*?)```/.exec(readme);
  const folder = await mkdtemp(join(tmpdir(), 'wasibox-web-'));
  try {
    await symlink(`${dist}/web/image`, join(folder, 'image'));
    // The names include their quotes, because the path of the checkout can contain the same words.
    const names = { "'wasibox-web'": index.href, "'/wasibox/'": `${pathToFileURL(folder)}/` };
    const script = example.replaceAll(/'wasibox-web'|'\/wasibox\/'/g, (name) => JSON.stringify(names[name]));
    await writeFile(join(folder, 'example.mjs'), script);
    const { stdout, stderr } = await run(process.execPath, [join(folder, 'example.mjs')]);
    assert.deepEqual([stdout, stderr], ['0 2+4\n6\n', '']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('an image that is there whole', async () => {
  const image = await readFile(`${dist}/image.webc`);
  const s = await wasibox.Session.create({ baseUrl, image });
  assert.equal((await s.exec('python3 -c "print(6 * 7)"; exec node -p 1')).stdout, '42\n1\n');
  // This imports all packages of the image's profile, and checks errors of C and C++.
  await s.write('imports.py', await readFile(new URL('../../../tests/python/imports.py', import.meta.url)));
  const { exitCode, stdout, stderr } = await s.exec('python3 imports.py');
  assert.deepEqual([exitCode, stdout], [0, ''], stderr);
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
