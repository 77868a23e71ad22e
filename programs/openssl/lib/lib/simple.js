'use strict';

// `rand`, `version`, `prime`, `list`.

const crypto = require('node:crypto');
const { Failure, number, parse, writeOutput } = require('./options.js');
const { digestNames } = require('./digest.js');
const { cipherNames } = require('./encrypt.js');

// The version whose behaviour the commands have.
const FOLLOWED = 'OpenSSL 3.0.19 27 Jan 2026';

exports.rand = function rand(words) {
  const { options, rest } = parse(words, { hex: false, base64: false, out: true });
  if (rest.length !== 1) throw new Failure('the number of bytes is needed');
  const bytes = crypto.randomBytes(number(rest[0], 'the number of bytes'));
  if (options.hex) writeOutput(options.out, `${bytes.toString('hex')}\n`);
  else if (options.base64) writeOutput(options.out, bytes.toString('base64').replace(/.{1,64}/g, '$&\n'));
  else writeOutput(options.out, bytes);
};

exports.version = function version(words) {
  const { options } = parse(words, { a: false, v: false, b: false, d: false, f: false, o: false, p: false, r: false });
  const whole = 'Wasibox: a program of its own that behaves as this version does, on the crypto of Node.\n';
  writeOutput(undefined, `${FOLLOWED}\n${options.a ? whole : ''}`);
};

exports.prime = function prime(words) {
  const { options, rest } = parse(words, { hex: false, generate: false, bits: true, safe: false, checks: true });
  if (options.generate) {
    if (!options.bits) throw new Failure('Specify the number of bits.');
    const made = crypto.generatePrimeSync(number(options.bits, '-bits'), { bigint: true, safe: options.safe === true });
    writeOutput(undefined, `${options.hex ? made.toString(16).toUpperCase() : made}\n`);
    return;
  }
  if (rest.length === 0) throw new Failure('Missing number to check');
  for (const text of rest) {
    let value;
    try {
      value = BigInt(options.hex ? `0x${text}` : text);
    } catch {
      throw new Failure(`Failed to process value (${text})`);
    }
    const is = crypto.checkPrimeSync(value) ? 'is' : 'is not';
    writeOutput(undefined, `${value.toString(16).toUpperCase()} (${text}) ${is} prime\n`);
  }
};

exports.list = function list(words) {
  const kinds = { 'digest-commands': digestNames, 'digest-algorithms': digestNames, 'cipher-commands': cipherNames,
    'cipher-algorithms': cipherNames };
  const { options } = parse(words, Object.fromEntries(Object.keys(kinds).map((k) => [k, false])));
  const chosen = Object.keys(options);
  if (chosen.length === 0) throw new Failure(`one of ${Object.keys(kinds).map((k) => `-${k}`).join(', ')} is needed`);
  for (const kind of chosen) writeOutput(undefined, kinds[kind]().map((name) => `${name}\n`).join(''));
};
