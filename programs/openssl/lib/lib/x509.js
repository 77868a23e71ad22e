'use strict';

// `x509`: prints certificates, converts them, and signs requests.

const crypto = require('node:crypto');
const fs = require('node:fs');
const der = require('./der.js');
const { digestOption } = require('./digest.js');
const { extensionsText, lookup, makeExtensions, partsOf, readConfig } = require('./extensions.js');
const { bigOf, modulusText, publicOf, readPrivate, spkiOf } = require('./keys.js');
const { nameOf, nameText, pairsOf, parseSubject } = require('./names.js');
const {
  certificateOf, certificateText, dateText, extensionOf, isSignedBy, makeCertificate, readCertificate, readRequest,
  serialDigits,
} = require('./certificate.js');
const { Failure, number, parse, password, writeOutput } = require('./options.js');
const { randomSerial } = require('./req.js');

const DAY = 86_400_000;

const spec = {
  in: true, inform: true, out: true, outform: true, noout: false, text: false, subject: false, issuer: false, dates: false,
  startdate: false, enddate: false, serial: false, fingerprint: false, ext: true, hash: false, subject_hash: false,
  issuer_hash: false, modulus: false, pubkey: false, email: false, checkend: true, checkhost: true, checkip: true,
  nameopt: true, certopt: true, req: false, new: false, subj: true, key: true, signkey: true, keyform: true, passin: true,
  CA: true, CAkey: true, CAform: true, CAkeyform: true, CAcreateserial: false, CAserial: true, set_serial: true, days: true,
  extfile: true, extensions: true, copy_extensions: true, clrext: false, force_pubkey: true, preserve_dates: false,
  dateopt: true, sigopt: 'list', purpose: false,
};

exports.x509 = function x509(words) {
  const found = { digest: undefined };
  const { options } = parse(words, spec, digestOption(found));
  if (options.purpose) throw new Failure('-purpose is not here; -ext keyUsage,extendedKeyUsage prints what a key is for');
  const signs = options.req || options.new || options.signkey || options.key || options.CA;
  const certificate = signs ? signRequest(options, found.digest ?? 'sha256') : readCertificate(options.in, options.inform);
  const printed = [];
  let status = 0;
  for (const name of Object.keys(options)) {
    const made = PRINTERS[name]?.(certificate, options, found.digest);
    if (made === undefined) continue;
    printed.push(typeof made === 'string' ? made : made.text);
    status = made.status ?? status;
  }
  const der64 = options.outform?.toUpperCase() === 'DER';
  const whole = der64 ? certificate.bytes : Buffer.from(der.toPem('CERTIFICATE', certificate.bytes));
  const rest = options.noout || 'checkend' in options && options.noout ? [] : [whole];
  writeOutput(options.out, Buffer.concat([Buffer.from(printed.join('')), ...rest]));
  return status;
};

// The output of options, in the order in which they are given.
const PRINTERS = {
  text: (c, o) => certificateText(c, o.nameopt),
  subject: (c, o) => `subject=${nameText(c.subject, o.nameopt)}\n`,
  issuer: (c, o) => `issuer=${nameText(c.issuer, o.nameopt)}\n`,
  serial: (c) => `serial=${serialDigits(c.serial)}\n`,
  dates: (c) => `notBefore=${dateText(c.from)}\nnotAfter=${dateText(c.to)}\n`,
  startdate: (c) => `notBefore=${dateText(c.from)}\n`,
  enddate: (c) => `notAfter=${dateText(c.to)}\n`,
  fingerprint: (c, o, digest = 'sha1') => {
    const pairs = crypto.createHash(digest).update(c.bytes).digest('hex').toUpperCase().match(/../g);
    return `${digest === 'sha1' ? 'SHA1' : digest} Fingerprint=${pairs.join(':')}\n`;
  },
  hash: (c) => `${nameHash(c.subject)}\n`,
  subject_hash: (c) => `${nameHash(c.subject)}\n`,
  issuer_hash: (c) => `${nameHash(c.issuer)}\n`,
  modulus: (c) => modulusText(c.spki),
  pubkey: (c) => der.toPem('PUBLIC KEY', c.spki),
  email: (c) => {
    const names = (extensionOf(c, 'subjectAltName')?.children ?? []).filter((n) => n.tag === 0x81);
    const own = pairsOf(c.subject).flat().filter(([o]) => o.short === 'emailAddress').map(([, v]) => v);
    return [...own, ...names.map((n) => n.body.toString())].map((address) => `${address}\n`).join('');
  },
  ext: (c, o) => {
    const wanted = o.ext.split(',').map((name) => name.trim());
    const chosen = c.extensions.filter((e) => {
      const { object } = partsOf(e);
      return wanted.includes(object.short) || wanted.includes(object.long);
    });
    if (chosen.length) return extensionsText(chosen, 0);
    process.stderr.write('No extensions matching the request\n');
    return '';
  },
  checkend: (c, o) => {
    const ends = c.to.getTime() < Date.now() + number(o.checkend, '-checkend') * 1000;
    return { text: `Certificate will ${ends ? '' : 'not '}expire\n`, status: ends ? 1 : 0 };
  },
  checkhost: (c, o) => matchText(c, 'Hostname', o.checkhost, o.checkhost.toLowerCase(), 0x82),
  checkip: (c, o) => matchText(c, 'IP', o.checkip, o.checkip, 0x87),
};

function matchText(c, what, shown, wanted, tag) {
  const names = (extensionOf(c, 'subjectAltName')?.children ?? []).filter((n) => n.tag === tag)
    .map((n) => (tag === 0x87 ? [...n.body].join('.') : n.body.toString().toLowerCase()));
  const common = pairsOf(c.subject).flat().filter(([o]) => o.short === 'CN').map(([, v]) => v.toLowerCase());
  const all = names.length || tag === 0x87 ? names : common;
  const does = all.some((name) =>
    name === wanted || (name.startsWith('*.') && wanted.slice(wanted.indexOf('.')) === name.slice(1)));
  return `${what} ${shown} does${does ? '' : ' NOT'} match certificate\n`;
}

/** Returns the number that names a certificate's file in a folder of authorities. */
function nameHash(name) {
  const canonical = name.children.map((set) => der.set(...set.children.map((pair) => {
    const [id, value] = pair.children;
    const text = der.textOf(value).trim().replace(/\s+/g, ' ').toLowerCase();
    return der.sequence(id.whole, der.encode(der.TAG.utf8, Buffer.from(text)));
  })));
  const hash = crypto.createHash('sha1').update(Buffer.concat(canonical)).digest();
  return hash.readUInt32LE(0).toString(16).padStart(8, '0');
}

function serialOf(options) {
  if (options.set_serial !== undefined) return BigInt(options.set_serial);
  if (options.CA === undefined) return randomSerial();
  const file = options.CAserial ?? `${options.CA.replace(/\.[^./]*$/, '')}.srl`;
  let serial;
  if (fs.existsSync(file)) {
    serial = BigInt(`0x${fs.readFileSync(file, 'latin1').trim()}`) + 1n;
  } else {
    serial = bigOf(randomSerial());
    if (!options.CAcreateserial && options.CAserial === undefined) return serial;
  }
  const hex = serial.toString(16).toUpperCase();
  writeOutput(file, `${hex.length % 2 ? '0' : ''}${hex}\n`);
  return serial;
}

function signRequest(options, digest) {
  const passphrase = password(options.passin);
  const own = options.signkey ?? options.key;
  let { subject, spki, extensions: asked } = requested(options, passphrase, own);
  if (options.subj !== undefined) subject = { whole: nameOf(parseSubject(options.subj)) };
  let [issuer, key, authority] = [subject.whole, null, null];
  if (options.CA !== undefined) {
    authority = readCertificate(options.CA, options.CAform);
    issuer = authority.subject.whole;
    key = readPrivate(options.CAkey ?? options.CA, { form: options.CAkeyform, passphrase });
    if (!spkiOf(key).equals(authority.spki)) throw new Failure('CA certificate and CA private key do not match');
  } else {
    if (own === undefined) throw new Failure('We need a private key to sign with, use -key or -CAkey');
    key = readPrivate(own, { form: options.keyform, passphrase });
    spki = options.req ? spki : spkiOf(key);
  }
  const config = options.extfile === undefined ? {} : readConfig(options.extfile);
  const section = options.extensions ?? lookup(config.default, 'extensions') ?? 'default';
  if (options.extfile !== undefined && !config[section]) throw new Failure(`there is no section ${section}`);
  const issuerId = authority ? extensionOf(authority, 'subjectKeyIdentifier')?.body : undefined;
  const context = { config, subjectKey: spki, issuerKey: spkiOf(key), issuerId };
  const named = (config[section] ?? []).filter(([name]) => name !== 'extensions');
  const copied = /^copy/.test(options.copy_extensions ?? '') || !options.req && !options.clrext ? asked : [];
  const extensions = [...copied.map((e) => e.whole), ...makeExtensions(named, context)];
  const from = new Date();
  const to = new Date(from.getTime() + number(options.days ?? '30', '-days') * DAY);
  const serial = serialOf(options);
  return certificateOf(makeCertificate({ serial, issuer, subject: subject.whole, spki, from, to, extensions, key, digest }));
}

/** Returns the structure that is to be signed: a request, a certificate, or the subject of a new one. */
function requested(options, passphrase, own) {
  if (options.new) {
    const spki = options.force_pubkey
      ? require('./keys.js').spkiOf(require('./keys.js').readPublic(options.force_pubkey)) : spkiOf(readPrivate(own, { passphrase }));
    return { subject: { whole: nameOf([]) }, spki, extensions: [] };
  }
  if (!options.req) return readCertificate(options.in, options.inform);
  const request = readRequest(options.in, options.inform);
  if (!isSignedBy(request.whole, publicOf(request.spki))) {
    throw new Failure('Certificate request self-signature did not match the contents');
  }
  process.stderr.write(`Certificate request self-signature ok\nsubject=${nameText(request.subject)}\n`);
  return request;
}
