'use strict';

// `verify`: checks chains of certificates: issuers, signatures, dates, and whether issuers may issue.

const der = require('./der.js');
const { extensionOf, isSignedBy, readCertificate, readCertificates } = require('./certificate.js');
const { publicOf } = require('./keys.js');
const { nameText } = require('./names.js');
const { Failure, parse, writeOutput } = require('./options.js');

const DEEPEST = 100;

// Numbers and texts of X509_verify_cert_error_string(3).
const ERRORS = {
  7: 'certificate signature failure', 9: 'certificate is not yet valid', 10: 'certificate has expired',
  18: 'self-signed certificate', 19: 'self-signed certificate in certificate chain',
  20: 'unable to get local issuer certificate', 22: 'certificate chain too long', 79: 'invalid CA certificate',
};

const spec = {
  CAfile: true, trusted: 'list', untrusted: 'list', partial_chain: false, no_check_time: false, verbose: false, show_chain: false,
  'no-CAfile': false, 'no-CApath': false, 'no-CAstore': false, CApath: true, purpose: true, x509_strict: false,
};

exports.verify = function verify(words) {
  const { options, rest } = parse(words, spec);
  if (options.CApath !== undefined) throw new Failure('-CApath is not here; -CAfile takes a file with all certificates');
  const trustFiles = [...(options.CAfile === undefined ? [] : [options.CAfile]), ...(options.trusted ?? [])];
  const trusted = trustFiles.flatMap((file) => readCertificates(file));
  const others = (options.untrusted ?? []).flatMap((file) => readCertificates(file));
  let status = 0;
  for (const file of rest.length ? rest : [undefined]) {
    const fault = faultOf(readCertificate(file), trusted, others, options);
    if (fault === null) {
      writeOutput(undefined, `${file ?? 'stdin'}: OK\n`);
      continue;
    }
    process.stderr.write(`${nameText(fault.of.subject)}\nerror ${fault.number} at ${fault.depth} depth lookup: ` +
      `${ERRORS[fault.number]}\nerror ${file ?? 'stdin'}: verification failed\n`);
    status = 2;
  }
  return status;
};

const isSame = (a, b) => a.bytes.equals(b.bytes);
const isIssuer = (c, of) => c.subject.whole.equals(of.issuer.whole);

/** Returns the first fault of a certificate's chain, or null. */
function faultOf(certificate, trusted, others, options) {
  const chain = [certificate];
  let anchor = null;
  while (anchor === null) {
    const last = chain.at(-1);
    const depth = chain.length - 1;
    if (depth > DEEPEST) return { number: 22, depth, of: last };
    if (trusted.some((t) => isSame(t, last)) && (isIssuer(last, last) || options.partial_chain)) {
      anchor = last;
      break;
    }
    const root = trusted.find((t) => isIssuer(t, last));
    if (root) {
      chain.push(root);
      if (isIssuer(root, root) || options.partial_chain) anchor = root;
      continue;
    }
    if (isIssuer(last, last)) return { number: depth === 0 ? 18 : 19, depth, of: last };
    const next = others.find((o) => isIssuer(o, last));
    if (!next) return { number: 20, depth, of: last };
    chain.push(next);
  }
  const now = Date.now();
  for (let depth = chain.length - 1; depth >= 0; depth--) {
    const of = chain[depth];
    const fault = (number) => ({ number, depth, of });
    if (depth > 0 && !mayIssue(of)) return fault(79);
    const issuer = chain[depth + 1] ?? of;
    if (isIssuer(issuer, of) && !isSignedBy(of.whole, publicOf(issuer.spki))) return fault(7);
    if (!options.no_check_time && now < of.from.getTime()) return fault(9);
    if (!options.no_check_time && now > of.to.getTime()) return fault(10);
  }
  return null;
}

/** Returns whether a certificate is an authority's; one of version 1 that is trusted counts as one. */
function mayIssue(c) {
  const constraints = extensionOf(c, 'basicConstraints');
  if (!constraints) return c.version === 1;
  return constraints.children[0]?.tag === der.TAG.boolean;
}
