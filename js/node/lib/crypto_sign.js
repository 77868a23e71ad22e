// Part of the binding crypto: signatures with RSA (PKCS#1 v1.5, PSS), ECDSA and Ed25519, and RSA
// encryption (RFC 8017).
(function (native, host) {
'use strict';

const { view } = host;
const { buffer, bytesOf, coded, constantTimeEqual, digestOrThrow, job, join } = host.crypto;
const { CURVES, PARTS, bitLength, isRsa, padded, read } = host.keys;
const { HASHES, NULL, elements, hashKey, makeInteger, octets, oid, sequence, whole, integer } = host.der;

const constants = () => host.binding('constants').crypto;
const ossl = host.opensslError;
const tooLarge = () => ossl('error:0200006E:rsa routines::data too large for key size', 'ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE');
const badMode = () => ossl('error:1C8000A5:Provider routines::illegal or unsupported padding mode', 'ERR_OSSL_ILLEGAL_OR_UNSUPPORTED_PADDING_MODE');
const notForKey = () => ossl('error:03000096:digital envelope routines::operation not supported for this keytype',
                             'ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE');

function digest(name, ...parts) {
  const state = native.hash(name);
  for (const part of parts) state(part);
  return new Uint8Array(state(native.hashSize(name)));
}
const random = (size) => new Uint8Array(native.random(size));
const xor = (a, b) => a.map((byte, i) => byte ^ b[i]);
const filled = (size, byte) => new Uint8Array(size).fill(byte);

// --- RSA -----------------------------------------------------------------------------------------

const sizeOf = (key) => key.n.length;
const publicPower = (key, bytes) => new Uint8Array(native.modPow(bytes, key.e, key.n));
function privatePower(key, bytes) {
  try {
    return new Uint8Array(native.rsaPrivate(PARTS.map((name) => key[name]), bytes));
  } catch (error) {
    throw typeof error === 'string' ? ossl('error:02000084:rsa routines::data too large for modulus', 'ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_MODULUS') : error;
  }
}

function mgf1(hash, seed, size) {
  const parts = [];
  for (let n = 0, have = 0; have < size; n++, have += native.hashSize(hash)) parts.push(digest(hash, seed, new Uint8Array([n >>> 24, n >>> 16, n >>> 8, n])));
  return join(parts).subarray(0, size);
}

// Returns a padded message of type 1 or 2 (RFC 8017, 7.2.1 and 9.2).
function pkcs1Message(key, type, message) {
  const fill = sizeOf(key) - message.length - 3;
  if (fill < 8) throw tooLarge();
  const padding = type === 1 ? filled(fill, 255) : random(fill);
  for (let i = 0; type === 2 && i < fill; i++) while (padding[i] === 0) padding[i] = random(1)[0];
  return join([new Uint8Array([0, type]), padding, new Uint8Array(1), message]);
}

// Returns the digest with the identifier of its hash (RFC 8017, 9.2). The hash MD5-SHA1 has no
// identifier.
function digestInfo(hash, bytes) {
  const key = hashKey(hash);
  return key === undefined ? bytes : sequence(sequence(oid(HASHES[key]), NULL), octets(bytes));
}

function pssMessage(key, hash, mgf, hashed, saltSize) {
  const bits = bitLength(key.n) - 1;
  const [size, h] = [Math.ceil(bits / 8), hashed.length];
  const salt = random(saltSize);
  if (size < h + saltSize + 2) throw tooLarge();
  const made = digest(hash, filled(8, 0), hashed, salt);
  const data = join([filled(size - saltSize - h - 2, 0), filled(1, 1), salt]);
  const masked = xor(data, mgf1(mgf, made, data.length));
  masked[0] &= 255 >> (8 * size - bits);
  return join([masked, made, filled(1, 0xbc)]);
}

// Returns whether a message is a PSS encoding of a digest (RFC 8017, 9.1.2). If `saltSize` is
// undefined, the salt may have any length.
function pssFits(key, hash, mgf, hashed, saltSize, message) {
  const bits = bitLength(key.n) - 1;
  const [size, h] = [Math.ceil(bits / 8), hashed.length];
  const block = message.subarray(message.length - size);
  if (message.subarray(0, message.length - size).some((byte) => byte !== 0) || block.at(-1) !== 0xbc || size < h + 2) return false;
  const [masked, made] = [block.subarray(0, size - h - 1), block.subarray(size - h - 1, size - 1)];
  const over = 8 * size - bits;
  if (masked[0] >> (8 - over) !== 0) return false;
  const data = xor(masked, mgf1(mgf, made, masked.length));
  data[0] &= 255 >> over;
  const one = data.findIndex((byte) => byte !== 0);
  const salt = data.subarray(one + 1);
  if (data[one] !== 1 || (saltSize !== undefined && salt.length !== saltSize)) return false;
  return constantTimeEqual(digest(hash, filled(8, 0), hashed, salt), made);
}

// Returns the parameters of an RSA signature: the padding, the hash of the mask, and the length of
// the salt. If the length is undefined, verification accepts any.
function rsaWay(key, hash, padding, saltSize, isSigning) {
  const c = constants();
  const way = { padding: padding ?? (key.type === 'rsa' ? c.RSA_PKCS1_PADDING : c.RSA_PKCS1_PSS_PADDING), mgf: hash };
  if (way.padding === c.RSA_PKCS1_PADDING && key.type === 'rsa') return way;
  if (way.padding !== c.RSA_PKCS1_PSS_PADDING) throw badMode();
  if (key.pss) {
    if (hashKey(hash) !== key.pss.hash) throw ossl('error:1C8000AE:Provider routines::digest not allowed', 'ERR_OSSL_DIGEST_NOT_ALLOWED');
    way.mgf = key.pss.mgf;
  }
  const h = native.hashSize(hash);
  const most = Math.ceil((bitLength(key.n) - 1) / 8) - h - 2;
  const salt = saltSize ?? key.pss?.salt ?? c.RSA_PSS_SALTLEN_AUTO;
  if (salt < -4) throw ossl('error:1C800070:Provider routines::invalid salt length', 'ERR_OSSL_INVALID_SALT_LENGTH');
  if (salt === c.RSA_PSS_SALTLEN_DIGEST) way.salt = h;
  else if (salt === -4) way.salt = isSigning ? Math.min(h, most) : undefined;
  else if (salt < 0) way.salt = isSigning || salt === -3 ? most : undefined;
  else way.salt = salt;
  if (key.pss && way.salt < key.pss.salt) throw ossl('error:1C8000AC:Provider routines::pss saltlen too small', 'ERR_OSSL_PSS_SALTLEN_TOO_SMALL');
  return way;
}

function rsaSign(key, hash, hashed, padding, saltSize) {
  const way = rsaWay(key, hash, padding, saltSize, true);
  if (way.padding === constants().RSA_PKCS1_PADDING) return privatePower(key, pkcs1Message(key, 1, digestInfo(hash, hashed)));
  return privatePower(key, pssMessage(key, hash, way.mgf, hashed, way.salt));
}

function rsaVerify(key, hash, hashed, padding, saltSize, signature) {
  const way = rsaWay(key, hash, padding, saltSize, false);
  if (signature.length !== sizeOf(key) || native.compare(signature, key.n) >= 0) return false;
  const message = publicPower(key, signature);
  if (way.padding !== constants().RSA_PKCS1_PADDING) return pssFits(key, hash, way.mgf, hashed, way.salt, message);
  return constantTimeEqual(message, pkcs1Message(key, 1, digestInfo(hash, hashed)));
}

// --- all kinds of keys ---------------------------------------------------------------------------

// `toDer` and `ofDer` convert ECDSA signatures, which are two numbers, from and to the plain
// concatenation of these numbers. `ofDer` returns undefined for invalid bytes.
const toDer = (bytes) => sequence(makeInteger(bytes.subarray(0, bytes.length / 2)), makeInteger(bytes.subarray(bytes.length / 2)));
function ofDer(bytes, size) {
  try {
    if (elements(bytes).length !== 1) return undefined;
    const numbers = whole(bytes).map((part) => padded(integer(part), size));
    return numbers.length === 2 && !numbers.includes(undefined) ? join(numbers) : undefined;
  } catch {
    return undefined;
  }
}

function signHashed(key, hash, hashed, { padding, saltSize, encoding }) {
  if (isRsa(key)) return rsaSign(key, hash, hashed, padding, saltSize);
  const made = new Uint8Array(native.ecSign(key.curve, key.scalar, hashed));
  return encoding === host.binding('crypto').kSigEncP1363 ? made : toDer(made);
}

function verifyHashed(key, hash, hashed, { padding, saltSize, encoding }, signature) {
  if (isRsa(key)) return rsaVerify(key, hash, hashed, padding, saltSize, signature);
  const { size } = CURVES[key.curve];
  const both = encoding === host.binding('crypto').kSigEncP1363 ? (signature.length === 2 * size ? signature : undefined) : ofDer(signature, size);
  return both !== undefined && native.ecVerify(key.curve, key.point, hashed, both);
}
const hashes = (key) => isRsa(key) || key.type === 'ec';

class SignBase {
  init(algorithm) {
    this.state = native.hash(algorithm);
    if (!this.state) throw coded(TypeError, 'ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest');
    this.hash = algorithm;
  }
  update(data, encoding) {
    this.state(bytesOf(data, encoding));
  }
  finish(key) {
    if (!hashes(key)) throw coded(Error, 'ERR_CRYPTO_UNSUPPORTED_OPERATION', 'Unsupported crypto operation');
    return new Uint8Array(this.state(native.hashSize(this.hash)));
  }
}

class Sign extends SignBase {
  sign(data, format, type, passphrase, curve, padding, saltSize, encoding) {
    const key = read(true, data, format, type, passphrase, curve);
    return buffer(signHashed(key, this.hash, this.finish(key), { padding, saltSize, encoding }));
  }
}

class Verify extends SignBase {
  verify(data, format, type, passphrase, curve, signature, padding, saltSize, encoding) {
    const key = read(false, data, format, type, passphrase, curve);
    return verifyHashed(key, this.hash, this.finish(key), { padding, saltSize, encoding }, view(signature));
  }
}

function whollySigned(isSigning, key, data, algorithm, options, signature) {
  if (hashes(key)) {
    const hash = algorithm ?? key.pss?.hash ?? 'sha256';
    const hashed = digest(hash, data);
    return isSigning ? signHashed(key, hash, hashed, options).slice().buffer : verifyHashed(key, hash, hashed, options, signature);
  }
  if (key.type !== 'ed25519') throw notForKey();
  if (algorithm !== undefined && algorithm !== null) throw ossl('error:1C80007A:Provider routines::invalid digest', 'ERR_OSSL_INVALID_DIGEST');
  if (isSigning) return native.edSign(key.seed, data);
  return signature.length === 64 && native.edVerify(key.point, data, signature);
}

// The job checks the digest and the key in its constructor.
class SignJob extends job((work) => work()) {
  constructor(mode, way, data, format, type, passphrase, curve, message, algorithm, saltSize, padding, encoding, context, signature) {
    const isSigning = way === host.binding('crypto').kSignJobModeSign;
    const key = read(isSigning, data, format, type, passphrase, curve);
    if (algorithm !== undefined && algorithm !== null) digestOrThrow(algorithm);
    const options = { padding, saltSize, encoding };
    const [text, given] = [new Uint8Array(view(message)), signature === undefined ? undefined : new Uint8Array(view(signature))];
    super(mode, () => whollySigned(isSigning, key, text, algorithm, options, given));
  }
}

// --- RSA's encryption ----------------------------------------------------------------------------

const badOaep = () => ossl('error:02000079:rsa routines::oaep decoding error', 'ERR_OSSL_RSA_OAEP_DECODING_ERROR');

function oaepMessage(key, hash, label, message) {
  const h = native.hashSize(hash);
  const room = sizeOf(key) - message.length - 2 * h - 2;
  if (room < 0) throw tooLarge();
  const data = join([digest(hash, label), filled(room, 0), filled(1, 1), message]);
  const seed = random(h);
  const masked = xor(data, mgf1(hash, seed, data.length));
  return join([filled(1, 0), xor(seed, mgf1(hash, masked, h)), masked]);
}

function oaepText(key, hash, label, message) {
  const h = native.hashSize(hash);
  if (message.length < 2 * h + 2) throw badOaep();
  const [seed, masked] = [message.subarray(1, 1 + h), message.subarray(1 + h)];
  const data = xor(masked, mgf1(hash, xor(seed, mgf1(hash, masked, h)), masked.length));
  // All faults have the same error, because different ones would reveal the text bit by bit.
  let bad = message[0] | (constantTimeEqual(data.subarray(0, h), digest(hash, label)) ? 0 : 1);
  let end = 0;
  for (let i = h; i < data.length; i++) {
    if (end !== 0) continue;
    if (data[i] === 1) end = i + 1;
    else bad |= data[i];
  }
  if (bad !== 0 || end === 0) throw badOaep();
  return data.subarray(end);
}

// Returns the result for an invalid message of type 2: bytes that look random, but are the same for
// the same message and key (OpenSSL's implicit rejection).
function rejected(key, bytes) {
  const secret = digest('sha256', padded(key.d, sizeOf(key)));
  const mac = (...parts) => {
    const state = native.hmac('sha256', seed);
    for (const part of parts) state(part);
    return new Uint8Array(state());
  };
  let seed = secret;
  seed = mac(padded(bytes, sizeOf(key)) ?? bytes);
  const stream = (label, size, bits) => {
    const parts = [];
    for (let n = 0, have = 0; have < size; n++, have += 32) parts.push(mac(new Uint8Array([n >> 8, n]), buffer(label), new Uint8Array([bits >> 8, bits])));
    return join(parts).subarray(0, size);
  };
  const most = sizeOf(key) - 2 - 8;
  const mask = 2 ** (32 - Math.clz32(most)) - 1;
  const lengths = stream('length', 256, 2048);
  let length = 0;
  for (let i = 0; i < 128; i++) {
    const candidate = (lengths[2 * i] << 8 | lengths[2 * i + 1]) & mask;
    if (candidate < most) length = candidate;
  }
  const text = stream('message', sizeOf(key), sizeOf(key) * 8);
  return text.subarray(sizeOf(key) - length);
}

function pkcs1Text(key, bytes, message) {
  let end = 0;
  for (let i = 2; i < message.length && end === 0; i++) if (message[i] === 0) end = i + 1;
  return message[0] === 0 && message[1] === 2 && end >= 11 ? message.subarray(end) : rejected(key, bytes);
}

// Returns one of the four functions for RSA. `isPrivate` means that it uses the private key, and
// `makes` that it adds padding; otherwise it removes the padding.
const rsaFunction = (isPrivate, makes) => (data, format, type, passphrase, curve, input, padding, oaepHash, label) => {
  const c = constants();
  const key = read(isPrivate, data, format, type, passphrase, curve);
  if (!isRsa(key)) throw notForKey();
  if (key.type === 'rsa-pss') throw notForKey();
  const hash = oaepHash ?? 'sha1';
  if ((native.hashSize(hash) ?? null) === null) throw coded(Error, 'ERR_OSSL_EVP_INVALID_DIGEST', 'Invalid digest used');
  return buffer(rsaCipher(key, isPrivate, makes, padding ?? c.RSA_PKCS1_OAEP_PADDING, hash, label === undefined ? new Uint8Array(0) : view(label), new Uint8Array(view(input))));
};

function rsaCipher(key, isPrivate, makes, padding, hash, label, bytes) {
  const c = constants();
  const power = isPrivate ? privatePower : publicPower;
  const isOaep = padding === c.RSA_PKCS1_OAEP_PADDING && isPrivate !== makes;
  const isPkcs1 = padding === c.RSA_PKCS1_PADDING;
  if (!isOaep && !isPkcs1 && padding !== c.RSA_NO_PADDING) {
    throw ossl('error:02000076:rsa routines::unknown padding type', 'ERR_OSSL_RSA_UNKNOWN_PADDING_TYPE');
  }
  if (makes) {
    if (isOaep) return power(key, oaepMessage(key, hash, label, bytes));
    if (isPkcs1) return power(key, pkcs1Message(key, isPrivate ? 1 : 2, bytes));
    checkPlain(key, bytes);
    return power(key, bytes);
  }
  if (isOaep && bytes.length !== sizeOf(key)) throw badOaep();
  checkPlain(key, padded(bytes, sizeOf(key)) ?? bytes);
  const message = power(key, bytes);
  if (isOaep) return oaepText(key, hash, label, message);
  if (!isPkcs1) return message;
  return isPrivate ? pkcs1Text(key, bytes, message) : signedText(message);
}

function checkPlain(key, bytes) {
  if (bytes.length > sizeOf(key)) throw tooLarge();
  if (bytes.length < sizeOf(key)) throw ossl('error:0200007A:rsa routines::data too small for key size', 'ERR_OSSL_RSA_DATA_TOO_SMALL_FOR_KEY_SIZE');
  if (native.compare(bytes, key.n) >= 0) throw ossl('error:02000084:rsa routines::data too large for modulus', 'ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_MODULUS');
}

function signedText(message) {
  const end = message.indexOf(0, 2);
  if (message[0] !== 0 || message[1] !== 1 || end < 10 || message.subarray(2, end).some((byte) => byte !== 255)) {
    throw ossl('error:0200008A:rsa routines::invalid padding', 'ERR_OSSL_RSA_INVALID_PADDING');
  }
  return message.subarray(end + 1);
}

const RSACipherJob = job((mode, handle, data, variant, hash, label) => {
  const makes = mode === host.binding('crypto').kWebCryptoCipherEncrypt;
  const bytes = new Uint8Array(view(data));
  const mark = label === undefined ? new Uint8Array(0) : view(label);
  return rsaCipher(handle.key, !makes, makes, constants().RSA_PKCS1_OAEP_PADDING, hash, mark, bytes).slice().buffer;
});

host.signing = {
  Sign, Verify, SignJob, RSACipherJob,
  publicEncrypt: rsaFunction(false, true), privateDecrypt: rsaFunction(true, false),
  privateEncrypt: rsaFunction(true, true), publicDecrypt: rsaFunction(false, false),
};
})
