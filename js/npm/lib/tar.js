'use strict';

// Reads package files: tar archives (POSIX ustar and pax, as `npm pack` writes them) compressed by
// gzip. This file also computes and checks their digests.

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const crypto = require('crypto');
const { NpmError } = require('./errors.js');

const text = (bytes) => bytes.toString('utf8').replace(/\0.*$/s, '');

// Parses the records of a pax header, each `LENGTH KEY=VALUE\n`.
function pax(bytes) {
  const out = {};
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const length = Number(bytes.toString('utf8', at, space));
    if (!(length > 0)) break;
    const [, key, value] = /^([^=]*)=([^]*)\n$/.exec(bytes.toString('utf8', space + 1, at + length)) ?? [];
    if (key !== undefined) out[key] = value;
    at += length;
  }
  return out;
}

// Yields the files of a package, each `{ name, mode, data }`. The first folder is removed from
// their names. Links are skipped, as npm skips them. A name that leads out of the package is an
// error.
function* entries(packed) {
  let bytes;
  try {
    bytes = packed[0] === 0x1f && packed[1] === 0x8b ? zlib.gunzipSync(packed) : packed;
  } catch (error) {
    throw new NpmError('TAR_BAD_ARCHIVE', `not a package: ${error.message}`);
  }
  let extra = {};
  for (let at = 0; at + 512 <= bytes.length;) {
    const head = bytes.subarray(at, at + 512);
    if (head.every((b) => b === 0)) return;
    const size = parseInt(text(head.subarray(124, 136)), 8) || 0;
    const kind = String.fromCharCode(head[156]);
    const data = bytes.subarray(at + 512, at + 512 + size);
    if (data.length < size) throw new NpmError('TAR_BAD_ARCHIVE', 'not a package: it ends too soon');
    at += 512 + Math.ceil(size / 512) * 512;
    if (kind === 'x') { extra = pax(data); continue; }
    if (kind === 'L') { extra = { path: text(data) }; continue; }
    if (kind === 'g') continue;
    const prefix = text(head.subarray(257, 262)) === 'ustar' ? text(head.subarray(345, 500)) : '';
    const name = extra.path ?? (prefix === '' ? '' : `${prefix}/`) + text(head.subarray(0, 100));
    extra = {};
    if (kind !== '0' && kind !== '\0' && kind !== '7') continue;
    const inner = name.split('/').slice(1);
    if (inner.length === 0 || inner.includes('..') || name.includes('\0')) throw new NpmError('TAR_ENTRY_ERROR', `the package has a file named '${name}'`);
    const mode = parseInt(text(head.subarray(100, 108)), 8) || 0o644;
    yield { name: inner.filter((p) => p !== '' && p !== '.').join('/'), mode, data };
  }
}

// Writes a package into a folder that does not exist yet.
function extract(packed, folder) {
  const made = new Set();
  for (const { name, mode, data } of entries(packed)) {
    const file = path.join(folder, name);
    const parent = path.dirname(file);
    if (!made.has(parent)) {
      fs.mkdirSync(parent, { recursive: true });
      made.add(parent);
    }
    fs.writeFileSync(file, data);
    if (mode & 0o111) fs.chmodSync(file, 0o755);
  }
}

// Returns the parsed package.json of a package.
function manifest(packed) {
  for (const { name, data } of entries(packed)) {
    if (name === 'package.json') return JSON.parse(data.toString('utf8'));
  }
  throw new NpmError('ENOPACKAGEJSON', 'the package has no package.json');
}

const digest = (bytes, algorithm) => `${algorithm}-${crypto.createHash(algorithm).update(bytes).digest('base64')}`;
const STRENGTH = ['sha512', 'sha384', 'sha256', 'sha1'];

// Throws unless bytes have the given digest (Subresource Integrity). If there are digests of
// several algorithms, only the strongest algorithm counts.
function verify(bytes, integrity, what) {
  const given = integrity.trim().split(/\s+/).map((s) => s.split('?')[0]);
  const algorithm = STRENGTH.find((a) => given.some((s) => s.startsWith(`${a}-`)));
  if (algorithm === undefined) throw new NpmError('EINTEGRITY', `${what}: no known digest in '${integrity}'`);
  const got = digest(bytes, algorithm);
  if (given.includes(got)) return;
  const wanted = given.find((s) => s.startsWith(`${algorithm}-`));
  throw new NpmError('EINTEGRITY', `${what} failed: wanted ${wanted} but got ${got}. (${bytes.length} bytes)`);
}

module.exports = { extract, manifest, digest, verify };
