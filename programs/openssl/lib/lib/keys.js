'use strict';

// Keys: reading and writing them, printing them, and the commands that make and convert them.

const crypto = require('node:crypto');
const der = require('./der.js');
const { objectOf } = require('./names.js');
const { Failure, number, parse, password, readInput, writeOutput } = require('./options.js');
const { isCipher, cipherName } = require('./encrypt.js');

const CURVES = { 'P-256': 'prime256v1', secp256r1: 'prime256v1', 'P-384': 'secp384r1', 'P-521': 'secp521r1' };
const KNOWN_CURVES = ['prime256v1', 'secp384r1', 'secp521r1', 'secp256k1'];

function curveName(name) {
  const curve = CURVES[name] ?? name;
  if (!KNOWN_CURVES.includes(curve)) throw new Failure(`unknown curve name (${name})`);
  return curve;
}

/** Makes a key: `rsa:2048`, or an algorithm with options of `-pkeyopt`. */
function makeKey(algorithm, options = []) {
  const [kind, size] = algorithm.toLowerCase().split(':');
  const settings = Object.fromEntries(options.map((o) => [o.slice(0, o.indexOf(':')), o.slice(o.indexOf(':') + 1)]));
  switch (kind) {
    case 'rsa': {
      const modulusLength = number(size ?? settings.rsa_keygen_bits ?? '2048', 'the number of bits');
      if (modulusLength < 512) throw new Failure('key size too small');
      const publicExponent = number(settings.rsa_keygen_pubexp ?? '65537', 'the exponent');
      return crypto.generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey;
    }
    case 'ec': {
      const named = settings.ec_paramgen_curve;
      if (named === undefined) throw new Failure('no parameters set; use -pkeyopt ec_paramgen_curve:NAME');
      return crypto.generateKeyPairSync('ec', { namedCurve: curveName(named) }).privateKey;
    }
    case 'ed25519':
    case 'x25519':
      return crypto.generateKeyPairSync(kind).privateKey;
    default:
      throw new Failure(`algorithm ${algorithm} not found; there are RSA, EC, ED25519 and X25519`);
  }
}

/** Reads a private key. */
function readPrivate(path, { form, passphrase } = {}) {
  const bytes = readInput(path);
  const locked = /ENCRYPTED/.test(bytes.toString('latin1'));
  const attempts = form?.toUpperCase() === 'DER'
    ? ['pkcs8', 'pkcs1', 'sec1'].map((type) => ({ key: bytes, format: 'der', type }))
    : [{ key: pemOf(bytes, /PRIVATE KEY$/), format: 'pem', passphrase }];
  for (const attempt of attempts) {
    try {
      return crypto.createPrivateKey(attempt);
    } catch {
      if (locked) {
        throw new Failure(passphrase === undefined
          ? 'the key is encrypted; -passin names the password' : 'bad decrypt: the password is wrong');
      }
    }
  }
  throw new Failure(`Could not read private key from ${path ?? 'standard input'}`);
}

/** Reads a public key, or the public half of a private one. */
function readPublic(path, { form, passphrase } = {}) {
  const bytes = readInput(path);
  try {
    if (form?.toUpperCase() === 'DER') return crypto.createPublicKey({ key: bytes, format: 'der', type: 'spki' });
    const [block] = der.fromPem(bytes);
    if (block?.label === 'CERTIFICATE') return publicOf(der.decode(block.der).children[0].children.at(-2).whole);
    return crypto.createPublicKey({ key: bytes, format: 'pem', passphrase });
  } catch {
    throw new Failure(`Could not read public key from ${path ?? 'standard input'}`);
  }
}

function pemOf(bytes, label) {
  const block = der.fromPem(bytes).find((b) => label.test(b.label));
  return block ? block.whole : bytes.toString();
}

const publicOf = (spki) => crypto.createPublicKey({ key: spki, format: 'der', type: 'spki' });

/** Returns the encoded public key with its algorithm (SubjectPublicKeyInfo). */
const spkiOf = (key) =>
  (key.type === 'private' ? crypto.createPublicKey(key) : key).export({ format: 'der', type: 'spki' });

/** Returns bytes as pairs of digits in lines, each with this many bytes and this indentation. */
function hexLines(bytes, indent, width) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += width) {
    const pairs = [...bytes.subarray(at, at + width)].map((b) => b.toString(16).padStart(2, '0'));
    lines.push(' '.repeat(indent) + pairs.join(':') + (at + width < bytes.length ? ':' : ''));
  }
  return lines.map((line) => `${line}\n`).join('');
}

/** Prints the parts of a public key as `-text` does. */
function publicText(spki, indent = 0) {
  const pad = ' '.repeat(indent);
  const [algorithm, value] = der.decode(spki).children;
  const kind = objectOf(der.oidText(algorithm.children[0]));
  const bytes = der.bitsOf(value);
  if (kind.short === 'rsaEncryption') {
    const [modulus, exponent] = der.decode(bytes).children;
    return `${pad}Public-Key: (${bitCount(modulus.body)} bit)\n${pad}Modulus:\n${hexLines(modulus.body, indent + 4, 15)}` +
      `${pad}Exponent: ${smallNumber(exponent.body)}\n`;
  }
  if (kind.short === 'id-ecPublicKey') {
    return `${pad}Public-Key: (${curveBits(algorithm)} bit)\n${pad}pub:\n${hexLines(bytes, indent + 4, 15)}` +
      curveText(algorithm, pad);
  }
  return `${pad}${kind.short} Public-Key:\n${pad}pub:\n${hexLines(bytes, indent + 4, 15)}`;
}

const curveOf = (algorithm) => objectOf(der.oidText(algorithm.children[1]));
const curveBits = (algorithm) => Number(/\d{3}/.exec(curveOf(algorithm).short)[0]);

function curveText(algorithm, pad) {
  const { short, nist } = curveOf(algorithm);
  return `${pad}ASN1 OID: ${short}\n${nist ? `${pad}NIST CURVE: ${nist}\n` : ''}`;
}

const bigOf = (bytes) => BigInt(`0x${bytes.toString('hex') || '0'}`);
const bitCount = (bytes) => bigOf(bytes).toString(2).length;
const smallNumber = (bytes) => `${bigOf(bytes)} (0x${bigOf(bytes).toString(16)})`;

/** Prints a private key as `-text` does. */
function privateText(key) {
  const [, algorithm, value] = der.decode(key.export({ format: 'der', type: 'pkcs8' })).children;
  const kind = objectOf(der.oidText(algorithm.children[0]));
  if (kind.short === 'rsaEncryption') {
    const parts = der.decode(value.body).children.slice(1).map((c) => c.body);
    const names = ['modulus', '', 'privateExponent', 'prime1', 'prime2', 'exponent1', 'exponent2', 'coefficient'];
    const lines = names.map((name, n) =>
      (name ? `${name}:\n${hexLines(parts[n], 4, 15)}` : `publicExponent: ${smallNumber(parts[n])}\n`));
    return `Private-Key: (${bitCount(parts[0])} bit, 2 primes)\n${lines.join('')}`;
  }
  const spki = der.bitsOf(der.decode(spkiOf(key)).children[1]);
  const inner = der.decode(value.body);
  if (kind.short === 'id-ecPublicKey') {
    return `Private-Key: (${curveBits(algorithm)} bit)\npriv:\n${hexLines(inner.children[1].body, 4, 15)}` +
      `pub:\n${hexLines(spki, 4, 15)}${curveText(algorithm, '')}`;
  }
  return `${kind.short} Private-Key:\npriv:\n${hexLines(inner.body, 4, 15)}pub:\n${hexLines(spki, 4, 15)}`;
}

/** Returns a private key's text in PEM, encrypted if there is a cipher. */
function privatePem(key, { type = 'pkcs8', cipher, passphrase, format = 'pem' } = {}) {
  if (cipher === undefined) return key.export({ type, format });
  if (passphrase === undefined) {
    throw new Failure('no password for the new key; -passout pass:WORD names it, -nodes leaves it out');
  }
  return key.export({ type: type === 'pkcs1' || type === 'sec1' ? 'pkcs8' : type, format, cipher, passphrase });
}

// A cipher among the options, which has no value.
function cipherOption(options) {
  return (name) => {
    if (!isCipher(name)) return false;
    options.cipher = cipherName(name);
    return true;
  };
}

const convertSpec = {
  in: true, inform: true, out: true, outform: true, passin: true, passout: true, pubin: false, pubout: false,
  noout: false, text: false, text_pub: false, check: false, pubcheck: false, modulus: false, traditional: false,
  RSAPublicKey_out: false, param_out: false, conv_form: true,
};

function convert(words, { type, word }) {
  const found = { cipher: undefined };
  const { options } = parse(words, convertSpec, cipherOption(found));
  const form = options.inform;
  const passphrase = password(options.passin);
  const key = options.pubin
    ? readPublic(options.in, { form, passphrase }) : readPrivate(options.in, { form, passphrase });
  if (word === 'RSA' && key.asymmetricKeyType !== 'rsa') throw new Failure('Not an RSA key');
  if (word === 'EC' && key.asymmetricKeyType !== 'ec') throw new Failure('Not an EC key');
  let out = '';
  // Only pkey prints the public half if it writes that.
  const showsPublic = options.pubin || (!word && options.pubout);
  if (options.text) out += showsPublic ? publicText(spkiOf(key)) : privateText(key);
  if (options.text_pub) out += publicText(spkiOf(key));
  if (options.modulus) out += modulusText(spkiOf(key));
  if (options.check || options.pubcheck) out += word === 'RSA' ? 'RSA key ok\n' : 'Key is valid\n';
  if (options.noout) {
    writeOutput(options.out, out);
    return 0;
  }
  if (word) process.stderr.write(`writing ${word} key\n`);
  const format = options.outform?.toLowerCase() === 'der' ? 'der' : 'pem';
  const isPublic = options.pubout || options.pubin || options.RSAPublicKey_out;
  const made = isPublic
    ? (key.type === 'private' ? crypto.createPublicKey(key) : key)
      .export({ format, type: options.RSAPublicKey_out ? 'pkcs1' : 'spki' })
    : privatePem(key, {
      type: options.traditional ? (key.asymmetricKeyType === 'rsa' ? 'pkcs1' : 'sec1') : type,
      cipher: found.cipher, passphrase: password(options.passout), format,
    });
  const parts = [Buffer.from(out), Buffer.from(made)];
  writeOutput(options.out, Buffer.concat(word ? parts : parts.reverse()), { secret: !isPublic });
  return 0;
}

function modulusText(spki) {
  const [algorithm, value] = der.decode(spki).children;
  if (objectOf(der.oidText(algorithm.children[0])).short !== 'rsaEncryption') return 'Modulus=Wrong Algorithm type\n';
  const hex = bigOf(der.decode(der.bitsOf(value)).children[0].body).toString(16).toUpperCase();
  return `Modulus=${hex.length % 2 ? `0${hex}` : hex}\n`;
}

exports.rsa = (words) => convert(words, { type: 'pkcs8', word: 'RSA' });
exports.ec = (words) => convert(words, { type: 'sec1', word: 'EC' });
exports.pkey = (words) => convert(words, { type: 'pkcs8' });

exports.genrsa = function genrsa(words) {
  const found = { cipher: undefined };
  const spec = { out: true, passout: true, traditional: false, 3: false, f4: false, F4: false, verbose: false, primes: true };
  const { options, rest } = parse(words, spec, cipherOption(found));
  const key = makeKey(`rsa:${rest[0] ?? '2048'}`, options[3] ? ['rsa_keygen_pubexp:3'] : []);
  const type = options.traditional ? 'pkcs1' : 'pkcs8';
  const passphrase = password(options.passout);
  writeOutput(options.out, privatePem(key, { type, cipher: found.cipher, passphrase }), { secret: true });
};

exports.genpkey = function genpkey(words) {
  const found = { cipher: undefined };
  const spec = { algorithm: true, pkeyopt: 'list', out: true, outform: true, pass: true, text: false, quiet: false };
  const { options } = parse(words, spec, cipherOption(found));
  if (options.algorithm === undefined) throw new Failure('-algorithm is needed: RSA, EC, ED25519 or X25519');
  const key = makeKey(options.algorithm, options.pkeyopt);
  const format = options.outform?.toLowerCase() === 'der' ? 'der' : 'pem';
  const made = privatePem(key, { cipher: found.cipher, passphrase: password(options.pass), format });
  writeOutput(options.out, options.text ? made + privateText(key) : made, { secret: true });
};

exports.ecparam = function ecparam(words) {
  const spec = { name: true, genkey: false, noout: false, out: true, list_curves: false, text: false, param_enc: true };
  const { options } = parse(words, spec);
  if (options.list_curves) {
    writeOutput(options.out, KNOWN_CURVES.map((c) => `  ${c}\n`).join(''));
    return;
  }
  if (options.name === undefined) throw new Failure('-name is needed: a curve of -list_curves');
  const curve = curveName(options.name);
  const key = crypto.generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
  const sec1 = key.export({ format: 'der', type: 'sec1' });
  const parameters = der.decode(sec1).children.find((c) => c.tag === 0xa0).body;
  const block = options.noout ? '' : der.toPem('EC PARAMETERS', parameters);
  const made = block + (options.genkey ? der.toPem('EC PRIVATE KEY', sec1) : '');
  writeOutput(options.out, made, { secret: options.genkey === true });
};

Object.assign(exports, {
  bigOf, cipherOption, hexLines, makeKey, modulusText, privatePem, publicOf, publicText, readPrivate, readPublic, spkiOf,
});
