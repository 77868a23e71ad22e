// Part of the binding crypto: DER (X.690), PEM (RFC 7468), object identifiers, and keys that are
// encrypted with a passphrase, as PKCS#8 or as old PEM.
(function (native, host) {
'use strict';

const { buffer, coded, join } = host.crypto;

const malformed = () => host.opensslError('error:1E08010C:DECODER routines::unsupported', 'ERR_OSSL_UNSUPPORTED');

// --- reading -------------------------------------------------------------------------------------

// Returns the consecutive elements in bytes. Each has its tag, its contents (`body`) and the bytes
// of the whole element (`all`).
function elements(bytes) {
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at];
    let length = bytes[at + 1];
    let begin = at + 2;
    if (length > 0x80) {
      const count = length & 0x7f;
      if (count > 4) throw malformed();
      length = 0;
      for (let i = 0; i < count; i++) length = length * 256 + bytes[begin + i];
      begin += count;
    }
    if (!(begin + length <= bytes.length) || bytes[at + 1] === 0x80) throw malformed();
    found.push({ tag, body: bytes.subarray(begin, begin + length), all: bytes.subarray(at, begin + length) });
    at = begin + length;
  }
  return found;
}

// Returns the contents of an element, which must have this tag.
function body(element, tag) {
  if (element?.tag !== tag) throw malformed();
  return element.body;
}
const list = (element) => elements(body(element, 0x30));
// Returns the elements of the sequence at the beginning of bytes. Like OpenSSL, it ignores bytes
// after the sequence.
function whole(bytes) {
  if (bytes[0] !== 0x30) throw malformed();
  let length = bytes[1];
  let begin = 2;
  if (length > 0x80) {
    length = bytes.subarray(2, 2 + (bytes[1] & 0x7f)).reduce((n, b) => n * 256 + b, 0);
    begin += bytes[1] & 0x7f;
  }
  if (!(begin + length <= bytes.length)) throw malformed();
  return elements(bytes.subarray(begin, begin + length));
}
const unsigned = (bytes) => {
  let at = 0;
  while (at < bytes.length - 1 && bytes[at] === 0) at++;
  return new Uint8Array(bytes.subarray(at));
};
const integer = (element) => unsigned(body(element, 2));
const small = (element) => integer(element).reduce((n, b) => n * 256 + b, 0);
const bitString = (element) => {
  const bits = body(element, 3);
  if (bits[0] !== 0) throw malformed();
  return new Uint8Array(bits.subarray(1));
};
function oidText(element) {
  const numbers = [];
  let n = 0;
  for (const byte of body(element, 6)) {
    n = n * 128 + (byte & 127);
    if (byte < 128) {
      numbers.push(n);
      n = 0;
    }
  }
  const first = Math.min(2, Math.floor(numbers[0] / 40));
  return [first, numbers[0] - first * 40, ...numbers.slice(1)].join('.');
}

// --- writing -------------------------------------------------------------------------------------

function make(tag, ...parts) {
  const contents = join(parts);
  const size = [];
  for (let n = contents.length; n > 0; n = Math.floor(n / 256)) size.unshift(n & 255);
  const length = contents.length < 128 ? [contents.length] : [0x80 | size.length, ...size];
  return join([new Uint8Array([tag, ...length]), contents]);
}
const sequence = (...parts) => make(0x30, ...parts);
const octets = (bytes) => make(4, bytes);
const bits = (bytes) => make(3, new Uint8Array(1), bytes);
const NULL = make(5);
function makeInteger(value) {
  const bytes = typeof value === 'number' ? unsigned(new Uint8Array([value >>> 24, value >>> 16, value >>> 8, value])) : unsigned(value);
  return make(2, ...(bytes[0] > 127 || bytes.length === 0 ? [new Uint8Array(1)] : []), bytes);
}
function oid(text) {
  const [a, b, ...rest] = text.split('.').map(Number);
  const out = [];
  for (const number of [a * 40 + b, ...rest]) {
    const seven = [number & 127];
    for (let n = Math.floor(number / 128); n > 0; n = Math.floor(n / 128)) seven.unshift(0x80 | n & 127);
    out.push(...seven);
  }
  return make(6, new Uint8Array(out));
}

// --- names ---------------------------------------------------------------------------------------

const HASHES = {
  '__proto__': null, 'md5': '1.2.840.113549.2.5', 'sha1': '1.3.14.3.2.26', 'ripemd160': '1.3.36.3.2.1',
  'sha256': '2.16.840.1.101.3.4.2.1', 'sha384': '2.16.840.1.101.3.4.2.2', 'sha512': '2.16.840.1.101.3.4.2.3',
  'sha224': '2.16.840.1.101.3.4.2.4', 'sha512-224': '2.16.840.1.101.3.4.2.5', 'sha512-256': '2.16.840.1.101.3.4.2.6',
  'sha3-224': '2.16.840.1.101.3.4.2.7', 'sha3-256': '2.16.840.1.101.3.4.2.8', 'sha3-384': '2.16.840.1.101.3.4.2.9',
  'sha3-512': '2.16.840.1.101.3.4.2.10', 'sm3': '1.2.156.10197.1.401',
};
// Returns the key in the table for any name of a hash; undefined for a hash without an identifier.
const hashKey = (name) => Object.keys(HASHES).find((key) => native.hashName(key) === native.hashName(name));
const hashOf = (identifier) => Object.keys(HASHES).find((key) => HASHES[key] === identifier);

// --- PEM -----------------------------------------------------------------------------------------

const BOUNDS = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n([^]*?)-----END \1-----/;

// Returns the first block of a text with a label that `takes` accepts: its label, its headers and
// its bytes. Returns undefined if there is none.
function readPem(bytes, takes) {
  let text = buffer(bytes).toString('latin1');
  for (;;) {
    const found = BOUNDS.exec(text);
    if (found === null) return undefined;
    text = text.slice(found.index + found[0].length);
    if (!takes(found[1])) continue;
    const [, head = '', base64] = /^((?:[\w-]+:[^\n]*\n)+\r?\n)?([^]*)$/.exec(found[2]);
    return { label: found[1], head, bytes: new Uint8Array(buffer(base64, 'base64')) };
  }
}

function writePem(label, bytes, head = '') {
  const lines = buffer(bytes).toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${head}${lines.join('\n')}\n-----END ${label}-----\n`;
}

// --- passphrases ---------------------------------------------------------------------------------

const AES_CBC = { '__proto__': null, '2.16.840.1.101.3.4.1.2': 16, '2.16.840.1.101.3.4.1.22': 24, '2.16.840.1.101.3.4.1.42': 32 };
const PRF = {
  '__proto__': null, '1.2.840.113549.2.7': 'sha1', '1.2.840.113549.2.8': 'sha224', '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384', '1.2.840.113549.2.11': 'sha512',
};
const [PBES2, PBKDF2, SHA256_PRF] = ['1.2.840.113549.1.5.13', '1.2.840.113549.1.5.12', '1.2.840.113549.2.9'];
const ITERATIONS = 2048;

// Returns the error for a missing passphrase. The part of OpenSSL that reads PEM has its own.
const noPassphrase = (isPem) => (isPem ?
  host.opensslError('error:07880109:common libcrypto routines::interrupted or cancelled', 'ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED') :
  coded(TypeError, 'ERR_MISSING_PASSPHRASE', 'Passphrase required for encrypted key'));
const badDecrypt = () => host.opensslError('error:1C800064:Provider routines::bad decrypt', 'ERR_OSSL_BAD_DECRYPT');

function cbc(encrypt, key, iv, data) {
  const run = native.cipher('cbc', encrypt, key, iv);
  try {
    return join([new Uint8Array(run('update', data)), new Uint8Array(run('final'))]);
  } catch (error) {
    throw typeof error === 'string' ? badDecrypt() : error;
  }
}

// Returns the key length of a cipher named `aes-...-cbc`; other ciphers are not supported for keys.
function keyLength(cipher) {
  const found = /^aes-?(128|192|256)(-cbc)?$/i.exec(cipher);
  if (found === null) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
  return found[1] / 8;
}

// Decrypts an EncryptedPrivateKeyInfo (RFC 5958) of the scheme PBES2 (RFC 8018).
function openPkcs8(bytes, passphrase, isPem) {
  if (passphrase === undefined) throw noPassphrase(isPem);
  const [algorithm, data] = whole(bytes);
  const [scheme, parameters] = list(algorithm);
  if (oidText(scheme) !== PBES2) throw malformed();
  const [derivation, cipher] = list(parameters);
  const [kdf, kdfParameters] = list(derivation);
  const [kind, iv] = list(cipher);
  const length = AES_CBC[oidText(kind)];
  if (oidText(kdf) !== PBKDF2 || length === undefined) throw malformed();
  const [salt, count, ...rest] = list(kdfParameters);
  const prf = rest.find((part) => part.tag === 0x30);
  const hash = prf === undefined ? 'sha1' : PRF[oidText(list(prf)[0])];
  if (hash === undefined) throw malformed();
  const key = new Uint8Array(native.pbkdf2(hash, passphrase, body(salt, 4), small(count), length));
  return cbc(false, key, body(iv, 4), body(data, 4));
}

function sealPkcs8(bytes, cipher, passphrase) {
  const length = keyLength(cipher);
  const [salt, iv] = [new Uint8Array(native.random(16)), new Uint8Array(native.random(16))];
  const key = new Uint8Array(native.pbkdf2('sha256', passphrase, salt, ITERATIONS, length));
  const kind = Object.keys(AES_CBC).find((name) => AES_CBC[name] === length);
  const derivation = sequence(oid(PBKDF2), sequence(octets(salt), makeInteger(ITERATIONS), sequence(oid(SHA256_PRF), NULL)));
  const algorithm = sequence(oid(PBES2), sequence(derivation, sequence(oid(kind), octets(iv))));
  return sequence(algorithm, octets(cbc(true, key, iv, bytes)));
}

// Derives the key of old PEM from a passphrase: repeated MD5 over the previous digest, the
// passphrase and the beginning of the iv.
function oldKey(passphrase, iv, length) {
  let key = new Uint8Array(0);
  let last = new Uint8Array(0);
  while (key.length < length) {
    const md5 = native.hash('md5');
    for (const part of [last, passphrase, iv.subarray(0, 8)]) md5(part);
    last = new Uint8Array(md5(16));
    key = join([key, last]);
  }
  return key.subarray(0, length);
}

function openOldPem(head, bytes, passphrase) {
  const found = /DEK-Info: ([\w-]+),([0-9A-Fa-f]+)/.exec(head);
  if (found === null) return bytes;
  if (passphrase === undefined) throw noPassphrase(true);
  const iv = new Uint8Array(buffer(found[2], 'hex'));
  return cbc(false, oldKey(passphrase, iv, keyLength(found[1])), iv, bytes);
}

function sealOldPem(label, bytes, cipher, passphrase) {
  const length = keyLength(cipher);
  const iv = new Uint8Array(native.random(16));
  const head = `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-${length * 8}-CBC,${buffer(iv).toString('hex').toUpperCase()}\n\n`;
  return writePem(label, cbc(true, oldKey(passphrase, iv, length), iv, bytes), head);
}

host.der = {
  malformed, elements, body, list, whole, unsigned, integer, small, bitString, oidText, make, sequence, octets, bits, NULL, makeInteger, oid, HASHES,
  hashKey, hashOf, readPem, writePem, openPkcs8, sealPkcs8, openOldPem, sealOldPem,
};
})
