// Measures sandboxes in a page of Chromium, served from loopback: bench.js PROGRAM MODULES ESBUILD.
// WASIBOX_DIST is the folder with `web` and the image. Each sandbox is visited once in a new
// browser and once more in the same browser.

import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from '../../../web/test/chromium.js';

const [program, modules, esbuild] = process.argv.slice(2);
const dist = process.env.WASIBOX_DIST;
const here = fileURLToPath(new URL('.', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'wasibox-bench-'));
const SUBJECTS = ['wasibox', 'just-bash', 'pyodide', '@wasmer/sdk'];
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm' };
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** Bundles just-bash, because it imports packages by name, which a page cannot do. */
function bundle() {
  const nothing = join(work, 'nothing.js');
  writeFileSync(nothing, 'export const gunzipSync = null, gzipSync = null, constants = {};\n');
  const args = [join(modules, 'just-bash/dist/bundle/browser.js'), '--bundle', '--minify', '--format=esm'];
  execFileSync(esbuild, [...args, `--alias:node:zlib=${nothing}`, '--log-level=error', `--outfile=${join(work, 'just-bash.js')}`]);
}

function fileOf(path) {
  if (path === '/image.webc') return join(dist, 'image.webc');
  if (path === '/just-bash.js') return join(work, 'just-bash.js');
  if (path.startsWith('/web/')) return join(dist, normalize(path));
  if (path.startsWith('/modules/')) return join(modules, normalize(path.slice('/modules'.length)));
  return join(here, normalize(path));
}

let sent = 0;
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, 'http://host');
  if (pathname === '/bytes') return response.writeHead(200, { ...ISOLATED, 'Cache-Control': 'no-store' }).end(String(sent));
  const file = fileOf(pathname);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) return response.writeHead(404, ISOLATED).end();
  const tag = `"${found.size}-${Math.floor(found.mtimeMs)}"`;
  const headers = { ...ISOLATED, ETag: tag, 'Cache-Control': 'max-age=3600', 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' };
  if (request.headers['if-none-match'] === tag) return response.writeHead(304, headers).end();
  response.writeHead(200, { ...headers, 'Content-Length': found.size });
  createReadStream(file).on('data', (data) => (sent += data.length)).pipe(response);
});

/** Returns the memory of the browser's pages in MiB, as the kernel counts it (PSS). */
function memory(group) {
  let kilobytes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [, , owner] = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
      if (Number(owner) !== group || !readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer')) continue;
      kilobytes += Number(/^Pss: +(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]);
    } catch {
      // The process has ended in the meantime.
    }
  }
  return Math.round(kilobytes / 1024);
}

const ms = (n) => (n === undefined ? '' : n < 10 ? n.toFixed(1) : n.toFixed(0));
const mega = (n) => (n / 1e6).toFixed(1);

function row(name, visit, { ready, steps, failed }, pages) {
  if (failed) console.log(`| ${name} | ${visit} | ${failed} | | | | | |`);
  for (const [step, { since, first, again, sent: bytes, failed: why }] of Object.entries(steps)) {
    const last = why ? [why, '', '', ''] : [ms(since), ms(first), ms(again), mega(bytes)];
    console.log(`| ${name} | ${visit} | ${ms(ready)} | ${step.replace('|', '\\|')} | ${last.join(' | ')} | ${pages} |`);
  }
}

async function visit(page, url, name, which) {
  sent = 0;
  await page.go('about:blank');
  await page.go(`${url}bench.html?subject=${encodeURIComponent(name)}`);
  await page.until('window.told', 400);
  row(name, which, await page.value('window.told'), memory(page.pid));
}

bundle();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/`;
console.log('| what | visit | ready (ms) | step | since the page began (ms) | first (ms) | again (ms) | MB sent | MiB of memory at last |');
console.log('|---|---|---|---|---|---|---|---|---|');
for (const name of SUBJECTS) {
  const page = await open(program);
  await visit(page, url, name, 'first');
  // The sandbox writes the data that it keeps while nothing waits for it.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  await visit(page, url, name, 'second');
  await page.close();
}
server.closeAllConnections();
server.close();
rmSync(work, { recursive: true });
