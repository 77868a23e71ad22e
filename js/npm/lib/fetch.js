'use strict';

// HTTP requests, made by the command `curl`. The session's policy decides what may be reached.
// Responses are written to files as they arrive.

const fs = require('fs');
const os = require('os');
const path = require('path');
const { spawn } = require('child_process');
const { NpmError } = require('./errors.js');

const AT_ONCE = 8;
let running = 0;
const waiting = [];

async function turn(work) {
  if (running >= AT_ONCE) await new Promise((go) => waiting.push(go));
  running++;
  try {
    return await work();
  } finally {
    running--;
    waiting.shift()?.();
  }
}

let scratch;
let count = 0;
function scratchFile() {
  if (scratch === undefined) {
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'npm-'));
    process.once('exit', () => fs.rmSync(scratch, { recursive: true, force: true }));
  }
  return path.join(scratch, String(count++));
}

function curl(args) {
  return new Promise((done, fail) => {
    const child = spawn('curl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (d) => { out += d; });
    child.stderr.setEncoding('utf8').on('data', (d) => { err += d; });
    child.on('error', (error) => fail(new NpmError(error.code, `curl: ${error.message}`)));
    child.on('close', (status) => done({ status, out, err: err.trim() }));
  });
}

// Resolves to the bytes at a URL.
function get(url, config, accept) {
  return turn(async () => {
    const file = scratchFile();
    const headers = accept === undefined ? [] : ['-H', `Accept: ${accept}`];
    const authorization = config.authorization(url);
    if (authorization !== undefined) headers.push('-H', `Authorization: ${authorization}`);
    const { status, out, err } = await curl(['-sS', '-L', '--retry', '2', '-o', file, '-w', '%{http_code}', ...headers, url]);
    if (status !== 0) throw new NpmError('ENETWORK', `GET ${url}: ${err.replace(/^curl: /, '')}\nWhat may be reached over the network is told by the session's policy.`);
    const code = out.slice(-3);
    if (code === '404') throw new NpmError('E404', `404 Not Found - GET ${url}`);
    if (!/^2/.test(code)) throw new NpmError(`E${code}`, `${code} - GET ${url}`);
    const bytes = fs.readFileSync(file);
    fs.rmSync(file);
    return bytes;
  });
}

module.exports = { get };
