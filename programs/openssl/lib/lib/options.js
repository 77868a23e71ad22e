'use strict';

// Options of one dash, input and output, passwords.

const fs = require('node:fs');

/** A failure whose message is for the user. */
class Failure extends Error {
  constructor(message, status = 1) {
    super(message);
    this.status = status;
  }
}

/**
 * Parses words. `spec` has an entry for each option: `true` takes a value, `false` none, `'list'`
 * several values. `other` gets an option that is not listed and returns whether it knows it.
 */
function parse(words, spec, other = () => false) {
  const options = { __proto__: null };
  const rest = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word.startsWith('-') || word === '-') {
      rest.push(...words.slice(at));
      break;
    }
    const name = word.replace(/^--?/, '');
    if (!(name in spec)) {
      if (other(name)) continue;
      throw new Failure(`Unknown option: ${word}`);
    }
    if (!spec[name]) {
      options[name] = true;
      continue;
    }
    if (++at >= words.length) throw new Failure(`Option ${word} needs a value`);
    if (spec[name] === 'list') (options[name] ??= []).push(words[at]);
    else options[name] = words[at];
  }
  return { options, rest };
}

/** Returns the bytes of a file, or of standard input. */
function readInput(path) {
  try {
    return fs.readFileSync(path === undefined || path === '-' ? 0 : path);
  } catch (e) {
    if (e.code === 'EOF') return Buffer.alloc(0);
    const why = e.code === 'ENOENT' ? 'No such file or directory' : e.message;
    throw new Failure(`Can't open "${path ?? 'standard input'}" for reading, ${why}`);
  }
}

/** Writes bytes to a file, or to standard output. A private key's file is the owner's alone. */
function writeOutput(path, data, { secret = false } = {}) {
  if (path === undefined || path === '-') {
    let bytes = Buffer.from(data);
    while (bytes.length > 0) bytes = bytes.subarray(fs.writeSync(1, bytes));
    return;
  }
  try {
    fs.writeFileSync(path, data, secret ? { mode: 0o600 } : {});
  } catch (e) {
    throw new Failure(`Can't open "${path}" for writing, ${e.message}`);
  }
}

/** Returns the password that an argument such as `pass:WORD` or `env:NAME` names. */
function password(argument) {
  if (argument === undefined) return undefined;
  const [kind, ...rest] = argument.split(':');
  const value = rest.join(':');
  const line = (text) => text.toString().split('\n')[0];
  switch (kind) {
    case 'pass':
      return value;
    case 'env':
      if (process.env[value] === undefined) throw new Failure(`no environment variable ${value}`);
      return process.env[value];
    case 'file':
      return line(readInput(value));
    case 'fd':
      return line(fs.readFileSync(Number(value)));
    case 'stdin':
      return line(readInput());
    default:
      throw new Failure(`Invalid password argument, missing pass:, env:, file: or stdin`);
  }
}

function number(text, what) {
  if (!/^-?\d+$/.test(text)) throw new Failure(`${what}: "${text}" is not a number`);
  return Number(text);
}

module.exports = { Failure, number, parse, password, readInput, writeOutput };
