'use strict';

// `enc`: symmetric ciphers with a password or a key, and base64.

const crypto = require('node:crypto');
const { Failure, number, parse, password, readInput, writeOutput } = require('./options.js');

const MAGIC = Buffer.from('Salted__');
const SALT = 8;

const ALIASES = {
  aes128: 'aes-128-cbc', aes192: 'aes-192-cbc', aes256: 'aes-256-cbc', 'aes-128': 'aes-128-cbc',
  'aes-192': 'aes-192-cbc', 'aes-256': 'aes-256-cbc',
};

const cipherName = (name) => ALIASES[name.toLowerCase()] ?? name.toLowerCase();

// Authenticated modes have no place for their tag in the format of `enc`.
const cipherNames = () => crypto.getCiphers().filter((name) => !/gcm|ccm|ocb|poly1305|wrap|xts/.test(name));

const isCipher = (name) => cipherNames().includes(cipherName(name));

/** Derives key and vector from a password by EVP_BytesToKey. */
function bytesToKey(digest, secret, salt, size) {
  let out = Buffer.alloc(0);
  for (let last = Buffer.alloc(0); out.length < size; out = Buffer.concat([out, last])) {
    last = crypto.createHash(digest).update(last).update(secret).update(salt).digest();
  }
  return out.subarray(0, size);
}

const spec = {
  in: true, out: true, e: false, d: false, a: false, base64: false, A: false, k: true, kfile: true, pass: true, K: true, iv: true,
  S: true, salt: false, nosalt: false, nopad: false, pbkdf2: false, iter: true, md: true, p: false, P: false, v: false,
  bufsize: true, none: false, list: false, ciphers: false, debug: false,
};

/** Encodes with lines of 64 digits, or on one line. */
function encode64(bytes, oneLine) {
  const text = bytes.toString('base64');
  return oneLine ? text : text.replace(/.{1,64}/g, '$&\n');
}

function decode64(bytes) {
  const text = bytes.toString('latin1').replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new Failure('error reading input file: it is not base64');
  return Buffer.from(text, 'base64');
}

exports.base64 = function base64(words) {
  return exports.enc(['-base64', ...words]);
};

exports.enc = function enc(words) {
  const found = { cipher: undefined };
  const { options } = parse(words, spec, (name) => {
    if (!isCipher(name)) return false;
    found.cipher = cipherName(name);
    return true;
  });
  if (options.list || options.ciphers) {
    writeOutput(undefined, `Supported ciphers:\n${cipherNames().map((n) => `-${n}\n`).join('')}`);
    return 0;
  }
  const armour = options.a || options.base64;
  let data = readInput(options.in);
  if (found.cipher === undefined) {
    if (!armour) throw new Failure('a cipher is needed, for example -aes-256-cbc');
    writeOutput(options.out, options.d ? decode64(data) : encode64(data, options.A));
    return 0;
  }
  if (options.d && armour) data = decode64(data);
  const made = options.d ? open(options, found.cipher, data) : seal(options, found.cipher, data);
  if (!options.P) writeOutput(options.out, armour && !options.d ? encode64(made, options.A) : made);
  return 0;
};

function seal(options, cipher, data) {
  // As in OpenSSL 3.0, a salt that is given is not written.
  const salted = options.K === undefined && !options.nosalt;
  const salt = options.S === undefined ? crypto.randomBytes(SALT) : hexBytes(options.S, SALT, 'salt');
  const { key, iv } = keyOf(options, cipher, salted ? salt : Buffer.alloc(0));
  const state = crypto.createCipheriv(cipher, key, iv).setAutoPadding(!options.nopad);
  const head = salted && options.S === undefined ? [MAGIC, salt] : [];
  return finish(() => Buffer.concat([...head, state.update(data), state.final()]));
}

function open(options, cipher, data) {
  let salt = Buffer.alloc(0);
  let rest = data;
  if (options.S !== undefined) {
    salt = hexBytes(options.S, SALT, 'salt');
  } else if (options.K === undefined && !options.nosalt) {
    if (!data.subarray(0, MAGIC.length).equals(MAGIC)) throw new Failure('bad magic number');
    salt = data.subarray(MAGIC.length, MAGIC.length + SALT);
    rest = data.subarray(MAGIC.length + SALT);
  }
  const { key, iv } = keyOf(options, cipher, salt);
  const state = crypto.createDecipheriv(cipher, key, iv).setAutoPadding(!options.nopad);
  return finish(() => Buffer.concat([state.update(rest), state.final()]));
}

function finish(work) {
  try {
    return work();
  } catch {
    throw new Failure('bad decrypt');
  }
}

/** Returns hexadecimal digits as bytes, filled up with zeros. */
function hexBytes(text, size, what) {
  if (!/^[0-9a-f]*$/i.test(text)) throw new Failure(`invalid hex ${what} value`);
  if (text.length > 2 * size) process.stderr.write('hex string is too long, ignoring excess\n');
  if (text.length < 2 * size) process.stderr.write('hex string is too short, padding with zero bytes to length\n');
  return Buffer.from(text.slice(0, 2 * size).padEnd(2 * size, '0'), 'hex');
}

function keyOf(options, cipher, salt) {
  const { keyLength, ivLength = 0 } = crypto.getCipherInfo(cipher);
  let key;
  let iv = ivLength ? null : Buffer.alloc(0);
  if (options.K !== undefined) {
    key = hexBytes(options.K, keyLength, 'key');
  } else {
    const secret = Buffer.from(options.kfile ? password(`file:${options.kfile}`) : options.k ?? secretOf(options));
    const digest = require('./digest.js').digestName(options.md ?? 'sha256');
    const size = keyLength + ivLength;
    let both;
    if (options.pbkdf2 || options.iter) {
      both = crypto.pbkdf2Sync(secret, salt, number(options.iter ?? '10000', '-iter'), size, digest);
    } else {
      process.stderr.write('*** WARNING : deprecated key derivation used.\nUsing -iter or -pbkdf2 would be better.\n');
      both = bytesToKey(digest, secret, salt, size);
    }
    key = both.subarray(0, keyLength);
    iv = both.subarray(keyLength);
  }
  if (options.iv !== undefined) iv = hexBytes(options.iv, ivLength, 'iv');
  if (iv === null) throw new Failure('iv undefined');
  if (options.p || options.P) {
    const hex = (bytes) => bytes.toString('hex').toUpperCase();
    const lines = [salt.length ? `salt=${hex(salt)}\n` : '', `key=${hex(key)}\n`, ivLength ? `iv =${hex(iv)}\n` : ''];
    writeOutput(undefined, lines.join(''));
  }
  return { key, iv };
}

function secretOf(options) {
  if (options.pass === undefined) throw new Failure('a password is needed: -pass pass:WORD, env:NAME or file:FILE');
  return password(options.pass);
}

Object.assign(exports, { cipherName, cipherNames, isCipher });
