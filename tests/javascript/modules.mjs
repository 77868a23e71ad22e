//# imports and top-level await
import fs, { readFileSync } from 'node:fs'; import * as path from 'path'; import { EventEmitter } from 'events';
console.log(typeof fs.readFileSync, readFileSync === fs.readFileSync, path.join('a', 'b'), typeof EventEmitter, await Promise.resolve(3), typeof require, this);
//# import meta
console.log(import.meta.url.startsWith('file:///'), typeof import.meta.dirname, import.meta.filename.endsWith('.mjs'), import.meta.main, import.meta.resolve('node:fs'), import.meta.resolve('./x.js').endsWith('/x.js'));
//# create require and dynamic import
import { createRequire } from 'module'; const require = createRequire(import.meta.url);
console.log(require('path').sep, (await import('node:os')).EOL === '\n', Object.keys(await import('node:path')).includes('default'));
//# errors in modules
try { await import('no-such-package'); } catch (e) { console.log(e.code, e.message.split(' imported')[0]); } try { await import('node:nope'); } catch (e) { console.log(e.code); }
import { writeFileSync } from 'fs'; writeFileSync('bad.mjs', 'export const a = ;'); try { await import('./bad.mjs'); } catch (e) { console.log(e.name); } writeFileSync('t.mjs', 'throw new Error("while")'); try { await import('./t.mjs'); } catch (e) { console.log(e.message); }
//# uncaught in a module
console.log('before'); await Promise.reject(new TypeError('top'));
//# unsettled await
console.log('start'); await new Promise(() => {});
//# live bindings and cycles
import { writeFileSync } from 'fs'; writeFileSync('x.mjs', "import { b } from './y.mjs'; export let a = 'a'; export function get() { return a + b; }"); writeFileSync('y.mjs', "import { get } from './x.mjs'; export const b = 'b'; export const f = () => get();"); console.log((await import('./x.mjs')).get(), (await import('./y.mjs')).f());
