'use strict';

// DER (X.690): values as `{ tag, body, children }`, and PEM (RFC 7468).

const { Failure } = require('./options.js');

const TAG = {
  boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, null: 0x05, oid: 0x06, utf8: 0x0c,
  printable: 0x13, t61: 0x14, ia5: 0x16, utcTime: 0x17, time: 0x18, bmp: 0x1e, sequence: 0x30, set: 0x31,
};

/** Returns the encoding of a value. */
function encode(tag, ...parts) {
  const body = Buffer.concat(parts.map((p) => (typeof p === 'number' ? Buffer.from([p]) : Buffer.from(p))));
  const size = [];
  if (body.length < 0x80) {
    size.push(body.length);
  } else {
    for (let n = body.length; n > 0; n = Math.floor(n / 256)) size.unshift(n % 256);
    size.unshift(0x80 | size.length);
  }
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const sequence = (...parts) => encode(TAG.sequence, ...parts);
const set = (...parts) => encode(TAG.set, ...parts);
const octets = (bytes) => encode(TAG.octets, bytes);
const bits = (bytes, unused = 0) => encode(TAG.bits, unused, bytes);
const context = (n, ...parts) => encode(0xa0 | n, ...parts);

/** Returns an integer that is not negative, from big-endian bytes or a BigInt. */
function integer(value) {
  let bytes = value;
  if (typeof value === 'bigint' || typeof value === 'number') {
    const hex = BigInt(value).toString(16);
    bytes = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  }
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start++;
  bytes = bytes.subarray(start);
  return encode(TAG.integer, bytes[0] & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

function oid(dotted) {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const bytes = [];
  for (let n of [first * 40 + second, ...rest]) {
    const group = [n % 128];
    for (n = Math.floor(n / 128); n > 0; n = Math.floor(n / 128)) group.unshift(0x80 | n % 128);
    bytes.push(...group);
  }
  return encode(TAG.oid, Buffer.from(bytes));
}

/** Returns a point in time, in the form that RFC 5280 asks for in its year. */
function time(date) {
  const text = date.toISOString().replace(/[-:T]/g, '').replace(/\.\d+Z$/, 'Z');
  const early = date.getUTCFullYear() < 2050;
  return encode(early ? TAG.utcTime : TAG.time, Buffer.from(early ? text.slice(2) : text));
}

/** Reads the value at the beginning of `bytes`; `size` is the length with its head. */
function decode(bytes) {
  const bad = () => new Failure('the encoding is damaged');
  if (bytes.length < 2) throw bad();
  const tag = bytes[0];
  let [length, head] = [bytes[1], 2];
  if (length & 0x80) {
    const count = length & 0x7f;
    if (count === 0 || count > 4) throw bad();
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + bytes[2 + i];
    head += count;
  }
  if (!(head + length <= bytes.length)) throw bad();
  const body = bytes.subarray(head, head + length);
  const value = { tag, body, size: head + length, whole: bytes.subarray(0, head + length) };
  if (tag & 0x20) value.children = decodeAll(body);
  return value;
}

function decodeAll(bytes) {
  const values = [];
  for (let at = 0; at < bytes.length; at += values.at(-1).size) values.push(decode(bytes.subarray(at)));
  return values;
}

function oidText(value) {
  const numbers = [];
  let n = 0;
  for (const byte of value.body) {
    n = n * 128 + (byte & 0x7f);
    if (!(byte & 0x80)) {
      numbers.push(n);
      n = 0;
    }
  }
  const first = Math.min(Math.floor(numbers[0] / 40), 2);
  return [first, numbers[0] - first * 40, ...numbers.slice(1)].join('.');
}

function dateOf(value) {
  let text = value.body.toString('latin1');
  if (value.tag === TAG.utcTime) text = (Number(text.slice(0, 2)) < 50 ? '20' : '19') + text;
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)/.exec(text) ?? [];
  if (y === undefined) throw new Failure('a date is damaged');
  return new Date(Date.UTC(y, mo - 1, d, h, mi, s));
}

/** Returns the contents of a string of any type as text. */
function textOf(value) {
  if (value.tag === TAG.bmp) return Buffer.from(value.body).swap16().toString('utf16le');
  return value.body.toString(value.tag === TAG.utf8 ? 'utf8' : 'latin1');
}

/** Returns the bits' bytes, without the count of unused bits. */
const bitsOf = (value) => value.body.subarray(1);

function toPem(label, der) {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** Returns the blocks of a text in PEM: labels and bytes. */
function fromPem(text) {
  const blocks = [];
  const form = /-----BEGIN ([^-\n]+)-----\r?\n([\s\S]*?)-----END \1-----/g;
  for (const [whole, label, body] of String(text).matchAll(form)) {
    blocks.push({ label, whole: `${whole}\n`, der: Buffer.from(body.replace(/^[\w-]+:.*$/gm, ''), 'base64') });
  }
  return blocks;
}

module.exports = {
  TAG, bits, bitsOf, context, dateOf, decode, decodeAll, encode, fromPem, integer, octets, oid, oidText,
  sequence, set, textOf, time, toPem,
};
