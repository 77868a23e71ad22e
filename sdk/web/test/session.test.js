// The tests in Node.

import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { define } from './tests.js';

const dist = process.env.WASIBOX_DIST;
const sdk = await import(pathToFileURL(`${dist}/web/index.js`));
const baseUrl = pathToFileURL(`${dist}/web/`);
const image = await readFile(`${dist}/image.webc`);
after(define(sdk, { baseUrl, image }, test));
