'use strict';

// `passwd`: hashes of passwords. SHA-crypt is Drepper's "Unix crypt using SHA-256 and SHA-512", the
// MD5-based ones are those of FreeBSD ($1$) and Apache ($apr1$).

const crypto = require('node:crypto');
const { Failure, parse, password, readInput, writeOutput } = require('./options.js');

const DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ROUNDS = 5000;

// The order in which the bytes of a hash are written, three at a time.
const ORDER = {
  sha256: [[0, 10, 20], [21, 1, 11], [12, 22, 2], [3, 13, 23], [24, 4, 14], [15, 25, 5], [6, 16, 26], [27, 7, 17], [18, 28, 8],
    [9, 19, 29], [31, 30]],
  sha512: [[0, 21, 42], [22, 43, 1], [44, 2, 23], [3, 24, 45], [25, 46, 4], [47, 5, 26], [6, 27, 48], [28, 49, 7], [50, 8, 29],
    [9, 30, 51], [31, 52, 10], [53, 11, 32], [12, 33, 54], [34, 55, 13], [56, 14, 35], [15, 36, 57], [37, 58, 16],
    [59, 17, 38], [18, 39, 60], [40, 61, 19], [62, 20, 41], [63]],
  md5: [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5], [11]],
};

function digits(hash, order) {
  let text = '';
  for (const group of order) {
    let value = group.reduce((sum, at) => sum * 256 + hash[at], 0);
    for (let n = 0; n < group.length + 1; n++) {
      text += DIGITS[value % 64];
      value = Math.floor(value / 64);
    }
  }
  return text;
}

/** Returns the first `size` bytes of a hash that is repeated. */
const stretch = (hash, size) => Buffer.concat(Array(Math.ceil(size / hash.length) || 0).fill(hash)).subarray(0, size);

function shaCrypt(digest, secret, setting) {
  const hash = (...parts) => parts.reduce((h, p) => h.update(p), crypto.createHash(digest)).digest();
  const prefix = digest === 'sha256' ? '$5$' : '$6$';
  let [rounds, said, rest] = [ROUNDS, '', setting];
  const given = /^rounds=(\d+)\$(.*)$/s.exec(setting);
  if (given) {
    rounds = Math.min(Math.max(Number(given[1]), 1000), 999999999);
    [said, rest] = [`rounds=${rounds}$`, given[2]];
  }
  const salt = Buffer.from(rest.split('$')[0]).subarray(0, 16);
  const b = hash(secret, salt, secret);
  const parts = [secret, salt, stretch(b, secret.length)];
  for (let n = secret.length; n > 0; n >>= 1) parts.push(n & 1 ? b : secret);
  let a = hash(...parts);
  const p = stretch(hash(...Array(secret.length).fill(secret)), secret.length);
  const s = stretch(hash(...Array(16 + a[0]).fill(salt)), salt.length);
  for (let round = 0; round < rounds; round++) {
    const words = [round & 1 ? p : a];
    if (round % 3) words.push(s);
    if (round % 7) words.push(p);
    words.push(round & 1 ? a : p);
    a = hash(...words);
  }
  return `${prefix}${said}${salt}$${digits(a, ORDER[digest])}`;
}

function md5Crypt(magic, secret, setting) {
  const hash = (...parts) => parts.reduce((h, p) => h.update(p), crypto.createHash('md5')).digest();
  const salt = Buffer.from(setting.split('$')[0]).subarray(0, 8);
  const b = hash(secret, salt, secret);
  const parts = [secret, Buffer.from(magic), salt, stretch(b, secret.length)];
  for (let n = secret.length; n > 0; n >>= 1) parts.push(n & 1 ? Buffer.from([0]) : secret.subarray(0, 1));
  let a = hash(...parts);
  for (let round = 0; round < 1000; round++) {
    const words = [round & 1 ? secret : a];
    if (round % 3) words.push(salt);
    if (round % 7) words.push(secret);
    words.push(round & 1 ? a : secret);
    a = hash(...words);
  }
  return `${magic}${salt}$${digits(a, ORDER.md5)}`;
}

const KINDS = {
  6: [(secret, salt) => shaCrypt('sha512', secret, salt), 16],
  5: [(secret, salt) => shaCrypt('sha256', secret, salt), 16],
  1: [(secret, salt) => md5Crypt('$1$', secret, salt), 8],
  apr1: [(secret, salt) => md5Crypt('$apr1$', secret, salt), 8],
};

const randomSalt = (size) => [...crypto.randomBytes(size)].map((byte) => DIGITS[byte % 64]).join('');

exports.passwd = function passwd(words) {
  const spec = { salt: true, in: true, stdin: false, noverify: false, quiet: false, table: false, reverse: false, crypt: false };
  for (const kind of Object.keys(KINDS)) spec[kind] = false;
  const { options, rest } = parse(words, spec);
  if (options.crypt) throw new Failure('the old crypt is not here; -6 is what systems use');
  const chosen = Object.keys(KINDS).filter((kind) => options[kind]);
  const [make, size] = KINDS[chosen[0] ?? '1'];
  let secrets = rest;
  if (options.in !== undefined || options.stdin) {
    secrets = readInput(options.in).toString().replace(/\n$/, '').split('\n');
  } else if (rest.length === 0) {
    secrets = [password('stdin')];
  }
  for (const secret of secrets) {
    const made = make(Buffer.from(secret), options.salt ?? randomSalt(size));
    const line = options.table ? (options.reverse ? `${made}\t${secret}` : `${secret}\t${made}`) : made;
    writeOutput(undefined, `${line}\n`);
  }
};
