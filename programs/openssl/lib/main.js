'use strict';

// The command line of `openssl`: those commands of OpenSSL 3.0 that need no network, on Node's
// crypto.
//
// | file | contents |
// |---|---|
// | `lib/options.js` | options, input and output, passwords |
// | `lib/der.js` | reading and writing DER, PEM |
// | `lib/names.js` | object identifiers, distinguished names |
// | `lib/keys.js` | `genrsa`, `genpkey`, `ecparam`, `rsa`, `ec`, `pkey` |
// | `lib/extensions.js` | extensions of certificates: made from a configuration, printed |
// | `lib/certificate.js` | the parts of certificates and requests |
// | `lib/req.js`, `lib/x509.js`, `lib/verify.js` | the command of that name |
// | `lib/digest.js` | `dgst` and the names of digests |
// | `lib/encrypt.js` | `enc`, `base64` and the names of ciphers |
// | `lib/password.js` | `passwd` |
// | `lib/simple.js` | `rand`, `version`, `prime`, `list` |
//
// Absent: TLS (`s_client`, `s_server`), PKCS #7 and #12, CMS, OCSP, CRLs, engines.

const { Failure } = require('./lib/options.js');

const COMMANDS = {
  base64: ['encrypt', 'base64'],
  dgst: ['digest', 'dgst'],
  ec: ['keys', 'ec'],
  ecparam: ['keys', 'ecparam'],
  enc: ['encrypt', 'enc'],
  genpkey: ['keys', 'genpkey'],
  genrsa: ['keys', 'genrsa'],
  list: ['simple', 'list'],
  passwd: ['password', 'passwd'],
  pkey: ['keys', 'pkey'],
  prime: ['simple', 'prime'],
  rand: ['simple', 'rand'],
  req: ['req', 'req'],
  rsa: ['keys', 'rsa'],
  verify: ['verify', 'verify'],
  version: ['simple', 'version'],
  x509: ['x509', 'x509'],
};

const REFUSED = {
  s_client: 'no TLS connections here; curl makes requests, as the policy allows',
  s_server: 'no TLS servers here',
  s_time: 'no TLS connections here',
  ca: 'not here; use x509 -req with -CA and -CAkey',
};

const HELP = `Usage: openssl COMMAND [OPTION]... [FILE]...

Keys, certificates, digests and ciphers, as OpenSSL 3.0 makes them.

  genrsa [-out FILE] [BITS]          make an RSA key
  genpkey -algorithm ALG             make a key: RSA, EC, ED25519, X25519 (-pkeyopt NAME:VALUE)
  ecparam -name CURVE -genkey        make a key on a curve
  rsa, ec, pkey -in FILE             convert a key; -pubout, -text, -noout, -check
  req -new -key FILE -subj /CN=NAME  make a request; with -x509 a certificate, with -newkey the key, too
  x509 -in FILE -noout -text         print a certificate; -subject, -issuer, -dates, -serial,
                                     -fingerprint, -ext NAMES, -checkend SECONDS; -req signs requests
  verify -CAfile FILE FILE...        check signatures, dates and issuers
  dgst [-sha256] [-hmac KEY] FILE... print digests; -sign and -verify; also openssl sha256 FILE
  enc -aes-256-cbc -pbkdf2 -in FILE  encrypt, with -d decrypt; also openssl aes-256-cbc
  base64 [-d] [-A] -in FILE          encode, decode
  rand [-hex|-base64] NUMBER         print random bytes
  passwd [-6|-5|-1|-apr1] WORD       hash a password
  prime NUMBER, list, version

Examples:
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 365 -subj /CN=localhost
  openssl x509 -in cert.pem -noout -subject -enddate
  openssl rand -hex 32
`;

function find(name) {
  if (COMMANDS[name]) return COMMANDS[name];
  const digest = require('./lib/digest.js');
  if (digest.isDigest(name)) return ['digest', 'dgst', `-${name}`];
  if (require('./lib/encrypt.js').isCipher(name)) return ['encrypt', 'enc', `-${name}`];
  return null;
}

/** Runs the command line; returns the exit status. */
exports.main = function main(words) {
  const [name, ...rest] = words;
  if (name === undefined || ['help', '-help', '--help', '-h'].includes(name)) {
    process.stdout.write(HELP);
    return 0;
  }
  try {
    const found = find(name === '--version' || name === '-v' ? 'version' : name);
    if (!found) {
      const why = REFUSED[name] ?? 'no such command here; openssl help lists those that are';
      throw new Failure(why);
    }
    const [file, fn, ...before] = found;
    return require(`./lib/${file}.js`)[fn]([...before, ...rest]) ?? 0;
  } catch (e) {
    if (!(e instanceof Failure) && e.code === undefined && !(e instanceof RangeError)) throw e;
    process.stderr.write(`openssl ${name}: ${e.message}\n`);
    return e.status ?? 1;
  }
};
