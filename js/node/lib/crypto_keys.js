// Part of the binding crypto: public and private keys. A key is a plain object: its `type` as Node
// names it, `isPrivate`, and its numbers as bytes. This file converts keys from and to DER, PEM,
// JWK and raw bytes.
(function (native, host) {
'use strict';

const { buffer, bytesOf, coded } = host.crypto;
const d = host.der;
const { malformed, integer, unsigned, list, oidText, sequence, octets, makeInteger, oid } = d;

const RSA = '1.2.840.113549.1.1.1';
const RSA_PSS = '1.2.840.113549.1.1.10';
const MGF1 = '1.2.840.113549.1.1.8';
const EC = '1.2.840.10045.2.1';
const DH = '1.2.840.113549.1.3.1';
const OKP = { '__proto__': null, '1.3.101.112': 'ed25519', '1.3.101.110': 'x25519' };
const okpOid = (type) => Object.keys(OKP).find((key) => OKP[key] === type);
const CURVES = {
  __proto__: null,
  prime256v1: { oid: '1.2.840.10045.3.1.7', jwk: 'P-256', size: 32 },
  secp384r1: { oid: '1.3.132.0.34', jwk: 'P-384', size: 48 },
  secp521r1: { oid: '1.3.132.0.35', jwk: 'P-521', size: 66 },
  secp256k1: { oid: '1.3.132.0.10', jwk: 'secp256k1', size: 32 },
};
const OKP_JWK = { __proto__: null, ed25519: 'Ed25519', x25519: 'X25519' };

// Returns OpenSSL's name for a curve from any of its names.
function curveOf(name) {
  const found = Object.keys(CURVES).find((key) => key === name || CURVES[key].jwk === name);
  if (found === undefined) throw coded(TypeError, 'ERR_CRYPTO_INVALID_CURVE', 'Invalid EC curve name');
  return found;
}

// Returns a number as `size` bytes; undefined if it is longer.
function padded(bytes, size) {
  const short = unsigned(bytes);
  if (short.length > size) return undefined;
  const out = new Uint8Array(size);
  out.set(short, size - short.length);
  return out;
}

// Returns a point in uncompressed form; undefined if it is not on the curve. In the hybrid form,
// the first byte repeats the lowest bit of y, and both must agree.
function wholePoint(curve, bytes) {
  let point = new Uint8Array(bytes);
  if (point[0] === 6 || point[0] === 7) {
    if ((point.at(-1) & 1) !== (point[0] & 1)) return undefined;
    point[0] = 4;
  }
  point = native.ecPoint(curve, point, false);
  return point ? new Uint8Array(point) : undefined;
}

// --- building keys -------------------------------------------------------------------------------

function ecPrivate(curve, scalar) {
  const key = padded(scalar, CURVES[curve].size);
  const point = key && native.ecPublic(curve, key);
  return point ? { type: 'ec', isPrivate: true, curve, scalar: key, point: new Uint8Array(point) } : undefined;
}
function ecPublic(curve, bytes) {
  const point = wholePoint(curve, bytes);
  return point && { type: 'ec', isPrivate: false, curve, point };
}
function okpPrivate(type, seed) {
  if (seed.length !== 32) return undefined;
  const bytes = new Uint8Array(seed);
  const base = new Uint8Array(32);
  base[0] = 9;
  const point = type === 'ed25519' ? native.edPublic(bytes) : native.x25519(bytes, base);
  return { type, isPrivate: true, seed: bytes, point: new Uint8Array(point) };
}
const okpPublic = (type, point) => (point.length === 32 ? { type, isPrivate: false, point: new Uint8Array(point) } : undefined);
const PARTS = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'];

function toPublic(key) {
  const { d: secret, p, q, dp, dq, qi, scalar, seed, power, ...rest } = key;
  return { ...rest, isPrivate: false };
}

// Returns a Diffie-Hellman key: the group, the private exponent and the public value.
function dhPrivate(prime, generator, power) {
  return { type: 'dh', isPrivate: true, prime, generator, power, value: new Uint8Array(native.modPow(generator, power, prime)) };
}

const orMalformed = (key) => {
  if (key === undefined) throw malformed();
  return key;
};

// --- reading DER ---------------------------------------------------------------------------------

function rsaOfPkcs1(bytes, isPrivate, more) {
  const parts = d.whole(bytes);
  if (!isPrivate) return { type: 'rsa', ...more, isPrivate, n: integer(parts[0]), e: integer(parts[1]) };
  if (parts.length < 9) throw malformed();
  const key = { type: 'rsa', ...more, isPrivate };
  PARTS.forEach((name, i) => { key[name] = integer(parts[i + 1]); });
  return key;
}

// Reads RSASSA-PSS-params (RFC 4055), which bind a key to a hash.
function pssOf(parameters) {
  if (parameters === undefined || parameters.tag !== 0x30) return { type: 'rsa-pss' };
  const pss = { hash: 'sha1', mgf: 'sha1', salt: 20 };
  for (const part of list(parameters)) {
    const inner = d.elements(part.body)[0];
    if (part.tag === 0xa0) pss.hash = d.hashOf(oidText(list(inner)[0]));
    if (part.tag === 0xa1) pss.mgf = d.hashOf(oidText(list(list(inner)[1])[0]));
    if (part.tag === 0xa2) pss.salt = d.small(inner);
  }
  return { type: 'rsa-pss', pss };
}

function named(element) {
  const curve = element?.tag === 6 && Object.keys(CURVES).find((key) => CURVES[key].oid === oidText(element));
  if (!curve) throw malformed();
  return curve;
}

function ofSec1(bytes, given) {
  const [, scalar, ...rest] = d.whole(bytes);
  const parameters = rest.find((part) => part.tag === 0xa0);
  const curve = given ?? named(parameters && d.elements(parameters.body)[0]);
  return orMalformed(ecPrivate(curve, d.body(scalar, 4)));
}

function ofSpki(bytes) {
  const [algorithm, key] = d.whole(bytes);
  const [kind, parameters] = list(algorithm);
  const name = oidText(kind);
  const content = d.bitString(key);
  if (name === RSA) return rsaOfPkcs1(content, false);
  if (name === RSA_PSS) return rsaOfPkcs1(content, false, pssOf(parameters));
  if (name === EC) return orMalformed(ecPublic(named(parameters), content));
  if (OKP[name] !== undefined) return orMalformed(okpPublic(OKP[name], content));
  if (name === DH) {
    const [prime, generator] = list(parameters).map(integer);
    return { type: 'dh', isPrivate: false, prime, generator, value: integer(d.elements(content)[0]) };
  }
  throw malformed();
}

function ofPkcs8(bytes, passphrase, isPem) {
  const parts = d.whole(bytes);
  if (parts[0]?.tag === 0x30) return ofPkcs8(d.openPkcs8(bytes, passphrase, isPem));
  const [kind, parameters] = list(parts[1]);
  const name = oidText(kind);
  const content = d.body(parts[2], 4);
  if (name === RSA) return rsaOfPkcs1(content, true);
  if (name === RSA_PSS) return rsaOfPkcs1(content, true, pssOf(parameters));
  if (name === EC) return ofSec1(content, named(parameters));
  if (OKP[name] !== undefined) return orMalformed(okpPrivate(OKP[name], d.body(d.elements(content)[0], 4)));
  if (name === DH) {
    const [prime, generator] = list(parameters).map(integer);
    return dhPrivate(prime, generator, integer(d.elements(content)[0]));
  }
  throw malformed();
}

// Returns the public key in a certificate (RFC 5280).
function ofCertificate(bytes) {
  const parts = list(d.whole(bytes)[0]).filter((part) => part.tag !== 0xa0);
  return ofSpki(parts[5].all);
}

// --- reading the arguments of scripts ------------------------------------------------------------

const PRIVATE_LABELS = {
  '__proto__': null,
  'PRIVATE KEY': ({ bytes }) => ofPkcs8(bytes),
  'ENCRYPTED PRIVATE KEY': ({ bytes }, passphrase) => ofPkcs8(bytes, passphrase, true),
  'RSA PRIVATE KEY': ({ head, bytes }, passphrase) => rsaOfPkcs1(d.openOldPem(head, bytes, passphrase), true),
  'EC PRIVATE KEY': ({ head, bytes }, passphrase) => ofSec1(d.openOldPem(head, bytes, passphrase)),
};
const PUBLIC_LABELS = {
  '__proto__': null,
  'PUBLIC KEY': ({ bytes }) => ofSpki(bytes),
  'RSA PUBLIC KEY': ({ bytes }) => rsaOfPkcs1(bytes, false),
  'CERTIFICATE': ({ bytes }) => ofCertificate(bytes),
};

function ofPem(bytes, isPrivate, passphrase) {
  const labels = isPrivate ? PRIVATE_LABELS : { ...PUBLIC_LABELS, ...PRIVATE_LABELS };
  const block = d.readPem(bytes, (label) => labels[label] !== undefined);
  if (block === undefined) throw malformed();
  return labels[block.label](block, passphrase);
}

function ofDer(bytes, isPrivate, encoding, passphrase) {
  const k = host.binding('crypto');
  switch (encoding) {
    case k.kKeyEncodingSPKI: return ofSpki(bytes);
    case k.kKeyEncodingPKCS8: return ofPkcs8(bytes, passphrase);
    case k.kKeyEncodingSEC1: return ofSec1(bytes);
    default: return rsaOfPkcs1(bytes, isPrivate || d.whole(bytes).length > 2);
  }
}

const badJwk = (text) => coded(TypeError, 'ERR_CRYPTO_INVALID_JWK', text);
function jwkBytes(jwk, name, kind) {
  if (typeof jwk[name] !== 'string') throw badJwk(`Invalid JWK ${kind} key`);
  return new Uint8Array(buffer(jwk[name], 'base64url'));
}

function ofJwk(jwk) {
  const isPrivate = jwk.d !== undefined;
  const part = (name) => jwkBytes(jwk, name, jwk.kty);
  const checked = (key) => {
    if (key === undefined) throw badJwk(`Invalid JWK ${jwk.kty} key`);
    return key;
  };
  if (jwk.kty === 'RSA') {
    const key = { type: 'rsa', isPrivate };
    for (const name of isPrivate ? PARTS : PARTS.slice(0, 2)) key[name] = unsigned(part(name));
    return key;
  }
  if (jwk.kty === 'EC') {
    if (typeof jwk.crv !== 'string') throw badJwk('Invalid JWK EC key');
    const curve = curveOf(jwk.crv);
    const [x, y] = [part('x'), part('y')].map((bytes) => padded(bytes, CURVES[curve].size));
    const open = x && y && ecPublic(curve, host.crypto.join([new Uint8Array([4]), x, y]));
    if (!isPrivate) return checked(open);
    const key = checked(ecPrivate(curve, part('d')));
    return checked(open && native.compare(open.point, key.point) === 0 ? key : undefined);
  }
  if (jwk.kty === 'OKP') {
    const type = Object.keys(OKP_JWK).find((name) => OKP_JWK[name] === jwk.crv);
    const open = checked(type && okpPublic(type, part('x')));
    return isPrivate ? checked(okpPrivate(type, part('d'))) : open;
  }
  throw badJwk(`${jwk.kty} is not a supported JWK key type`);
}

const incompatible = () => coded(Error, 'ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS', 'The selected key encoding is incompatible with the key type');

function ofRaw(bytes, isPrivate, type, name) {
  const kind = String(type).toLowerCase();
  let key;
  if (kind === 'ec') key = isPrivate ? (bytes.length === CURVES[curveOf(name)].size ? ecPrivate(curveOf(name), bytes) : undefined) : ecPublic(curveOf(name), bytes);
  else if (OKP_JWK[kind] !== undefined) key = isPrivate ? okpPrivate(kind, bytes) : okpPublic(kind, bytes);
  else throw incompatible();
  if (key === undefined) throw coded(TypeError, 'ERR_INVALID_ARG_VALUE', 'Invalid key data');
  return key;
}

// Returns the key in the arguments of a call: the key of a handle, or one in some format. A private
// key is accepted in place of a public one.
function read(isPrivate, data, format, encoding, passphrase, curve) {
  const k = host.binding('crypto');
  const secret = passphrase === null || passphrase === undefined ? undefined : bytesOf(passphrase);
  const found = () => {
    switch (format) {
      case k.kKeyFormatJWK: return ofJwk(data);
      case k.kKeyFormatDER: return ofDer(bytesOf(data), isPrivate, encoding, secret);
      case k.kKeyFormatRawPublic: return ofRaw(bytesOf(data), false, encoding, curve);
      case k.kKeyFormatRawPrivate: return ofRaw(bytesOf(data), true, encoding, curve);
      case k.kKeyFormatRawSeed: throw incompatible();
      default: return ofPem(bytesOf(data), isPrivate, secret);
    }
  };
  const key = data.key?.type !== undefined && (format === null || format === undefined) ? data.key : found();
  if (isPrivate && !key.isPrivate) throw format === k.kKeyFormatJWK ? badJwk(`Invalid JWK ${data.kty} key`) : malformed();
  return !isPrivate && key.isPrivate ? toPublic(key) : key;
}

// --- writing DER ---------------------------------------------------------------------------------

const hashId = (name) => sequence(oid(d.HASHES[name]), d.NULL);
function algorithmOf(key) {
  if (key.type === 'rsa') return sequence(oid(RSA), d.NULL);
  if (key.type === 'ec') return sequence(oid(EC), oid(CURVES[key.curve].oid));
  if (key.type === 'dh') return sequence(oid(DH), sequence(makeInteger(key.prime), makeInteger(key.generator)));
  if (key.type !== 'rsa-pss') return sequence(oid(okpOid(key.type)));
  if (key.pss === undefined) return sequence(oid(RSA_PSS));
  const { hash, mgf, salt } = key.pss;
  return sequence(oid(RSA_PSS), sequence(
    ...(hash === 'sha1' ? [] : [d.make(0xa0, hashId(hash))]),
    ...(mgf === 'sha1' ? [] : [d.make(0xa1, sequence(oid(MGF1), hashId(mgf)))]),
    ...(salt === 20 ? [] : [d.make(0xa2, makeInteger(salt))])));
}
const isRsa = (key) => key.type === 'rsa' || key.type === 'rsa-pss';
const pkcs1 = (key) => (key.isPrivate ? sequence(makeInteger(0), ...PARTS.map((name) => makeInteger(key[name]))) :
  sequence(makeInteger(key.n), makeInteger(key.e)));
const sec1 = (key, withCurve) => sequence(makeInteger(1), octets(key.scalar),
                                          ...(withCurve ? [d.make(0xa0, oid(CURVES[key.curve].oid))] : []), d.make(0xa1, d.bits(key.point)));
const spki = (key) => sequence(algorithmOf(key), d.bits(isRsa(key) ? pkcs1(toPublic(key)) : key.point ?? makeInteger(key.value)));
const inner = (key) => (isRsa(key) ? pkcs1(key) : key.type === 'ec' ? sec1(key, false) : key.type === 'dh' ? makeInteger(key.power) : octets(key.seed));
const pkcs8 = (key) => sequence(makeInteger(0), algorithmOf(key), octets(inner(key)));

// Returns a key in the form that Node's `export` returns: bytes, text, or an object for JWK.
function write(key, format, encoding, cipher, passphrase) {
  const k = host.binding('crypto');
  if (format === k.kKeyFormatJWK) return toJwk({}, key);
  if (format === k.kKeyFormatRawPublic) return buffer(key.type === 'ec' ? formOf(key, encoding) : rawPart(key, 'point'));
  if (format === k.kKeyFormatRawPrivate) return buffer(rawPart(key, key.type === 'ec' ? 'scalar' : 'seed'));
  if (format === k.kKeyFormatRawSeed) throw incompatible();
  const isPem = format === k.kKeyFormatPEM;
  const sealed = cipher === null || cipher === undefined ? undefined : bytesOf(passphrase);
  const give = (label, bytes) => (isPem ? d.writePem(label, bytes) : buffer(bytes));
  const giveOld = (label, bytes) => (sealed && isPem ? d.sealOldPem(label, bytes, cipher, sealed) : give(label, bytes));
  if (!key.isPrivate) return encoding === k.kKeyEncodingPKCS1 ? give('RSA PUBLIC KEY', pkcs1(key)) : give('PUBLIC KEY', spki(key));
  if (encoding === k.kKeyEncodingPKCS1) return giveOld('RSA PRIVATE KEY', pkcs1(key));
  if (encoding === k.kKeyEncodingSEC1) return giveOld('EC PRIVATE KEY', sec1(key, true));
  if (sealed) return give('ENCRYPTED PRIVATE KEY', d.sealPkcs8(pkcs8(key), cipher, sealed));
  return give('PRIVATE KEY', pkcs8(key));
}

function rawPart(key, name) {
  if (isRsa(key) || key[name] === undefined) throw incompatible();
  return key[name];
}

// Returns the point of a key in one of the forms of SEC 1.
function formOf({ curve, point }, form) {
  const { crypto } = host.binding('constants');
  if (form === crypto.POINT_CONVERSION_COMPRESSED) return new Uint8Array(native.ecPoint(curve, point, true));
  const whole = new Uint8Array(point);
  if (form === crypto.POINT_CONVERSION_HYBRID) whole[0] = 6 | whole.at(-1) & 1;
  return whole;
}

function toJwk(target, key) {
  const text = (bytes) => buffer(bytes).toString('base64url');
  if (key.type === 'rsa') {
    target.kty = 'RSA';
    for (const name of key.isPrivate ? PARTS : PARTS.slice(0, 2)) target[name] = text(key[name]);
  } else if (key.type === 'ec') {
    const { jwk, size } = CURVES[key.curve];
    Object.assign(target, { kty: 'EC', x: text(key.point.subarray(1, 1 + size)), y: text(key.point.subarray(1 + size)), crv: jwk });
    if (key.isPrivate) target.d = text(key.scalar);
  } else if (OKP_JWK[key.type] !== undefined) {
    target.crv = OKP_JWK[key.type];
    if (key.isPrivate) target.d = text(key.seed);
    Object.assign(target, { x: text(key.point), kty: 'OKP' });
  } else {
    throw coded(Error, 'ERR_CRYPTO_JWK_UNSUPPORTED_KEY_TYPE', 'Unsupported JWK Key Type.');
  }
  return target;
}

const bitLength = (bytes) => bytes.length * 8 - Math.clz32(bytes[0]) + 24;
function describe(target, key) {
  if (key.type === 'ec') return Object.assign(target, { namedCurve: key.curve });
  if (!isRsa(key)) return target;
  Object.assign(target, { modulusLength: bitLength(key.n), publicExponent: new Uint8Array(key.e).buffer });
  if (key.pss) Object.assign(target, { hashAlgorithm: key.pss.hash, mgf1HashAlgorithm: key.pss.mgf, saltLength: key.pss.salt });
  return target;
}

const comparable = (key) => write(key, host.binding('crypto').kKeyFormatDER, host.binding('crypto')[key.isPrivate ? 'kKeyEncodingPKCS8' : 'kKeyEncodingSPKI']);

host.keys = {
  CURVES, PARTS, bitLength, curveOf, describe, dhPrivate, ecPrivate, ecPublic, formOf, incompatible, isRsa, okpPrivate, padded, rawPart, read, toJwk, toPublic, wholePoint,
  write, equal: (a, b) => native.compare(comparable(a), comparable(b)) === 0,
};
})
