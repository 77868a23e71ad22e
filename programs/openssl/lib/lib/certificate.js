'use strict';

// Certificates and requests (RFC 5280, RFC 2986): their parts, signing, printing.

const crypto = require('node:crypto');
const der = require('./der.js');
const { extensionsText, partsOf } = require('./extensions.js');
const { bigOf, hexLines, publicOf, publicText } = require('./keys.js');
const { nameText, objectOf } = require('./names.js');
const { Failure, readInput } = require('./options.js');

const SIGNATURES = {
  rsa: { md5: '1.2.840.113549.1.1.4', sha1: '1.2.840.113549.1.1.5', sha224: '1.2.840.113549.1.1.14', sha256: '1.2.840.113549.1.1.11',
    sha384: '1.2.840.113549.1.1.12', sha512: '1.2.840.113549.1.1.13' },
  ec: { sha1: '1.2.840.10045.4.1', sha224: '1.2.840.10045.4.3.1', sha256: '1.2.840.10045.4.3.2', sha384: '1.2.840.10045.4.3.3',
    sha512: '1.2.840.10045.4.3.4' },
};
const ED25519 = '1.3.101.112';

/** Returns the encoded algorithm of signatures by this key. */
function algorithmOf(key, digest) {
  if (key.asymmetricKeyType === 'ed25519') return der.sequence(der.oid(ED25519));
  const id = SIGNATURES[key.asymmetricKeyType]?.[digest];
  if (!id) throw new Failure(`a key of type ${key.asymmetricKeyType} makes no signatures with ${digest}`);
  return der.sequence(der.oid(id), ...(key.asymmetricKeyType === 'rsa' ? [der.encode(der.TAG.null)] : []));
}

/** Returns the signed bytes with their signature. */
function sign(body, key, digest) {
  const algorithm = algorithmOf(key, digest);
  const value = crypto.sign(key.asymmetricKeyType === 'ed25519' ? null : digest, body, key);
  return der.sequence(body, algorithm, der.bits(value));
}

/** Returns whether a certificate or a request is signed by this key. */
function isSignedBy(signed, key) {
  const [body, algorithm, value] = signed.children;
  const id = der.oidText(algorithm.children[0]);
  const digests = Object.values(SIGNATURES).flatMap((kind) => Object.entries(kind));
  const digest = id === ED25519 ? null : digests.find(([, known]) => known === id)?.[0];
  if (digest === undefined) throw new Failure(`signatures of the kind ${objectOf(id).long} are unknown here`);
  try {
    return crypto.verify(digest, body.whole, key, der.bitsOf(value));
  } catch {
    return false;
  }
}

/** Returns the encoded certificate. */
function makeCertificate({ serial, issuer, subject, spki, from, to, extensions, key, digest }) {
  const version = extensions.length ? [der.context(0, der.integer(2))] : [];
  const last = extensions.length ? [der.context(3, der.sequence(...extensions))] : [];
  const validity = der.sequence(der.time(from), der.time(to));
  const parts = [...version, der.integer(serial), algorithmOf(key, digest), issuer, validity, subject, spki, ...last];
  return sign(der.sequence(...parts), key, digest);
}

/** Returns the encoded request. */
function makeRequest({ subject, spki, extensions, key, digest }) {
  const wish = der.sequence(der.oid('1.2.840.113549.1.9.14'), der.set(der.sequence(...extensions)));
  const attributes = der.context(0, ...(extensions.length ? [wish] : []));
  return sign(der.sequence(der.integer(0), subject, spki, attributes), key, digest);
}

function certificateOf(bytes) {
  const whole = der.decode(bytes);
  const parts = whole.children[0].children;
  const versioned = parts[0].tag === 0xa0;
  const [serial, , issuer, validity, subject, spki, ...rest] = versioned ? parts.slice(1) : parts;
  const extensions = rest.find((c) => c.tag === 0xa3)?.children[0].children ?? [];
  const version = versioned ? Number(bigOf(parts[0].children[0].body)) + 1 : 1;
  const [from, to] = validity.children.map(der.dateOf);
  return { bytes, whole, version, serial: serial.body, issuer, from, to, subject, spki: spki.whole, extensions };
}

function requestOf(bytes) {
  const whole = der.decode(bytes);
  const [, subject, spki, attributes] = whole.children[0].children;
  const wish = (attributes?.children ?? [])
    .find((c) => objectOf(der.oidText(c.children[0])).short === 'extReq');
  return { bytes, whole, subject, spki: spki.whole, extensions: wish?.children[1].children[0].children ?? [] };
}

function read(path, form, label, what, parts) {
  const bytes = readInput(path);
  if (form?.toUpperCase() === 'DER') return [parts(bytes)];
  const blocks = der.fromPem(bytes).filter((b) => label.test(b.label));
  if (blocks.length === 0) throw new Failure(`Could not read ${what} from ${path ?? 'standard input'}`);
  return blocks.map((b) => parts(b.der));
}

const CERTIFICATE = /^(X509 |TRUSTED )?CERTIFICATE$/;

/** Reads all certificates of a file. */
const readCertificates = (path, form) => read(path, form, CERTIFICATE, 'certificate', certificateOf);

/** Reads the first certificate of a file. */
const readCertificate = (path, form) => readCertificates(path, form)[0];

/** Reads a request. */
const readRequest = (path, form) =>
  read(path, form, /^(NEW )?CERTIFICATE REQUEST$/, 'certificate request', requestOf)[0];

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Prints a date as `Nov  9 12:46:03 2026 GMT`. */
function dateText(date) {
  const time = date.toISOString().slice(11, 19);
  return `${MONTHS[date.getUTCMonth()]} ${String(date.getUTCDate()).padStart(2)} ${time} ${date.getUTCFullYear()} GMT`;
}

function serialText(bytes) {
  const value = bigOf(bytes);
  if (value < 1n << 63n) return ` ${value} (0x${value.toString(16)})\n`;
  const shown = bytes[0] === 0 ? bytes.subarray(1) : bytes;
  return `\n            ${shown.toString('hex').match(/../g).join(':')}\n`;
}

/** Returns the serial number in capital digits. */
function serialDigits(bytes) {
  const hex = bigOf(bytes).toString(16).toUpperCase();
  return hex.length % 2 ? `0${hex}` : hex;
}

function signatureText(whole) {
  const [, algorithm, value] = whole.children;
  return `    Signature Algorithm: ${objectOf(der.oidText(algorithm.children[0])).long}\n    Signature Value:\n` +
    hexLines(der.bitsOf(value), 8, 18);
}

function keyText(spki) {
  const kind = objectOf(der.oidText(der.decode(spki).children[0].children[0])).long;
  return `        Subject Public Key Info:\n            Public Key Algorithm: ${kind}\n${publicText(spki, 16)}`;
}

/** Prints a certificate. */
function certificateText(c, style) {
  const algorithm = objectOf(der.oidText(c.whole.children[1].children[0])).long;
  const extensions = c.extensions.length
    ? `        X509v3 extensions:\n${extensionsText(c.extensions, 12)}` : '';
  return `Certificate:\n    Data:\n        Version: ${c.version} (0x${c.version - 1})\n        Serial Number:${serialText(c.serial)}` +
    `        Signature Algorithm: ${algorithm}\n        Issuer: ${nameText(c.issuer, style)}\n        Validity\n` +
    `            Not Before: ${dateText(c.from)}\n            Not After : ${dateText(c.to)}\n` +
    `        Subject: ${nameText(c.subject, style)}\n${keyText(c.spki)}${extensions}${signatureText(c.whole)}`;
}

/** Prints a request. */
function requestText(r, style) {
  const wish = r.extensions.length
    ? `            Requested Extensions:\n${extensionsText(r.extensions, 16)}`
    : '            (none)\n            Requested Extensions:\n';
  return `Certificate Request:\n    Data:\n        Version: 1 (0x0)\n        Subject: ${nameText(r.subject, style)}\n` +
    `${keyText(r.spki)}        Attributes:\n${wish}${signatureText(r.whole)}`;
}

/** Returns the value of an extension, if the certificate has it. */
function extensionOf(c, short) {
  const found = c.extensions.map(partsOf).find((e) => e.object.short === short);
  return found && der.decode(found.value);
}

module.exports = {
  certificateOf, certificateText, dateText, extensionOf, isSignedBy, makeCertificate, makeRequest, publicOf,
  readCertificate, readCertificates, readRequest, requestText, serialDigits,
};
