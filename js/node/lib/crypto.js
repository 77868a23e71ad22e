// The binding crypto: hashes, HMAC, key derivation and secret keys. The other parts (crypto_*.js)
// add to it.
(function (native, host) {
'use strict';

const { view } = host;
// Returns a buffer with memory of its own, because Node's library passes on the whole ArrayBuffer.
const buffer = (bytes, encoding) => {
  const { Buffer } = host.require('buffer');
  if (typeof bytes === 'string') return Buffer.from(bytes, encoding);
  return Buffer.from(bytes instanceof Uint8Array ? new Uint8Array(bytes).buffer : bytes);
};
const bytesOf = (data, encoding) => {
  if (typeof data === 'string') return view(host.require('buffer').Buffer.from(data, encoding === 'buffer' ? 'utf8' : encoding));
  return data instanceof KeyObjectHandle ? data.bytes : view(data);
};
const give = (bytes, encoding) => encoding && encoding !== 'buffer' ? buffer(bytes).toString(encoding) : buffer(bytes);

// Returns an OpenSSL error as Node shows it.
host.opensslError = function(message, code) {
  const error = new Error(message);
  const [, number, library, , reason] = message.split(':');
  if (code !== undefined) error.code = code;
  if (number !== undefined) Object.assign(error, { library, reason });
  return error;
};

// Returns an error as Node's C++ throws it.
function coded(Kind, code, message) {
  const error = new Kind(message);
  error.code = code;
  return error;
}

// --- hashes --------------------------------------------------------------------------------------

class Hash {
  constructor(algorithm, xofLen) {
    const state = algorithm instanceof Hash ? algorithm.state(true) : native.hash(algorithm);
    if (!state) throw new Error('Digest method not supported');
    this.name = algorithm instanceof Hash ? algorithm.name : algorithm;
    this.state = state;
    this.length = xofLen ?? native.hashSize(this.name);
    if (!XOF.test(this.name) && this.length !== native.hashSize(this.name)) {
      throw host.opensslError('error:030000B2:digital envelope routines::not XOF or invalid length', 'ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH');
    }
  }
  update(data, encoding) {
    this.state(bytesOf(data, encoding));
    return true;
  }
  digest(encoding) {
    this.result ??= new Uint8Array(this.state(this.length));
    return give(this.result, encoding);
  }
}
const XOF = /^shake/i;

class Hmac {
  init(name, key) {
    this.state = native.hmac(digestOrThrow(name), bytesOf(key));
    if (!this.state) throw new Error('error:00000000:lib(0)::reason(0)');
  }
  update(data, encoding) {
    this.state(bytesOf(data, encoding));
    return true;
  }
  digest(encoding) {
    return give(new Uint8Array(this.state()), encoding);
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

// A secret key has `bytes`; a public or private key has a `key` (crypto_keys.js).
class KeyObjectHandle {
  init(type, data, format, encoding, passphrase, curve) {
    const k = host.binding('crypto');
    this.type = type;
    if (type !== k.kKeyTypeSecret) this.key = host.keys.read(type === k.kKeyTypePrivate, data, format, encoding, passphrase, curve);
    else if (format === k.kKeyFormatJWK) this.bytes = new Uint8Array(buffer(String(data.k), 'base64url'));
    else this.bytes = new Uint8Array(view(data));
    return this;
  }
  getKeyType() { return this.type; }
  getSymmetricKeySize() { return this.bytes.length; }
  getAsymmetricKeyType() { return this.key.type; }
  keyDetail(target) { return host.keys.describe(target, this.key); }
  export(...how) { return this.key ? host.keys.write(this.key, ...how) : buffer(this.bytes); }
  exportJwk(target) {
    if (this.key) return host.keys.toJwk(target, this.key);
    target.kty = 'oct';
    target.k = buffer(this.bytes).toString('base64url');
    return target;
  }
  exportECPublicRaw(form) { return buffer(host.keys.formOf(this.key, form)); }
  exportECPrivateRaw() { return buffer(host.keys.rawPart(this.key, 'scalar')); }
  rawPublicKey() { return buffer(host.keys.rawPart(this.key, 'point')); }
  rawPrivateKey() { return buffer(host.keys.rawPart(this.key, 'seed')); }
  rawSeed() { throw host.keys.incompatible(); }
  checkEcKeyData() { return this.key.type === 'ec'; }
  equals(other) {
    return this.key ? other.key !== undefined && host.keys.equal(this.key, other.key) : native.compare(this.bytes, other.bytes) === 0;
  }
}
host.KeyObjectHandle = KeyObjectHandle;

// The base of classes with slots that only bindings read. The slots are the arguments of the
// constructor.
const slots = new WeakMap();
class NativeKey {
  constructor(...args) { slots.set(this, args); }
}
// Keys can be cloned, also to other processes. A key is made with an empty handle, which then gets
// what the other one has.
let keyClasses;
const cloneable = (Class) => {
  const { messaging_clone_symbol: clone, messaging_deserialize_symbol: deserialize } = host.binding('symbols');
  Object.defineProperties(Class.prototype, {
    [clone]: { value() {
      const [{ type, key, bytes }] = slots.get(this);
      return { data: { type, key, bytes }, deserializeInfo: `wasibox:key${type}` };
    } },
    [deserialize]: { value(data) { Object.assign(slots.get(this)[0], data); } },
  });
  return Class;
};
['kKeyTypeSecret', 'kKeyTypePublic', 'kKeyTypePrivate'].forEach((name, i) => {
  host.makers[`key${host.tables.crypto[name]}`] = () => {
    host.require('crypto');
    return new keyClasses[i + 1](new KeyObjectHandle());
  };
});
let InternalCryptoKey;
const keySlots = (key) => {
  const args = slots.get(key);
  if (args === undefined) {
    const { ERR_INVALID_THIS } = host.require('internal/errors').codes;
    throw new ERR_INVALID_THIS('KeyObject');
  }
  return args;
};

// --- jobs: they run immediately, and report as their mode requires -------------------------------

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
        error = typeof thrown === 'string' ? coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', 'The operation failed') : thrown;
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

const PBKDF2Job = checked(job((password, salt, iterations, length, digest) => {
  if (XOF.test(digest)) throw new Error('Deriving bits failed');
  return native.pbkdf2(digest, bytesOf(password), bytesOf(salt), iterations, length);
}),
(p, s, i, l, digest) => digestOrThrow(digest));

const ScryptJob = checked(job((password, salt, N, r, p, maxmem, length) =>
  length === 0 ? new ArrayBuffer(0) : native.scrypt(bytesOf(password), bytesOf(salt), Math.log2(N), r, p, length)),
(password, salt, N, r, p, maxmem) => {
  const bad = (text) => coded(RangeError, 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS', `Invalid scrypt params${text}`);
  if (!Number.isInteger(Math.log2(N)) || N < 2 || r < 1 || p < 1) throw bad('');
  // OpenSSL counts the blocks of all lanes, the table, and one working block.
  if (N >= 2 ** (16 * r) || 128 * r * (p + N + 2) > maxmem) throw bad(': error:030000AC:digital envelope routines::memory limit exceeded');
});

const HKDFJob = checked(job((hash, key, salt, info, length) =>
  native.hkdf(hash, bytesOf(key), bytesOf(salt), bytesOf(info), length)), (hash, key, salt, info, length) => {
  if (length > 255 * native.hashSize(digestOrThrow(hash))) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length');
});

const HashJob = job((name, data, bits) => {
  const hash = new Hash(name, bits === undefined ? undefined : bits / 8);
  hash.update(view(data));
  return hash.state(hash.length);
});

const HmacJob = job((mode, name, key, data, signature) => {
  const hmac = new Hmac();
  hmac.init(name, key);
  hmac.update(view(data));
  const mac = new Uint8Array(hmac.state());
  if (signature === undefined) return mac.buffer;
  return constantTimeEqual(mac, view(signature));
});

const SecretKeyGenJob = job((bits, ...key) => {
  const bytes = new Uint8Array(native.random(key.length === 0 ? Math.floor(bits / 8) : Math.ceil(bits / 8)));
  if (key.length > 0 && bits % 8 !== 0) bytes[bytes.length - 1] &= 0xff00 >> bits % 8;
  const handle = new KeyObjectHandle().init(host.binding('crypto').kKeyTypeSecret, bytes);
  return key.length === 0 ? handle : new InternalCryptoKey(handle, ...key);
});

host.crypto = { bytesOf, buffer, coded, constantTimeEqual, digestOrThrow, give, job, join };

function constantTimeEqual(a, b) {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a[i] ^ b[i];
  return difference === 0;
}

host.bindings.crypto = () => ({
  Hash, Hmac, KeyObjectHandle, RandomBytesJob, PBKDF2Job, ScryptJob, HKDFJob, HashJob, HmacJob, SecretKeyGenJob,
  getFipsCrypto: () => 0,
  testFipsCrypto: () => false,
  setEngine: () => true,
  secureHeapUsed: () => undefined,
  secureBuffer: (size) => new Uint8Array(size),
  getRootCertificates: () => [],
  getHashes: () => host.tables.$hashes.filter((name) => native.hashSize(name) != null),
  getCachedAliases: () => ({}),
  ...host.moreOfCrypto,
  ...host.ciphers,
  ...host.signing,
  ...host.agreement,
  oneShotDigest(name, id, cache, input, output, encodingId, length) {
    const size = native.hashSize(name) ?? undefined;
    if (size === undefined) throw new Error(`Digest method ${name} is not supported`);
    if (length !== undefined && length !== size && !XOF.test(name)) {
      throw new Error(`Output length ${length} is invalid for ${name}, which does not support XOF`);
    }
    const hash = new Hash(name, length);
    hash.update(input, 'utf8');
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
  createNativeKeyObjectClass: (make) => keyClasses = make(cloneable(class NativeKeyObject extends NativeKey {})),
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
