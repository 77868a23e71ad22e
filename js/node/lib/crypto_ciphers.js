// Part of the binding crypto: ciphers, as streams and as jobs of subtle. `native.cipher` has the
// states, and this file checks names, lengths and the order of calls.
(function (native, host) {
'use strict';

const { view } = host;
const { bytesOf, buffer, coded, constantTimeEqual, job, join } = host.crypto;
const NOTHING = new Uint8Array(0);
const TAG = 16;

// Each cipher by OpenSSL's names for it, with Node's description and the mode that `native.cipher`
// knows.
const MODES = ['ecb', 'cbc', 'ctr', 'cfb', 'cfb8', 'ofb', 'gcm', 'wrap'];
function modeOf(name, info) {
  if (/^chacha20(-poly1305)?$/.test(name)) return name;
  if (!/^(id-)?aes/.test(name) || name.endsWith('-pad') || /cfb1$|hmac/.test(name)) return undefined;
  return MODES.includes(info.mode) ? (/cfb8$/.test(name) ? 'cfb8' : info.mode) : undefined;
}
const ALL = new Map();
const NAMES = [];
for (const [name, info] of host.tables.$ciphers) {
  const mode = modeOf(info.name, info);
  if (mode === undefined) continue;
  const known = { ...info, kind: mode };
  NAMES.push(name);
  ALL.set(name.toLowerCase(), known).set(info.name, known).set(`#${info.nid}`, known);
}
const isAuthentic = (kind) => kind === 'gcm' || kind === 'chacha20-poly1305';
const fitsTag = (kind, length) => (kind === 'gcm' ? [4, 8, 12, 13, 14, 15, 16].includes(length) : length >= 1 && length <= TAG);
const badTag = (length) => coded(TypeError, 'ERR_CRYPTO_INVALID_AUTH_TAG', `Invalid authentication tag length: ${length}`);

function providerError(number, reason) {
  const text = `error:${number}:Provider routines::${reason}`;
  const error = host.opensslError(text, `ERR_OSSL_${reason.toUpperCase().replaceAll(' ', '_')}`);
  error.opensslErrorStack = [text];
  return error;
}

class CipherBase {
  constructor(encrypt, name, key, iv, tagLength) {
    const info = ALL.get(name.toLowerCase());
    if (info === undefined) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
    const { kind } = this.info = info;
    const [secret, nonce] = [bytesOf(key), iv === null || iv === undefined ? NOTHING : bytesOf(iv)];
    const wanted = info.ivLength ?? 0;
    const fits = kind === 'gcm' ? nonce.length > 0 : kind === 'ecb' ? nonce.length === 0 : nonce.length === wanted;
    if (!fits) throw coded(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
    if (secret.length !== info.keyLength) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    if (isAuthentic(kind) && tagLength !== -1 && !fitsTag(kind, tagLength)) throw badTag(tagLength);
    this.encrypt = encrypt;
    this.tagLength = isAuthentic(kind) && tagLength !== -1 ? tagLength : undefined;
    this.run = kind === 'wrap' ? wrapOnce(encrypt, secret.slice(), nonce.slice()) : native.cipher(kind, encrypt, secret, nonce);
  }

  setAutoPadding(on) {
    if (this.isOver) return false;
    this.run('padding', new Uint8Array([on ? 1 : 0]));
    return true;
  }

  setAAD(bytes) {
    if (!isAuthentic(this.info.kind) || this.isOver || this.hasText) return false;
    this.run('aad', view(bytes));
    return true;
  }

  setAuthTag(tag) {
    if (!isAuthentic(this.info.kind) || this.encrypt || this.isOver || this.tag !== undefined) return false;
    const bytes = view(tag);
    if (this.tagLength === undefined ? !fitsTag(this.info.kind, bytes.length) : this.tagLength !== bytes.length) throw badTag(bytes.length);
    if (this.info.kind === 'gcm' && bytes.length < TAG && this.tagLength === undefined) {
      process.emitWarning('Using AES-GCM authentication tags of less than 128 bits without specifying the authTagLength option when ' +
        'initializing decryption is deprecated.', 'DeprecationWarning', 'DEP0182');
    }
    this.tag = bytes.slice();
    return true;
  }

  getAuthTag() {
    return this.isOver && this.encrypt && this.tag !== undefined ? buffer(this.tag) : undefined;
  }

  update(data, encoding) {
    if (this.isOver) throw new Error('Trying to add data in unsupported state');
    this.hasText = true;
    try {
      return buffer(this.run('update', bytesOf(data, encoding)));
    } catch (error) {
      throw typeof error === 'string' ? new Error('Trying to add data in unsupported state') : error;
    }
  }

  final() {
    if (this.isOver) throw coded(Error, 'ERR_CRYPTO_INVALID_STATE', 'Invalid state');
    this.isOver = true;
    const rest = this.#rest();
    if (!isAuthentic(this.info.kind)) return rest;
    const tag = new Uint8Array(this.run('tag'));
    if (this.encrypt) this.tag = tag.slice(0, this.tagLength ?? TAG);
    else if (this.tag === undefined || !constantTimeEqual(tag.subarray(0, this.tag.length), this.tag)) {
      throw new Error('Unsupported state or unable to authenticate data');
    }
    return rest;
  }

  #rest() {
    try {
      return buffer(this.run('final'));
    } catch (error) {
      if (error === 'padding') throw providerError('1C800064', 'bad decrypt');
      if (error === 'length') throw providerError('1C80006B', 'wrong final block length');
      throw error;
    }
  }
}

// Returns a cipher, as `native.cipher` does, that wraps or unwraps a key. The key must be passed in
// one piece.
const wrapOnce = (encrypt, key, iv) => (what, data) => (what === 'update' ? native.keyWrap(encrypt, key, iv, data) : new ArrayBuffer(0));

// Encrypts or decrypts as subtle does, with the tag after the ciphertext in one buffer.
function sealed(kind, encrypt, key, nonce, additional, data, tagLength) {
  const run = native.cipher(kind, encrypt, key, nonce);
  if (additional !== undefined) run('aad', view(additional));
  const end = encrypt ? data.length : data.length - tagLength;
  if (end < 0) throw 'EBADMSG';
  const text = new Uint8Array(run('update', data.subarray(0, end)));
  const tag = new Uint8Array(run('tag')).subarray(0, tagLength);
  if (encrypt) return join([text, tag]).buffer;
  if (!constantTimeEqual(tag, data.subarray(end))) throw 'EBADMSG';
  return text.buffer;
}

// Encrypts or decrypts with AES-CTR as subtle does: only the lowest `bits` bits of the block count,
// and wrap around to 0. A text with more blocks than counters is an error.
function counterStream(key, counter, bits, data) {
  const blocks = BigInt(Math.ceil(data.length / 16));
  const begin = BigInt(`0x${buffer(counter).toString('hex')}`);
  const size = 1n << BigInt(bits);
  if (blocks > size) throw 'EINVAL';
  const left = size - begin % size;
  if (blocks <= left) return new Uint8Array(native.cipher('ctr', true, key, counter)('update', data));
  const cut = Number(left) * 16;
  const again = buffer((begin - begin % size).toString(16).padStart(32, '0'), 'hex');
  return join([counterStream(key, counter, bits, data.subarray(0, cut)), counterStream(key, again, bits, data.subarray(cut))]);
}

const VARIANT = /^kKeyVariantAES_([A-Z]+)_\d+$/;
const AESCipherJob = job((mode, key, data, variant, ...rest) => {
  const k = host.binding('crypto');
  const name = VARIANT.exec(Object.keys(k).find((n) => VARIANT.test(n) && k[n] === variant))[1];
  const [encrypt, secret, text] = [mode === k.kWebCryptoCipherEncrypt, bytesOf(key), view(data)];
  if (name === 'KW') return native.keyWrap(encrypt, secret, new Uint8Array(8).fill(0xa6), text);
  const iv = view(rest[0]);
  if (name === 'GCM') return sealed('gcm', encrypt, secret, iv, rest[2], text, rest[1] ?? TAG);
  if (name === 'CTR') return counterStream(secret, iv, rest[1], text).buffer;
  if (name !== 'CBC') throw 'EINVAL';
  const run = native.cipher('cbc', encrypt, secret, iv);
  return join([new Uint8Array(run('update', text)), new Uint8Array(run('final'))]).buffer;
});

const ChaCha20Poly1305CipherJob = job((mode, key, data, iv, additional) => sealed('chacha20-poly1305',
  mode === host.binding('crypto').kWebCryptoCipherEncrypt, bytesOf(key), view(iv), additional, view(data), TAG));

host.ciphers = {
  CipherBase, AESCipherJob, ChaCha20Poly1305CipherJob,
  getCiphers: () => [...NAMES],
  getCipherInfo(target, name, keyLength, ivLength) {
    const info = ALL.get(typeof name === 'number' ? `#${name}` : String(name).toLowerCase());
    if (info === undefined) return undefined;
    const { kind, ...details } = info;
    if ((keyLength ?? info.keyLength) !== info.keyLength) return undefined;
    if (ivLength !== undefined) {
      if (kind === 'gcm' ? ivLength < 1 : ivLength !== (info.ivLength ?? 0)) return undefined;
      if (ivLength > 0) details.ivLength = ivLength;
    }
    return Object.assign(target, details);
  },
};
})
