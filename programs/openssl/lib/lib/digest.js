'use strict';

// `dgst`: digests, codes of messages, signatures.

const crypto = require('node:crypto');
const fs = require('node:fs');
const { Failure, parse, password, readInput, writeOutput } = require('./options.js');

// Digests that commands and options name, and their names in OpenSSL 3.0's output.
const DIGESTS = {
  md5: 'MD5', sha1: 'SHA1', sha224: 'SHA2-224', sha256: 'SHA2-256', sha384: 'SHA2-384', sha512: 'SHA2-512',
  'sha512-224': 'SHA2-512/224', 'sha512-256': 'SHA2-512/256', 'sha3-224': 'SHA3-224', 'sha3-256': 'SHA3-256',
  'sha3-384': 'SHA3-384', 'sha3-512': 'SHA3-512', ripemd160: 'RIPEMD-160', rmd160: 'RIPEMD-160',
  blake2b512: 'BLAKE2B-512', blake2s256: 'BLAKE2S-256', sm3: 'SM3',
};

const known = () => new Set(crypto.getHashes().map((name) => name.toLowerCase()));

exports.isDigest = (name) => {
  const lower = name.toLowerCase();
  return lower in DIGESTS && known().has(lower === 'rmd160' ? 'ripemd160' : lower);
};

/** Returns Node's name of a digest. */
function digestName(name) {
  if (!exports.isDigest(name)) throw new Failure(`Unknown option or message digest: ${name}`);
  return name.toLowerCase() === 'rmd160' ? 'ripemd160' : name.toLowerCase();
}

exports.digestName = digestName;
exports.digestNames = () => Object.keys(DIGESTS).filter(exports.isDigest);

/** Returns the parser's function for an option that is a digest's name. */
exports.digestOption = (found) => (name) => {
  if (!exports.isDigest(name)) return false;
  found.digest = digestName(name);
  return true;
};

/** Feeds a file, in pieces, to an object with `update`. */
function feed(target, path) {
  if (path === undefined) return target.update(readInput());
  let fd;
  try {
    fd = fs.openSync(path);
    const piece = Buffer.alloc(1 << 18);
    for (let n; (n = fs.readSync(fd, piece)) > 0;) target.update(piece.subarray(0, n));
  } catch (e) {
    const why = e.code === 'ENOENT' ? 'No such file or directory' : e.code === 'EISDIR' ? 'Is a directory' : e.message;
    throw new Failure(`Can't open "${path}" for reading, ${why}`);
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
  return target;
}

const spec = {
  hmac: true, mac: true, macopt: 'list', binary: false, hex: false, c: false, r: false, out: true, sign: true, verify: true,
  prverify: true, signature: true, passin: true, keyform: true, sigopt: 'list', list: false,
};

exports.dgst = function dgst(words) {
  const found = { digest: 'sha256' };
  const { options, rest } = parse(words, spec, exports.digestOption(found));
  const { digest } = found;
  if (options.sign || options.verify || options.prverify) return signature(options, digest, rest[0]);
  const key = macKey(options);
  const label = (key ? 'HMAC-' : '') + DIGESTS[digest];
  let status = 0;
  const parts = [];
  for (const path of rest.length ? rest : [undefined]) {
    try {
      const state = key ? crypto.createHmac(digest, key) : crypto.createHash(digest);
      parts.push(line(options, label, path, feed(state, path).digest()));
    } catch (e) {
      if (!(e instanceof Failure)) throw e;
      process.stderr.write(`openssl dgst: ${e.message}\n`);
      status = 1;
    }
  }
  writeOutput(options.out, Buffer.concat(parts));
  return status;
};

function line(options, label, path, value) {
  if (options.binary) return value;
  const pairs = value.toString('hex').match(/../g);
  const text = pairs.join(options.c ? ':' : '');
  return Buffer.from(options.r ? `${text} *${path ?? 'stdin'}\n` : `${label}(${path ?? 'stdin'})= ${text}\n`);
}

function macKey(options) {
  if (options.hmac !== undefined) return Buffer.from(options.hmac);
  if (options.mac === undefined) return null;
  if (options.mac.toUpperCase() !== 'HMAC') throw new Failure(`no such MAC here: ${options.mac}`);
  const [kind, ...rest] = (options.macopt?.[0] ?? '').split(':');
  if (kind !== 'key' && kind !== 'hexkey') throw new Failure('-macopt key:TEXT or hexkey:DIGITS is needed');
  return Buffer.from(rest.join(':'), kind === 'hexkey' ? 'hex' : 'utf8');
}

function signature(options, digest, path) {
  const { readPrivate, readPublic } = require('./keys.js');
  const form = { form: options.keyform, passphrase: password(options.passin) };
  if (options.sign) {
    const key = readPrivate(options.sign, form);
    const value = feed(crypto.createSign(digest), path).sign(padded(key, options));
    const text = options.hex ? line({}, `${kindOf(key)}-${DIGESTS[digest]}`, path, value) : value;
    writeOutput(options.out, text);
    return 0;
  }
  if (options.signature === undefined) throw new Failure('No signature to verify: use the -signature option');
  const key = options.verify ? readPublic(options.verify, form) : readPrivate(options.prverify, form);
  const is = feed(crypto.createVerify(digest), path).verify(padded(key, options), readInput(options.signature));
  writeOutput(options.out, is ? 'Verified OK\n' : 'Verification failure\n');
  return is ? 0 : 1;
}

const kindOf = (key) => (key.asymmetricKeyType === 'ec' ? 'ECDSA' : 'RSA');

function padded(key, options) {
  const pss = options.sigopt?.includes('rsa_padding_mode:pss');
  return pss ? { key, padding: crypto.constants.RSA_PKCS1_PSS_PADDING } : { key };
}
