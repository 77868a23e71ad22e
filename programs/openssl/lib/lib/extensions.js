'use strict';

// Extensions of certificates: made from lines of a configuration (x509v3_config(5)), and printed.

const net = require('node:net');
const crypto = require('node:crypto');
const der = require('./der.js');
const { bigOf } = require('./keys.js');
const { identifier, nameText, objectOf } = require('./names.js');
const { Failure, readInput } = require('./options.js');

const USAGES = [
  ['digitalSignature', 'Digital Signature'], ['nonRepudiation', 'Non Repudiation'],
  ['keyEncipherment', 'Key Encipherment'], ['dataEncipherment', 'Data Encipherment'], ['keyAgreement', 'Key Agreement'],
  ['keyCertSign', 'Certificate Sign'], ['cRLSign', 'CRL Sign'], ['encipherOnly', 'Encipher Only'],
  ['decipherOnly', 'Decipher Only'],
];

/** Reads a configuration: sections of names and values. */
function readConfig(path) {
  const sections = { __proto__: null, default: [] };
  let current = sections.default;
  const text = readInput(path).toString().replace(/\\\r?\n/g, '');
  for (const line of text.split(/\r?\n/)) {
    const plain = line.replace(/(^|\s)#.*$/, '').trim();
    const heading = /^\[\s*(.*?)\s*\]$/.exec(plain);
    if (heading) {
      current = sections[heading[1]] ??= [];
    } else if (plain) {
      const at = plain.indexOf('=');
      if (at < 0) throw new Failure(`${path}: no = in the line ${plain}`);
      const value = plain.slice(at + 1).trim().replace(/^(["'])(.*)\1$/, '$2');
      current.push([plain.slice(0, at).trim(), value.replace(/\$\{?(?:ENV::(\w+))\}?/g, (_, n) => process.env[n] ?? '')]);
    }
  }
  return sections;
}

const lookup = (section, name) => section?.findLast(([n]) => n === name)?.[1];

/** Returns the pairs of a list `a:b,c:d`, in which `@NAME` stands for a section. */
function listOf(value, config) {
  return value.split(',').map((part) => part.trim()).filter(Boolean).flatMap((part) => {
    if (!part.startsWith('@')) return [part];
    const section = config[part.slice(1)];
    if (!section) throw new Failure(`there is no section ${part.slice(1)}`);
    return section.map(([name, v]) => `${name.replace(/\.\d+$/, '')}:${v}`);
  });
}

function addressBytes(text) {
  if (net.isIPv4(text)) return Buffer.from(text.split('.').map(Number));
  if (!net.isIPv6(text)) throw new Failure(`bad ip address: ${text}`);
  const [head, tail] = text.split('::').map((half) => half.split(':').filter(Boolean));
  const groups = tail === undefined ? head : [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.from(groups.map((g) => g.padStart(4, '0')).join(''), 'hex');
}

/** Returns the alternative names of a list such as `DNS:a,IP:127.0.0.1`. */
function generalNames(value, config) {
  const names = listOf(value, config).map((part) => {
    const at = part.indexOf(':');
    const [kind, text] = [part.slice(0, at), part.slice(at + 1).trim()];
    switch (kind) {
      case 'email':
        return der.encode(0x81, Buffer.from(text));
      case 'DNS':
        return der.encode(0x82, Buffer.from(text));
      case 'URI':
        return der.encode(0x86, Buffer.from(text));
      case 'IP':
        return der.encode(0x87, addressBytes(text));
      case 'RID':
        return der.encode(0x88, der.decode(der.oid(text)).body);
      default:
        throw new Failure(`unsupported type of name: ${part}`);
    }
  });
  return der.sequence(...names);
}

function usageBits(value) {
  let bits = 0;
  for (const word of value.split(',').map((w) => w.trim())) {
    const at = USAGES.findIndex((names) => names.includes(word));
    if (at < 0) throw new Failure(`unknown key usage: ${word}`);
    bits |= 0x8000 >> at;
  }
  const bytes = bits & 0xff ? [bits >> 8, bits & 0xff] : [bits >> 8];
  let unused = 0;
  while (unused < 8 && !(bytes.at(-1) & (1 << unused))) unused++;
  return der.bits(Buffer.from(bytes), unused === 8 ? 0 : unused);
}

function constraints(value) {
  const parts = [];
  for (const word of value.split(',').map((w) => w.trim())) {
    const [name, text] = word.split(':');
    if (name === 'CA') {
      if (/^(true|yes|y)$/i.test(text)) parts.unshift(der.encode(der.TAG.boolean, 0xff));
    } else if (name === 'pathlen') {
      parts.push(der.integer(Number(text)));
    } else {
      throw new Failure(`bad basic constraint: ${word}`);
    }
  }
  return der.sequence(...parts);
}

/** Returns the identifier of a public key: the SHA-1 of its bits. */
const keyId = (spki) => crypto.createHash('sha1').update(der.bitsOf(der.decode(spki).children[1])).digest();

/**
 * Makes extensions from pairs of name and value; later ones replace earlier ones. `context` has the
 * configuration, the subject's and the issuer's public key, and the issuer's certificate.
 */
function makeExtensions(pairs, context) {
  const made = new Map();
  for (const [name, whole] of pairs) {
    const id = identifier(name);
    if (id === null) throw new Failure(`unknown extension name: ${name}`);
    const critical = /^critical\s*,/.test(whole);
    const value = extensionValue(name, whole.replace(/^critical\s*,\s*/, ''), context);
    if (value === null) continue;
    const flag = critical ? [der.encode(der.TAG.boolean, 0xff)] : [];
    made.set(id, der.sequence(der.oid(id), ...flag, der.octets(value)));
  }
  return [...made.values()];
}

function extensionValue(name, value, { config = {}, subjectKey, issuerKey, issuerId }) {
  switch (name) {
    case 'basicConstraints':
      return constraints(value);
    case 'keyUsage':
      return usageBits(value);
    case 'extendedKeyUsage':
      return der.sequence(...value.split(',').map((w) => {
        const id = identifier(w.trim());
        if (id === null) throw new Failure(`unknown extended key usage: ${w.trim()}`);
        return der.oid(id);
      }));
    case 'subjectAltName':
    case 'issuerAltName':
      return generalNames(value, config);
    case 'subjectKeyIdentifier':
      if (value === 'none') return null;
      return der.octets(value === 'hash' ? keyId(subjectKey) : Buffer.from(value.replace(/:/g, ''), 'hex'));
    case 'authorityKeyIdentifier':
      if (value === 'none' || !/keyid/.test(value)) return null;
      return der.sequence(der.encode(0x80, issuerId ?? keyId(issuerKey)));
    case 'crlDistributionPoints':
      return der.sequence(...listOf(value, config).map((part) =>
        der.sequence(der.context(0, der.context(0, ...der.decode(generalNames(part, config)).children.map((c) => c.whole))))));
    case 'authorityInfoAccess':
      return der.sequence(...listOf(value, config).map((part) => {
        const at = part.indexOf(';');
        const place = der.decode(generalNames(part.slice(at + 1), config)).children[0].whole;
        return der.sequence(der.oid(identifier(part.slice(0, at))), place);
      }));
    case 'certificatePolicies':
      return der.sequence(...value.split(',').map((w) => der.sequence(der.oid(w.trim()))));
    case 'nsComment':
      return der.encode(der.TAG.ia5, Buffer.from(value));
    default:
      throw new Failure(`the extension ${name} cannot be made here`);
  }
}

const colons = (bytes) => (bytes.toString('hex').toUpperCase().match(/../g) ?? []).join(':');

/** Returns a name such as `DNS:localhost`. */
function generalNameText(value) {
  const text = value.body.toString('latin1');
  switch (value.tag) {
    case 0x81:
      return `email:${text}`;
    case 0x82:
      return `DNS:${text}`;
    case 0xa4:
      return `DirName:${nameText(value.children[0])}`;
    case 0x86:
      return `URI:${text}`;
    case 0x87:
      if (value.body.length === 4) return `IP Address:${[...value.body].join('.')}`;
      return `IP Address:${value.body.toString('hex').match(/.{4}/g).map((g) => parseInt(g, 16).toString(16).toUpperCase()).join(':')}`;
    case 0x88:
      return `Registered ID:${objectOf(der.oidText(value)).long}`;
    default:
      return 'othername:<unsupported>';
  }
}

/** Returns the parts of an encoded extension. */
function partsOf(extension) {
  const [id, ...rest] = extension.children;
  const critical = rest[0].tag === der.TAG.boolean && rest[0].body[0] !== 0;
  return { object: objectOf(der.oidText(id)), critical, value: rest.at(-1).body };
}

const namesText = (value) => value.children.map(generalNameText).join(', ');

/** Prints the value of an extension: one text of one or several lines, without a line end. */
function valueText(object, bytes) {
  const dump = () => [...bytes].map((b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : '.')).join('');
  const pad = ' '.repeat(16);
  let value;
  try {
    value = der.decode(bytes);
  } catch {
    return dump();
  }
  switch (object.short) {
    case 'basicConstraints': {
      const [ca, length] = value.children[0]?.tag === der.TAG.boolean ? value.children : [null, value.children[0]];
      return `CA:${ca ? 'TRUE' : 'FALSE'}${length ? `, pathlen:${bigOf(length.body)}` : ''}`;
    }
    case 'keyUsage': {
      const bits = (value.body[1] << 8) | (value.body[2] ?? 0);
      return USAGES.filter((_, n) => bits & (0x8000 >> n)).map((names) => names[1]).join(', ');
    }
    case 'extendedKeyUsage':
      return value.children.map((c) => objectOf(der.oidText(c)).long).join(', ');
    case 'subjectAltName':
    case 'issuerAltName':
      return namesText(value);
    case 'subjectKeyIdentifier':
      return colons(value.body);
    case 'authorityKeyIdentifier':
      return value.children.map((c) => {
        if (c.tag === 0x80) return (value.children.length > 1 ? 'keyid:' : '') + colons(c.body);
        return c.tag === 0xa1 ? namesText(c) : `serial:${colons(c.body)}`;
      }).join(`\n${pad}`);
    case 'crlDistributionPoints':
      return value.children.map((point) => {
        const names = point.children[0]?.children[0]?.children ?? [];
        return `Full Name:\n${names.map((n) => `${pad}  ${generalNameText(n)}`).join('\n')}`;
      }).join(`\n${pad}`);
    case 'authorityInfoAccess':
      return value.children
        .map((c) => `${objectOf(der.oidText(c.children[0])).long} - ${generalNameText(c.children[1])}`)
        .join(`\n${pad}`);
    case 'certificatePolicies':
      return value.children.map((c) => `Policy: ${objectOf(der.oidText(c.children[0])).long}`).join(`\n${pad}`);
    case 'nsComment':
      return value.body.toString('latin1');
    default:
      return dump();
  }
}

/** Prints extensions with an indentation of their names. */
function extensionsText(extensions, indent) {
  const pad = ' '.repeat(indent);
  return extensions.map(partsOf).map(({ object, critical, value }) => {
    const lines = valueText(object, value).replaceAll(`\n${' '.repeat(16)}`, `\n${pad}    `);
    return `${pad}${object.long}: ${critical ? 'critical' : ''}\n${pad}    ${lines}\n`;
  }).join('');
}

module.exports = { extensionsText, keyId, lookup, makeExtensions, partsOf, readConfig };
