'use strict';

// `req`: makes requests and self-signed certificates, and prints requests.

const crypto = require('node:crypto');
const der = require('./der.js');
const { digestOption } = require('./digest.js');
const { lookup, makeExtensions, readConfig } = require('./extensions.js');
const { cipherOption, makeKey, modulusText, privatePem, publicOf, readPrivate, spkiOf } = require('./keys.js');
const { identifier, nameOf, nameText, parseSubject } = require('./names.js');
const { isSignedBy, makeCertificate, makeRequest, readRequest, requestText } = require('./certificate.js');
const { Failure, number, parse, password, writeOutput } = require('./options.js');

const DAY = 86_400_000;

// The extensions that OpenSSL's own configuration gives to a self-signed certificate.
const SELF_SIGNED = [
  ['subjectKeyIdentifier', 'hash'], ['authorityKeyIdentifier', 'keyid:always,issuer'],
  ['basicConstraints', 'critical,CA:true'],
];

const spec = {
  new: false, x509: false, newkey: true, pkeyopt: 'list', nodes: false, noenc: false, key: true, keyform: true, keyout: true,
  in: true, inform: true, out: true, outform: true, subj: true, days: true, config: true, extensions: true, reqexts: true,
  addext: 'list', set_serial: true, text: false, noout: false, subject: false, pubkey: false, modulus: false, verify: false,
  passin: true, passout: true, nameopt: true, batch: false, utf8: false, multivalue_rdn: false, 'multivalue-rdn': false,
  verbose: false, quiet: false, sigopt: 'list', section: true,
};

exports.req = function req(words) {
  const found = { digest: undefined, cipher: undefined };
  const takeCipher = cipherOption(found);
  const takeDigest = digestOption(found);
  const { options } = parse(words, spec, (name) => takeDigest(name) || takeCipher(name));
  const config = options.config === undefined ? {} : readConfig(options.config);
  const makes = options.new || options.x509 || options.newkey !== undefined;
  return makes && options.in === undefined ? make(options, found, config) : show(options);
};

function subjectOf(options, config) {
  if (options.subj !== undefined) return nameOf(parseSubject(options.subj));
  const section = config[lookup(config[options.section ?? 'req'], 'distinguished_name')];
  if (!section) throw new Failure('-subj is needed, for example -subj /CN=localhost: there is nobody to ask');
  const asks = lookup(config[options.section ?? 'req'], 'prompt') !== 'no';
  const pairs = asks
    ? section.filter(([name]) => /_default$/.test(name)).map(([name, v]) => [name.replace(/_default$/, ''), v])
    : section;
  const plain = pairs.map(([name, v]) => [name.replace(/^\d+\./, ''), v]).filter(([name]) => identifier(name) !== null);
  if (plain.length === 0) throw new Failure('error, no objects specified in config file');
  return nameOf(plain);
}

function keyOf(options, found, config) {
  const settings = config[options.section ?? 'req'];
  if (options.key !== undefined) {
    return readPrivate(options.key, { form: options.keyform, passphrase: password(options.passin) });
  }
  const wanted = options.newkey ?? `rsa:${lookup(settings, 'default_bits') ?? 2048}`;
  const key = makeKey(wanted, options.pkeyopt);
  const plain = options.nodes || options.noenc || lookup(settings, 'encrypt_key') === 'no';
  const cipher = plain ? undefined : found.cipher ?? 'aes-256-cbc';
  const pem = privatePem(key, { cipher, passphrase: password(options.passout) });
  writeOutput(options.keyout ?? lookup(settings, 'default_keyfile') ?? 'privkey.pem', pem, { secret: true });
  return key;
}

function make(options, found, config) {
  const settings = config[options.section ?? 'req'];
  const subject = subjectOf(options, config);
  const key = keyOf(options, found, config);
  const spki = spkiOf(key);
  const digest = found.digest ?? lookup(settings, 'default_md') ?? 'sha256';
  const added = (options.addext ?? []).map((text) => {
    const at = text.indexOf('=');
    if (at < 0) throw new Failure(`-addext ${text}: NAME=VALUE is needed`);
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  });
  const named = options.extensions ?? options.reqexts ??
    lookup(settings, options.x509 ? 'x509_extensions' : 'req_extensions');
  if (named !== undefined && !config[named]) throw new Failure(`there is no section ${named}`);
  const usual = options.x509 && options.config === undefined ? SELF_SIGNED : [];
  const pairs = [...(named === undefined ? usual : config[named]), ...added];
  const extensions = makeExtensions(pairs, { config, subjectKey: spki, issuerKey: spki });
  let made;
  if (options.x509) {
    const from = new Date();
    const to = new Date(from.getTime() + number(options.days ?? '30', '-days') * DAY);
    const serial = options.set_serial === undefined ? randomSerial() : BigInt(options.set_serial);
    made = makeCertificate({ serial, issuer: subject, subject, spki, from, to, extensions, key, digest });
  } else {
    made = makeRequest({ subject, spki, extensions, key, digest });
  }
  const label = options.x509 ? 'CERTIFICATE' : 'CERTIFICATE REQUEST';
  write(options, made, label, options.text && !options.x509 ? requestText(readBack(made), options.nameopt) : '');
  return 0;
}

const readBack = (bytes) => {
  const whole = der.decode(bytes);
  const [, subject, spki] = whole.children[0].children;
  return { bytes, whole, subject, spki: spki.whole, extensions: [] };
};

/** Returns 20 bytes that are a positive number. */
function randomSerial() {
  const bytes = crypto.randomBytes(20);
  bytes[0] = (bytes[0] & 0x7f) | 0x01;
  return bytes;
}

exports.randomSerial = randomSerial;

function write(options, bytes, label, before) {
  if (options.noout) return writeOutput(options.out, before);
  const made = options.outform?.toUpperCase() === 'DER' ? bytes : der.toPem(label, bytes);
  return writeOutput(options.out, Buffer.concat([Buffer.from(before), Buffer.from(made)]));
}

function show(options) {
  const request = readRequest(options.in, options.inform);
  let before = '';
  if (options.verify) {
    const is = isSignedBy(request.whole, publicOf(request.spki));
    process.stderr.write(`Certificate request self-signature verify ${is ? 'OK' : 'failure'}\n`);
    if (!is) return 1;
  }
  if (options.pubkey) before += der.toPem('PUBLIC KEY', request.spki);
  if (options.text) before += requestText(request, options.nameopt);
  if (options.subject) before += `subject=${nameText(request.subject, options.nameopt)}\n`;
  if (options.modulus) before += modulusText(request.spki);
  write(options, request.bytes, 'CERTIFICATE REQUEST', before);
  return 0;
}
