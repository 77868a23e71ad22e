// Part of the binding crypto: generates key pairs and primes, and agrees on keys.
(function (native, host) {
'use strict';

const { view } = host;
const { buffer, bytesOf, coded, digestOrThrow, job } = host.crypto;
const { curveOf, CURVES, dhPrivate, ecPrivate, ecPublic, formOf, okpPrivate, PARTS, read, toPublic, wholePoint, write } = host.keys;
const { hashKey, unsigned } = host.der;
const random = (size) => new Uint8Array(native.random(size));
const ossl = host.opensslError;

// --- pairs ---------------------------------------------------------------------------------------

function newRsa(bits, exponent, more) {
  if (bits < 512) throw new Error('error:1C8000AB:Provider routines::key size too small');
  if (exponent < 3 || exponent % 2 === 0) throw new Error('error:020000B2:rsa routines::pub exponent out of range');
  const key = { type: 'rsa', ...more, isPrivate: true };
  native.rsaPair(bits, exponent).forEach((number, i) => { key[PARTS[i]] = new Uint8Array(number); });
  return key;
}

function newEc(curve) {
  const { size } = CURVES[curve];
  for (;;) {
    const scalar = random(size);
    // The first byte of a number of 521 bits has only one bit.
    if (curve === 'secp521r1') scalar[0] &= 1;
    const key = ecPrivate(curve, scalar);
    if (key !== undefined) return key;
  }
}

// Returns the result of a job that generates a key pair. Depending on the mode and the options,
// these are keys for subtle, handles, or keys in the requested encodings.
function given(mode, key, options) {
  const handle = (one) => Object.assign(new host.KeyObjectHandle(), { key: one, type: host.binding('crypto')[one.isPrivate ? 'kKeyTypePrivate' : 'kKeyTypePublic'] });
  const [open, secret] = [toPublic(key), key];
  if (mode === host.binding('crypto').kCryptoJobWebCrypto) {
    const [algorithm, openUsages, secretUsages, extractable] = options;
    const { InternalCryptoKey } = host.require('internal/crypto/keys');
    return {
      publicKey: new InternalCryptoKey(handle(open), algorithm, openUsages, true),
      privateKey: new InternalCryptoKey(handle(secret), algorithm, secretUsages, extractable),
    };
  }
  const [openFormat, openType, secretFormat, secretType, cipher, passphrase] = options;
  return [
    openFormat === undefined ? handle(open) : write(open, openFormat, openType),
    secretFormat === undefined ? handle(secret) : write(secret, secretFormat, secretType, cipher, passphrase),
  ];
}

// Returns the class of a job that generates a key pair. `prepare` checks the arguments. It returns
// the number of arguments that it has used, and a function that generates the key.
const pairJob = (prepare) => class extends job((work) => work()) {
  constructor(mode, ...args) {
    const [taken, makeKey] = prepare(...args);
    super(mode, () => given(mode, makeKey(), args.slice(taken)));
  }
};

const RsaKeyPairGenJob = pairJob((variant, bits, exponent, hash, mgf, salt) => {
  const k = host.binding('crypto');
  if (variant !== k.kKeyVariantRSA_PSS) return [3, () => newRsa(bits, exponent)];
  if (hash !== undefined) digestOrThrow(hash);
  if (mgf !== undefined && (native.hashSize(mgf) ?? null) === null) throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', `Invalid MGF1 digest: ${mgf}`);
  const isBound = hash !== undefined || mgf !== undefined || salt !== undefined;
  const of = hashKey(hash ?? 'sha1');
  const pss = isBound ? { hash: of, mgf: hashKey(mgf ?? of), salt: salt ?? (hash === undefined ? 20 : native.hashSize(of)) } : undefined;
  return [6, () => newRsa(bits, exponent, { type: 'rsa-pss', pss })];
});

const EcKeyPairGenJob = pairJob((name, encoding) => {
  const curve = curveOf(name);
  if (encoding === host.binding('crypto').OPENSSL_EC_EXPLICIT_CURVE) throw absent('curves by their parameters');
  return [2, () => newEc(curve)];
});

const NidKeyPairGenJob = pairJob((nid) => {
  const k = host.binding('crypto');
  const type = { [k.EVP_PKEY_ED25519]: 'ed25519', [k.EVP_PKEY_X25519]: 'x25519' }[nid];
  if (type === undefined) throw absent('keys of this type');
  return [1, () => okpPrivate(type, random(32))];
});

// The first argument is the name of a group, a prime, or the length of a prime.
const DhKeyPairGenJob = pairJob((prime, generator) => {
  const isNamed = typeof prime === 'string';
  const group = isNamed ? new DiffieHellmanGroup(prime) : new DiffieHellman(prime, generator);
  return [isNamed ? 1 : 2, () => {
    group.generateKeys();
    return dhPrivate(group.prime, group.generator, group.secret);
  }];
});

function absent(what) {
  const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = host.require('internal/errors').codes;
  return new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM(what);
}

// --- elliptic curves -----------------------------------------------------------------------------

const failed = (text) => coded(Error, 'ERR_CRYPTO_OPERATION_FAILED', text);

class ECDH {
  constructor(name) { this.curve = curveOf(name); }
  generateKeys() { this.key = newEc(this.curve); }
  getPrivateKey() {
    if (this.key?.scalar === undefined) throw failed('Failed to get ECDH private key');
    return buffer(this.key.scalar);
  }
  getPublicKey(form) {
    if (this.key === undefined) throw failed('Failed to get ECDH public key');
    return buffer(formOf(this.key, form));
  }
  setPrivateKey(bytes) {
    const key = ecPrivate(this.curve, view(bytes));
    if (key === undefined) throw coded(RangeError, 'ERR_CRYPTO_INVALID_KEYTYPE', 'Private key is not valid for specified curve.');
    this.key = key;
  }
  setPublicKey(bytes) {
    const key = ecPublic(this.curve, view(bytes));
    if (key === undefined) throw failed('Failed to convert Buffer to EC_POINT');
    this.key = { ...this.key, ...key };
  }
  computeSecret(bytes) {
    const point = wholePoint(this.curve, view(bytes));
    // The caller turns a string into an error.
    if (point === undefined) return 'invalid';
    const own = this.key?.scalar && ecPrivate(this.curve, this.key.scalar);
    if (own === undefined || native.compare(own.point, this.key.point) !== 0) throw coded(Error, 'ERR_CRYPTO_INVALID_KEYPAIR', 'Invalid key pair');
    return buffer(native.ecShared(this.curve, this.key.scalar, point));
  }
}

function ECDHConvertKey(bytes, name, form) {
  const key = ecPublic(curveOf(name), view(bytes));
  if (key === undefined) throw failed('Failed to convert Buffer to EC_POINT');
  return buffer(formOf(key, form));
}

function agreed(open, secret) {
  const mismatch = () => ossl('error:1C8000CB:Provider routines::mismatching domain parameters', 'ERR_OSSL_MISMATCHING_DOMAIN_PARAMETERS');
  if (open.type !== secret.type || open.curve !== secret.curve) throw mismatch();
  if (secret.type === 'dh') {
    if (toBig(open.prime) !== toBig(secret.prime)) throw mismatch();
    return native.modPow(open.value, secret.power, secret.prime);
  }
  if (secret.type === 'ec') return native.ecShared(secret.curve, secret.scalar, open.point);
  if (secret.type !== 'x25519') {
    throw ossl('error:03000096:digital envelope routines::operation not supported for this keytype', 'ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE');
  }
  try {
    return native.x25519(secret.seed, open.point);
  } catch (error) {
    throw typeof error === 'string' ? ossl('error:1C8000A4:Provider routines::failed during derivation', 'ERR_OSSL_FAILED_DURING_DERIVATION') : error;
  }
}

class DHBitsJob extends job((open, secret) => agreed(open, secret)) {
  constructor(mode, ...args) {
    super(mode, read(false, ...args.slice(0, 5)), read(true, ...args.slice(5, 10)));
  }
}

// --- Diffie-Hellman ------------------------------------------------------------------------------

const toBig = (bytes) => (bytes.length === 0 ? 0n : BigInt(`0x${buffer(bytes).toString('hex')}`));
const toBytes = (big) => {
  const hex = big.toString(16);
  return new Uint8Array(buffer(hex.length % 2 ? `0${hex}` : hex, 'hex'));
};

// The primes of RFC 2409 and RFC 3526: 2^n - 2^(n-64) - 1 + 2^64 * (floor(2^(n-130) pi) + k).
const GROUPS = {
  __proto__: null, modp1: [768n, 149686n], modp2: [1024n, 129093n], modp5: [1536n, 741804n], modp14: [2048n, 124476n],
  modp15: [3072n, 1690314n], modp16: [4096n, 240904n], modp17: [6144n, 929484n], modp18: [8192n, 4743158n],
};

// Returns floor(2^bits * pi), by Machin's formula.
function piTimes(bits) {
  const guard = 64n;
  const one = 1n << bits + guard;
  const arctan = (x) => {
    let sum = 0n;
    let power = one / x;
    for (let n = 1n; power !== 0n; n += 2n, power /= x * x) sum += n % 4n === 1n ? power / n : -(power / n);
    return sum;
  };
  return 4n * (4n * arctan(5n) - arctan(239n)) >> guard;
}

function groupPrime(name) {
  const found = GROUPS[name.toLowerCase()];
  if (found === undefined) throw coded(Error, 'ERR_CRYPTO_UNKNOWN_DH_GROUP', 'Unknown DH group');
  const [n, k] = found;
  return toBytes((1n << n) - (1n << n - 64n) - 1n + (piTimes(n - 130n) + k << 64n));
}

// Returns the flags that OpenSSL's DH_check sets for a prime and a generator.
function checkNumbers(prime, generator) {
  const p = toBig(prime);
  const g = toBig(generator);
  let found = prime.length * 8 < 512 ? 0x80 : 0;
  if (g <= 1n || g >= p - 1n) found |= 8;
  if (!native.checkPrime(prime, 0)) found |= 1;
  else if (!native.checkPrime(toBytes(p >> 1n), 0)) found |= 2;
  return found;
}

class DiffieHellman {
  constructor(sizeOrPrime, generator) {
    const badGenerator = () => ossl('error:02800065:Diffie-Hellman routines::bad generator', 'ERR_OSSL_DH_BAD_GENERATOR');
    if (typeof sizeOrPrime === 'number' && sizeOrPrime < 2) {
      throw ossl('error:0280007E:Diffie-Hellman routines::modulus too small', 'ERR_OSSL_DH_MODULUS_TOO_SMALL');
    }
    this.generator = typeof generator === 'number' ? (generator < 2 ? new Uint8Array(0) : toBytes(BigInt(generator))) : unsigned(view(generator));
    if (toBig(this.generator) < 2n) throw badGenerator();
    if (typeof sizeOrPrime === 'number') {
      if (sizeOrPrime < 512) throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', 'Invalid DH parameters');
      this.prime = new Uint8Array(native.prime(sizeOrPrime, true, new Uint8Array(0), new Uint8Array(0)));
    } else {
      this.prime = unsigned(view(sizeOrPrime));
    }
  }

  get verifyError() { return this.found ??= checkNumbers(this.prime, this.generator); }
  getPrime() { return buffer(this.prime); }
  getGenerator() { return buffer(this.generator); }
  getPublicKey() { return this.#give('public', 'No public key - did you forget to generate one?'); }
  getPrivateKey() { return this.#give('secret', 'No private key - did you forget to generate one?'); }
  setPublicKey(bytes) { this.public = new Uint8Array(view(bytes)); }
  setPrivateKey(bytes) { this.secret = new Uint8Array(view(bytes)); }

  #give(name, text) {
    if (this[name] === undefined) throw coded(Error, 'ERR_CRYPTO_INVALID_STATE', text);
    return buffer(this[name]);
  }

  generateKeys() {
    if (this.secret === undefined) {
      const p = toBig(this.prime);
      if (p < 5n) throw ossl('error:0280007E:Diffie-Hellman routines::modulus too small', 'ERR_OSSL_DH_MODULUS_TOO_SMALL');
      this.secret = toBytes(toBig(random(this.prime.length + 8)) % (p - 3n) + 2n);
    }
    this.public = new Uint8Array(native.modPow(this.generator, this.secret, this.prime));
    return buffer(this.public);
  }

  computeSecret(bytes) {
    const [other, p] = [toBig(view(bytes)), toBig(this.prime)];
    const out = (text) => coded(RangeError, 'ERR_CRYPTO_INVALID_KEYLEN', text);
    if (other <= 1n) throw out('Supplied key is too small');
    if (other >= p - 1n) throw out('Supplied key is too large');
    if (this.secret === undefined) return buffer(new Uint8Array(0));
    return buffer(native.modPow(toBytes(other), this.secret, this.prime));
  }
}

class DiffieHellmanGroup extends DiffieHellman {
  constructor(name) {
    super(groupPrime(name), 2);
    // These primes are known to be safe, so they are not checked.
    this.found = 0;
  }
}

// --- primes --------------------------------------------------------------------------------------

const optional = (number) => (number === undefined ? new Uint8Array(0) : new Uint8Array(view(number)));
class RandomPrimeJob extends job((...args) => native.prime(...args)) {
  constructor(mode, size, safe, add, rem) {
    const [step, rest] = [toBig(optional(add)), toBig(optional(rem))];
    const bad = (name) => coded(RangeError, 'ERR_OUT_OF_RANGE', `invalid options.${name}`);
    if (step !== 0n && step.toString(2).length > size) throw bad('add');
    if (step !== 0n && rest >= step) throw bad('rem');
    const remainder = rem === undefined ? toBytes(safe ? 3n : 1n) : optional(rem);
    super(mode, size, safe, optional(add), remainder);
  }
}

const CheckPrimeJob = job((candidate, checks) => native.checkPrime(bytesOf(candidate), checks));

host.agreement = {
  RsaKeyPairGenJob, EcKeyPairGenJob, NidKeyPairGenJob, DhKeyPairGenJob, ECDH, ECDHConvertKey, DHBitsJob, DiffieHellman, DiffieHellmanGroup, RandomPrimeJob, CheckPrimeJob,
  getCurves: () => Object.keys(CURVES).sort(),
};
})
