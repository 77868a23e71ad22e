// The tests in Node, and the example of the README.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { define } from './tests.js';

const dist = resolve(process.env.WASIBOX_DIST);
const index = pathToFileURL(`${dist}/web/index.js`);
const baseUrl = pathToFileURL(`${dist}/web/`);
const image = await readFile(`${dist}/image.webc`);
after(define(await import(index), { baseUrl, image }, test));

test('the example of the README', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const [, example] = /```js\n([^]*?)```/.exec(readme);
  const folder = await mkdtemp(join(tmpdir(), 'wasibox-web-'));
  try {
    await symlink(`${dist}/web/wasibox.wasm`, join(folder, 'wasibox.wasm'));
    await symlink(`${dist}/image.webc`, join(folder, 'image.webc'));
    const script = example.replace('wasibox-web', index.href).replace('/wasibox/', `${pathToFileURL(folder)}/`);
    await writeFile(join(folder, 'example.mjs'), script);
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(folder, 'example.mjs')]);
    assert.deepEqual([stdout, stderr], ['0 2+4\n6\n', '']);
  } finally {
    await rm(folder, { recursive: true });
  }
});
