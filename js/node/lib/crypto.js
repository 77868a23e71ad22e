// The binding crypto: hashes, HMAC, key derivation, AES, secret keys. Public key cryptography is absent;
// its classes say so when they are used.
(function (native, host) {
'use strict';

const { view } = host;
const buffer = (bytes) => host.require('buffer').Buffer.from(bytes);
const bytesOf = (data, encoding) => {
  if (typeof data === 'string') return view(host.require('buffer').Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding));
  return data instanceof KeyObjectHandle ? data.bytes : view(data);
};
const give = (bytes, encoding) => encoding && encoding !== 'buffer' ? buffer(bytes).toString(encoding) : buffer(bytes);

function opensslError(message, code, library = 'digital envelope routines') {
  const error = new Error(message);
  error.code = code;
  error.library = library;
  error.reason = message.split(':').pop();
  return error;
}

// Errors that Node's C++ throws.
function coded(Kind, code, message) {
  const error = new Kind(message);
  error.code = code;
  return error;
}

// --- hashes --------------------------------------------------------------------------------------

class Hash {
  constructor(algorithm, xofLen) {
    if (algorithm instanceof Hash) {
      Object.assign(this, { name: algorithm.name, parts: [...algorithm.parts] });
      this.state = native.hash(this.name);
      for (const part of this.parts) this.state(part);
    } else {
      this.name = algorithm;
      this.parts = [];
      this.state = native.hash(algorithm);
      if (!this.state) throw opensslError('Digest method not supported', 'ERR_OSSL_EVP_UNSUPPORTED');
    }
    this.length = xofLen;
  }
  update(data, encoding) {
    const bytes = bytesOf(data, encoding).slice();
    this.state(bytes);
    // A copy of a hash takes in again what this one took.
    this.parts.push(bytes);
    return true;
  }
  digest(encoding) {
    this.result ??= new Uint8Array(this.state());
    if (this.length !== undefined && this.length !== this.result.length) {
      throw opensslError('Unsupported state or unable to ' + 'change output length', 'ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH');
    }
    return give(this.result, encoding);
  }
}

class Hmac {
  init(name, key) {
    if (native.hashSize(name) === undefined || native.hashSize(name) === null) {
      throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
    }
    this.name = name;
    this.key = bytesOf(key);
    this.parts = [];
  }
  update(data, encoding) {
    this.parts.push(bytesOf(data, encoding).slice());
    return true;
  }
  digest(encoding) {
    return give(new Uint8Array(native.hmac(this.name, this.key, join(this.parts))), encoding);
  }
}

function join(parts) {
  const out = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

// --- keys ----------------------------------------------------------------------------------------

class KeyObjectHandle {
  init(type, data) {
    if (type !== host.binding('crypto').kKeyTypeSecret) throw new Error('Asymmetric keys are not available in this sandbox');
    this.type = type;
    this.bytes = view(data).slice();
    return this;
  }
  getKeyType() { return this.type; }
  getSymmetricKeySize() { return this.bytes.length; }
  export() { return buffer(this.bytes); }
  exportJwk(target) {
    target.kty = 'oct';
    target.k = buffer(this.bytes).toString('base64url');
    return target;
  }
  equals(other) { return native.compare(this.bytes, other.bytes) === 0; }
}

// Classes with slots that only native code reads: the arguments of their constructor.
const slots = new WeakMap();
class NativeKey {
  constructor(...args) { slots.set(this, args); }
}
let InternalCryptoKey;
const keySlots = (key) => {
  const args = slots.get(key);
  if (args === undefined) {
    const { ERR_INVALID_THIS } = host.require('internal/errors').codes;
    throw new ERR_INVALID_THIS('KeyObject');
  }
  return args;
};

// --- jobs: run at once, told as the mode asks ------------------------------------------------------

function job(work) {
  return class Job {
    constructor(mode, ...args) {
      this.mode = mode;
      this.work = () => work(...args);
    }
    run() {
      let error;
      let result;
      try {
        result = this.work();
      } catch (thrown) {
        error = typeof thrown === 'string' ? opensslError('The operation failed', 'ERR_CRYPTO_OPERATION_FAILED') : thrown;
      }
      const modes = host.binding('crypto');
      if (this.mode === modes.kCryptoJobSync) return [error, result];
      if (this.mode === modes.kCryptoJobWebCrypto) {
        return new Promise((resolve, reject) => host.later(() => {
          if (error === undefined) return resolve(result);
          const { lazyDOMException } = host.require('internal/util');
          reject(lazyDOMException('The operation failed for an operation-specific reason', { name: 'OperationError', cause: error }));
        }));
      }
      host.later(() => this.ondone(error, result));
      return undefined;
    }
  };
}

const digestOrThrow = (name) => {
  if ((native.hashSize(name) ?? null) === null) {
    throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${name}`);
  }
  return name;
};

const RandomBytesJob = job((target, offset, size) => {
  const bytes = view(target);
  const end = size === undefined ? bytes.length : offset + size;
  for (let at = offset ?? 0; at < end; at += 65536) {
    bytes.set(new Uint8Array(native.random(Math.min(65536, end - at))), at);
  }
});

const checked = (Job, check) => class extends Job {
  constructor(mode, ...args) {
    check(...args);
    super(mode, ...args);
  }
};

const PBKDF2Job = checked(job((password, salt, iterations, length, digest) =>
  native.pbkdf2(digest, bytesOf(password), bytesOf(salt), iterations, length)),
(p, s, i, l, digest) => digestOrThrow(digest));

const ScryptJob = checked(job((password, salt, N, r, p, maxmem, length) =>
  native.scrypt(bytesOf(password), bytesOf(salt), Math.log2(N), r, p, length)),
(password, salt, N, r, p, maxmem) => {
  if (!Number.isInteger(Math.log2(N)) || N < 2 || 128 * N * r > maxmem) {
    throw coded(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', 'Invalid scrypt params: memory limit exceeded');
  }
});

const HKDFJob = checked(job((hash, key, salt, info, length) =>
  native.hkdf(hash, bytesOf(key), bytesOf(salt), bytesOf(info), length)), (hash) => digestOrThrow(hash));

const HashJob = job((name, data, length) => {
  const state = native.hash(name);
  state(view(data).slice());
  const out = state();
  return length === undefined ? out : out.slice(0, length / 8);
});

const HmacJob = job((mode, name, key, data, signature) => {
  const mac = new Uint8Array(native.hmac(name, bytesOf(key), view(data).slice()));
  if (signature === undefined) return mac.buffer;
  return constantTimeEqual(mac, view(signature));
});

const SecretKeyGenJob = job((bits, ...key) => {
  const handle = new KeyObjectHandle().init(host.binding('crypto').kKeyTypeSecret, native.random(Math.ceil(bits / 8)));
  return key.length === 0 ? handle : new InternalCryptoKey(handle, ...key);
});

function constantTimeEqual(a, b) {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i] ^ b[i];
  return difference === 0;
}

// --- AES -------------------------------------------------------------------------------------------

// GCM with any length of nonce is a counter that begins at J0 + 1; what makes a tag wants 12 bytes.
const gcmCounter = (iv) => {
  const counter = new Uint8Array(16);
  counter.set(iv);
  counter[15] = 1;
  return counter;
};
const gcmKeyStream = (key, iv, at, data) => new Uint8Array(native.aesCtr(key, gcmCounter(iv), 16 + at, 32, data));
const gcmTag = (key, iv, aad, plain) => new Uint8Array(native.aesGcm(key, iv, aad, plain)).slice(-16);

function gcm(mode, key, data, variant, iv, tagLength, aad) {
  const [secret, nonce, additional] = [bytesOf(key), view(iv), aad === undefined ? new Uint8Array(0) : view(aad)];
  const bytes = view(data).slice();
  if (mode === 0) {
    const out = new Uint8Array(native.aesGcm(secret, nonce, additional, bytes));
    return out.slice(0, bytes.length + tagLength).buffer;
  }
  const body = bytes.subarray(0, bytes.length - tagLength).slice();
  const plain = gcmKeyStream(secret, nonce, 0, body);
  if (!constantTimeEqual(gcmTag(secret, nonce, additional, plain).subarray(0, tagLength), bytes.subarray(bytes.length - tagLength))) throw 'EBADMSG';
  return plain.buffer;
}

function cbcPadded(encrypt, key, iv, data) {
  if (encrypt) {
    const pad = 16 - data.length % 16;
    return new Uint8Array(native.aesCbc(true, key, iv, join([data, new Uint8Array(pad).fill(pad)])));
  }
  if (data.length === 0 || data.length % 16 !== 0) throw 'EINVAL';
  return unpad(new Uint8Array(native.aesCbc(false, key, iv, data)));
}

function unpad(plain) {
  const pad = plain[plain.length - 1];
  if (pad === 0 || pad > 16 || pad > plain.length || plain.subarray(plain.length - pad).some((b) => b !== pad)) throw 'EINVAL';
  return plain.slice(0, plain.length - pad);
}

const AESCipherJob = job((mode, key, data, variant, iv, ...rest) => {
  const k = host.binding('crypto');
  const name = Object.keys(k).find((n) => n.startsWith('kKeyVariantAES_') && k[n] === variant).slice(15, 18);
  const secret = bytesOf(key);
  if (name === 'GCM') return gcm(mode, key, data, variant, iv, ...rest);
  if (name === 'CBC') return cbcPadded(mode === 0, secret, view(iv), view(data).slice()).slice().buffer;
  if (name === 'CTR') return native.aesCtr(secret, view(iv).slice(), 0, 128, view(data).slice());
  throw 'EINVAL';
});

const CIPHER = /^(?:id-)?aes-?(128|192|256)-?(cbc|ctr|gcm)$/i;
const NOTHING = new Uint8Array(0);

class CipherBase {
  constructor(encrypt, cipher, key, iv, tagLength) {
    const parts = CIPHER.exec(cipher);
    if (parts === null) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
    this.encrypt = encrypt;
    this.mode = parts[2].toLowerCase();
    this.key = bytesOf(key).slice();
    this.iv = iv === null || iv === undefined ? NOTHING : bytesOf(iv).slice();
    if (this.key.length !== parts[1] / 8) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
    if (this.iv.length !== (this.mode === 'gcm' ? 12 : 16)) throw coded(TypeError, 'ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector');
    this.tagLength = tagLength > 0 ? tagLength : 16;
    this.rest = NOTHING;
    this.done = 0;
    this.seen = [];
    this.aad = NOTHING;
    this.padding = true;
  }
  setAutoPadding(on) { this.padding = on; return !this.finished; }
  setAAD(bytes) { this.aad = join([this.aad, view(bytes)]); return this.mode === 'gcm' && !this.finished; }
  setAuthTag(tag) {
    if (this.mode !== 'gcm' || this.encrypt || this.finished) return false;
    this.tag = view(tag).slice();
    return true;
  }
  getAuthTag() { return this.finished && this.encrypt && this.mode === 'gcm' ? buffer(this.tag) : undefined; }

  update(data, encoding) {
    const bytes = bytesOf(data, encoding).slice();
    if (this.mode === 'cbc') return buffer(this.#blocks(bytes));
    const stream = this.mode === 'ctr' ?
      new Uint8Array(native.aesCtr(this.key, this.iv, this.done, 128, bytes)) :
      gcmKeyStream(this.key, this.iv, this.done, bytes);
    this.done += bytes.length;
    if (this.mode === 'gcm') this.seen.push(this.encrypt ? bytes : stream);
    return buffer(stream);
  }

  // What can be done of CBC: whole blocks, less one that may hold the padding.
  #blocks(bytes) {
    const all = join([this.rest, bytes]);
    let whole = all.length - all.length % 16;
    if (!this.encrypt && this.padding && whole === all.length && whole > 0) whole -= 16;
    this.rest = all.slice(whole);
    return this.#cbc(all.slice(0, whole));
  }

  #cbc(blocks) {
    if (blocks.length === 0) return NOTHING;
    const out = new Uint8Array(native.aesCbc(this.encrypt, this.key, this.iv, blocks));
    this.iv = (this.encrypt ? out : blocks).slice(-16);
    return out;
  }

  final() {
    if (this.finished) {
      const { ERR_CRYPTO_INVALID_STATE } = host.require('internal/errors').codes;
      throw new ERR_CRYPTO_INVALID_STATE('final');
    }
    this.finished = true;
    if (this.mode === 'cbc') return buffer(this.#last());
    if (this.mode === 'ctr') return buffer(NOTHING);
    const tag = gcmTag(this.key, this.iv, this.aad, join(this.seen)).slice(0, this.tagLength);
    if (this.encrypt) this.tag = tag;
    else if (this.tag === undefined || !constantTimeEqual(tag.subarray(0, this.tag.length), this.tag)) {
      throw new Error('Unsupported state or unable to authenticate data');
    }
    return buffer(NOTHING);
  }

  #last() {
    if (this.encrypt) {
      if (!this.padding) {
        if (this.rest.length > 0) throw opensslError('error:1C80006A:Provider routines::wrong final block length', 'ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH', 'Provider routines');
        return NOTHING;
      }
      const pad = 16 - this.rest.length;
      return this.#cbc(join([this.rest, new Uint8Array(pad).fill(pad)]));
    }
    if (!this.padding && this.rest.length === 0) return NOTHING;
    if (this.rest.length !== 16) throw opensslError('error:1C80006B:Provider routines::wrong final block length', 'ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH', 'Provider routines');
    try {
      return unpad(this.#cbc(this.rest));
    } catch (code) {
      if (typeof code !== 'string') throw code;
      throw opensslError('error:1C800064:Provider routines::bad decrypt', 'ERR_OSSL_BAD_DECRYPT', 'Provider routines');
    }
  }
}

const CIPHERS = ['aes-128-cbc', 'aes-128-ctr', 'aes-128-gcm', 'aes-192-cbc', 'aes-192-ctr', 'aes-192-gcm', 'aes-256-cbc', 'aes-256-ctr', 'aes-256-gcm'];

host.bindings.crypto = () => ({
  Hash, Hmac, KeyObjectHandle, RandomBytesJob, PBKDF2Job, ScryptJob, HKDFJob, HashJob, HmacJob, SecretKeyGenJob,
  AESCipherJob, CipherBase,
  getFipsCrypto: () => 0,
  testFipsCrypto: () => false,
  setEngine: () => true,
  secureHeapUsed: () => undefined,
  secureBuffer: (size) => new Uint8Array(size),
  getRootCertificates: () => [],
  getHashes: native.hashNames,
  getCachedAliases: () => ({}),
  getCiphers: () => [...CIPHERS],
  ...host.moreOfCrypto,
  getCurves: () => [],
  getCipherInfo(target, name, keyLength, ivLength) {
    const parts = CIPHER.exec(String(name));
    if (parts === null) return undefined;
    const mode = parts[2].toLowerCase();
    Object.assign(target, { mode, name: String(name).toLowerCase(), keyLength: parts[1] / 8, ivLength: mode === 'gcm' ? 12 : 16 });
    if (mode === 'cbc') target.blockSize = 16;
    return (keyLength ?? target.keyLength) === target.keyLength && (ivLength ?? target.ivLength) === target.ivLength ? target : undefined;
  },
  oneShotDigest(name, id, cache, input, output, encodingId, length) {
    const hash = new Hash(name);
    hash.update(input, 'utf8');
    void length; void id; void cache; void encodingId;
    return hash.digest(output);
  },
  timingSafeEqual(a, b) {
    const { ERR_INVALID_ARG_TYPE, ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH } = host.require('internal/errors').codes;
    for (const [name, v] of [['buf1', a], ['buf2', b]]) {
      if (!ArrayBuffer.isView(v) && !host.types.isAnyArrayBuffer(v)) {
        throw new ERR_INVALID_ARG_TYPE(name, ['ArrayBuffer', 'Buffer', 'TypedArray', 'DataView'], v);
      }
    }
    if (a.byteLength !== b.byteLength) throw new ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH();
    return constantTimeEqual(view(a), view(b));
  },
  createNativeKeyObjectClass: (make) => make(class NativeKeyObject extends NativeKey {}),
  getKeyObjectSlots(key) {
    const [handle] = keySlots(key);
    return [handle.type, handle];
  },
  createCryptoKeyClass(make) {
    const classes = make(class NativeCryptoKey extends NativeKey {});
    [, InternalCryptoKey] = classes;
    return classes;
  },
  getCryptoKeySlots(key) {
    const [handle, algorithm, usages, extractable] = keySlots(key);
    return [handle.type, extractable, algorithm, usages, handle];
  },
});
})
