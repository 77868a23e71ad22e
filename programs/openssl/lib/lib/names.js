'use strict';

// Object identifiers with OpenSSL's names, and distinguished names.

const der = require('./der.js');
const { Failure } = require('./options.js');

// Identifier, short name, long name.
const OBJECTS = [
  ['2.5.4.3', 'CN', 'commonName'],
  ['2.5.4.4', 'SN', 'surname'],
  ['2.5.4.5', 'serialNumber', 'serialNumber'],
  ['2.5.4.6', 'C', 'countryName'],
  ['2.5.4.7', 'L', 'localityName'],
  ['2.5.4.8', 'ST', 'stateOrProvinceName'],
  ['2.5.4.9', 'street', 'streetAddress'],
  ['2.5.4.10', 'O', 'organizationName'],
  ['2.5.4.11', 'OU', 'organizationalUnitName'],
  ['2.5.4.12', 'title', 'title'],
  ['2.5.4.17', 'postalCode', 'postalCode'],
  ['2.5.4.42', 'GN', 'givenName'],
  ['1.2.840.113549.1.9.1', 'emailAddress', 'emailAddress'],
  ['0.9.2342.19200300.100.1.1', 'UID', 'userId'],
  ['0.9.2342.19200300.100.1.25', 'DC', 'domainComponent'],
  ['1.2.840.113549.1.9.14', 'extReq', 'Extension Request'],
  ['1.2.840.113549.1.1.1', 'rsaEncryption', 'rsaEncryption'],
  ['1.2.840.113549.1.1.4', 'RSA-MD5', 'md5WithRSAEncryption'],
  ['1.2.840.113549.1.1.5', 'RSA-SHA1', 'sha1WithRSAEncryption'],
  ['1.2.840.113549.1.1.11', 'RSA-SHA256', 'sha256WithRSAEncryption'],
  ['1.2.840.113549.1.1.12', 'RSA-SHA384', 'sha384WithRSAEncryption'],
  ['1.2.840.113549.1.1.13', 'RSA-SHA512', 'sha512WithRSAEncryption'],
  ['1.2.840.113549.1.1.14', 'RSA-SHA224', 'sha224WithRSAEncryption'],
  ['1.2.840.10045.2.1', 'id-ecPublicKey', 'id-ecPublicKey'],
  ['1.2.840.10045.4.1', 'ecdsa-with-SHA1', 'ecdsa-with-SHA1'],
  ['1.2.840.10045.4.3.1', 'ecdsa-with-SHA224', 'ecdsa-with-SHA224'],
  ['1.2.840.10045.4.3.2', 'ecdsa-with-SHA256', 'ecdsa-with-SHA256'],
  ['1.2.840.10045.4.3.3', 'ecdsa-with-SHA384', 'ecdsa-with-SHA384'],
  ['1.2.840.10045.4.3.4', 'ecdsa-with-SHA512', 'ecdsa-with-SHA512'],
  ['1.2.840.10045.3.1.7', 'prime256v1', 'prime256v1', 'P-256'],
  ['1.3.132.0.34', 'secp384r1', 'secp384r1', 'P-384'],
  ['1.3.132.0.35', 'secp521r1', 'secp521r1', 'P-521'],
  ['1.3.132.0.10', 'secp256k1', 'secp256k1'],
  ['1.3.101.110', 'X25519', 'X25519'],
  ['1.3.101.112', 'ED25519', 'ED25519'],
  ['2.5.29.14', 'subjectKeyIdentifier', 'X509v3 Subject Key Identifier'],
  ['2.5.29.15', 'keyUsage', 'X509v3 Key Usage'],
  ['2.5.29.17', 'subjectAltName', 'X509v3 Subject Alternative Name'],
  ['2.5.29.18', 'issuerAltName', 'X509v3 Issuer Alternative Name'],
  ['2.5.29.19', 'basicConstraints', 'X509v3 Basic Constraints'],
  ['2.5.29.31', 'crlDistributionPoints', 'X509v3 CRL Distribution Points'],
  ['2.5.29.32', 'certificatePolicies', 'X509v3 Certificate Policies'],
  ['2.5.29.35', 'authorityKeyIdentifier', 'X509v3 Authority Key Identifier'],
  ['2.5.29.37', 'extendedKeyUsage', 'X509v3 Extended Key Usage'],
  ['2.16.840.1.113730.1.13', 'nsComment', 'Netscape Comment'],
  ['1.3.6.1.5.5.7.1.1', 'authorityInfoAccess', 'Authority Information Access'],
  ['1.3.6.1.4.1.11129.2.4.2', 'ct_precert_scts', 'CT Precertificate SCTs'],
  ['1.3.6.1.5.5.7.3.1', 'serverAuth', 'TLS Web Server Authentication'],
  ['1.3.6.1.5.5.7.3.2', 'clientAuth', 'TLS Web Client Authentication'],
  ['1.3.6.1.5.5.7.3.3', 'codeSigning', 'Code Signing'],
  ['1.3.6.1.5.5.7.3.4', 'emailProtection', 'E-mail Protection'],
  ['1.3.6.1.5.5.7.3.8', 'timeStamping', 'Time Stamping'],
  ['1.3.6.1.5.5.7.3.9', 'OCSPSigning', 'OCSP Signing'],
  ['1.3.6.1.5.5.7.48.1', 'OCSP', 'OCSP'],
  ['1.3.6.1.5.5.7.48.2', 'caIssuers', 'CA Issuers'],
];

/** Returns the row of an identifier, or one without names. */
function objectOf(dotted) {
  const [, short, long, nist] = OBJECTS.find((row) => row[0] === dotted) ?? [dotted, dotted, dotted];
  return { dotted, short, long, nist };
}

/** Returns the identifier with a short or long name, or of a dotted text. */
function identifier(name) {
  const row = OBJECTS.find((r) => r[1] === name || r[2] === name);
  if (row) return row[0];
  return /^\d+(\.\d+)+$/.test(name) ? name : null;
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;

function attribute(name, value) {
  const id = identifier(name);
  if (id === null) throw new Failure(`the attribute ${name} of the subject is unknown`);
  if (id === '2.5.4.6' && value.length !== 2) throw new Failure('countryName has two letters');
  const ascii = /^[\x00-\x7f]*$/.test(value);
  let tag = der.TAG.utf8;
  if (name === 'emailAddress' || name === 'DC') tag = ascii ? der.TAG.ia5 : tag;
  else if (id === '2.5.4.6' || id === '2.5.4.5') tag = PRINTABLE.test(value) ? der.TAG.printable : tag;
  return der.set(der.sequence(der.oid(id), der.encode(tag, Buffer.from(value))));
}

/** Returns the encoded name of pairs of attribute and value. */
const nameOf = (pairs) => der.sequence(...pairs.filter(([, v]) => v !== '').map(([n, v]) => attribute(n, v)));

/** Returns the pairs of a text like `/C=DE/CN=x`, in which a backslash quotes. */
function parseSubject(text) {
  if (!text.startsWith('/')) {
    throw new Failure(`subject name is expected to be in the format /type0=value0/type1=value1/type2=...`);
  }
  const pairs = [];
  let part = '';
  const finish = () => {
    const at = part.indexOf('=');
    if (part !== '' && at < 0) throw new Failure(`the part ${part} of the subject has no =`);
    if (part !== '') pairs.push([part.slice(0, at).trim(), part.slice(at + 1)]);
    part = '';
  };
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '\\' && at + 1 < text.length) part += text[++at];
    else if (text[at] === '/') finish();
    else part += text[at];
  }
  finish();
  return pairs;
}

// Characters that OpenSSL quotes in its one line (RFC 2253), and puts into quotation marks in the usual form.
const quoteValue = (value) =>
  /[,+"\\<>;]|^[ #]|^ | $/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value;
const escapeValue = (value) =>
  value.replace(/[,+"\\<>;]/g, '\\$&').replace(/^[ #]/, '\\$&').replace(/ $/, '\\ ');

/** Returns the pairs of an encoded name, one list for each of its sets. */
function pairsOf(name) {
  return name.children.map((one) =>
    one.children.map((pair) => [objectOf(der.oidText(pair.children[0])), der.textOf(pair.children[1])]));
}

/** Prints a name. `style` is an option of `-nameopt`: oneline, RFC2253, multiline, compat, sep_... */
function nameText(name, style = 'oneline') {
  const groups = pairsOf(name);
  switch (style.toLowerCase()) {
    case 'rfc2253':
      return groups
        .map((g) => g.map(([o, v]) => `${o.short}=${escapeValue(v)}`).join('+')).reverse().join(',');
    case 'compat':
      return groups.map((g) => g.map(([o, v]) => `/${o.short}=${v}`).join('')).join('');
    case 'multiline':
      return groups
        .map((g) => g.map(([o, v]) => `\n    ${o.long.padEnd(25)} = ${v}`).join('')).join('');
    default:
      return groups
        .map((g) => g.map(([o, v]) => `${o.short} = ${quoteValue(v)}`).join(' + ')).join(', ');
  }
}

module.exports = { identifier, nameOf, nameText, objectOf, pairsOf, parseSubject };
