'use strict';

// The command line of `npm` and `npx`. It is a small part of npm's, with the same words and the
// same files: package.json, a lock file of version 3, node_modules and .npmrc. docs/javascript.md
// lists what is absent.

const { NpmError, warn } = require('./errors.js');

const VERSION = '11.0.0-wasibox';

// The options of all commands. `value` means that an option takes a value, `list` that it may be
// given several times, and `short` is its letter.
const OPTIONS = {
  'save-dev': { short: 'D' }, 'save-optional': { short: 'O' }, 'save-exact': { short: 'E' }, 'no-save': {}, save: { short: 'S' },
  omit: { value: true, list: true }, production: {}, 'dry-run': {}, 'package-lock-only': {}, 'no-package-lock': {},
  registry: { value: true }, prefix: { value: true, short: 'C' }, json: {}, all: { short: 'a' }, long: { short: 'l' }, depth: { value: true },
  yes: { short: 'y' }, force: { short: 'f' }, 'legacy-peer-deps': {}, 'strict-peer-deps': {}, 'if-present': {}, silent: { short: 's' },
  quiet: { short: 'q' }, version: { short: 'v' }, help: { short: 'h' }, package: { value: true, short: 'p', list: true }, call: { value: true, short: 'c' },
  'ignore-scripts': {}, 'no-audit': {}, 'no-fund': {}, audit: {}, fund: {}, 'prefer-offline': {}, 'no-progress': {}, loglevel: { value: true },
  'save-prod': { short: 'P' }, workspaces: {}, global: { short: 'g' },
};
const SHORTS = Object.fromEntries(Object.entries(OPTIONS).flatMap(([name, o]) => o.short ? [[o.short, name]] : []));

const COMMANDS = {
  install: ['./install.js', 'install', '[PACKAGE]...', 'install what package.json or the lock file names, and PACKAGEs'],
  ci: ['./install.js', 'ci', '', 'install exactly what the lock file names, into an empty node_modules'],
  uninstall: ['./install.js', 'uninstall', 'PACKAGE...', 'take PACKAGEs out'],
  update: ['./install.js', 'update', '[PACKAGE]...', 'install the newest versions that ranges allow'],
  ls: ['./ls.js', 'ls', '[PACKAGE]...', 'show what is installed'],
  run: ['./run.js', 'run', 'SCRIPT [-- ARG...]', 'run a script of package.json; without SCRIPT list them'],
  test: ['./run.js', 'test', '[-- ARG...]', 'run the script `test`; so do start, stop, restart'],
  exec: ['./run.js', 'exec', 'COMMAND [ARG]...', 'run a command of an installed package (also npx)'],
  init: ['./package.js', 'init', '-y', 'write a package.json'],
  pkg: ['./package.js', 'pkg', 'get|set|delete ...', 'read or change package.json'],
  view: ['./package.js', 'view', 'PACKAGE [FIELD]', 'what the registry says of PACKAGE'],
  config: ['./package.js', 'config', 'get NAME', 'show a setting'],
  root: ['./package.js', 'root', '', 'show the path of node_modules'],
  prefix: ['./package.js', 'prefix', '', 'show the folder of package.json'],
};
const ALIASES = {
  i: 'install', add: 'install', in: 'install', 'clean-install': 'ci', remove: 'uninstall', rm: 'uninstall', r: 'uninstall', un: 'uninstall',
  up: 'update', upgrade: 'update', list: 'ls', ll: 'ls', la: 'ls', 'run-script': 'run', t: 'test', tst: 'test', x: 'exec', create: 'init',
  info: 'view', show: 'view', v: 'view', c: 'config', get: 'config',
};
const SCRIPTS = ['start', 'stop', 'restart'];

function help() {
  const lines = Object.values(COMMANDS).map(([, name, words, text]) => `  npm ${`${name} ${words}`.padEnd(30)} ${text}`);
  const options = Object.entries(OPTIONS).map(([name, o]) => `${o.short ? `-${o.short}, ` : ''}--${name}`).join('  ');
  return `Usage: npm COMMAND [OPTION]... [ARG]...\n\n${lines.join('\n')}\n\nOptions: ${options}\n\n` +
    'Scripts of packages that are installed never run, and native code is not built.\n';
}

// Splits words into options and the rest. Words after `--`, or after the command of `exec`, are not
// parsed.
function parse(words) {
  const options = { __proto__: null, omit: [], package: [] };
  const rest = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === '--') {
      rest.push(...words.slice(at + 1));
      options.passed = true;
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      rest.push(word);
      if (rest.length === 2 && ['exec', 'x'].includes(rest[0]) && options.package.length === 0) {
        rest.push(...words.slice(at + 1));
        break;
      }
      continue;
    }
    const [, long, equals, given] = /^--?([^=]+)(=)?(.*)$/s.exec(word);
    const name = word.startsWith('--') ? long : SHORTS[long];
    const known = name === undefined ? undefined : OPTIONS[name] ?? (name.startsWith('no-') ? OPTIONS[name.slice(3)] : undefined);
    if (known === undefined) throw new NpmError('EUSAGE', `unknown option: ${word}\nTry 'npm --help' for what there is.`);
    if (known.value) {
      const value = equals ? given : words[++at];
      if (value === undefined) throw new NpmError('EUSAGE', `${word} needs a value`);
      if (known.list) options[name].push(value);
      else options[name] = value;
    } else {
      options[name] = given !== 'false';
    }
  }
  if (options.production) options.omit.push('dev');
  return { options, rest };
}

async function main(words, as = 'npm') {
  try {
    const { options, rest } = parse(words);
    let [name, ...args] = rest;
    if (options.version && (name === undefined || as === 'npx')) {
      console.log(VERSION);
      return;
    }
    if (name === undefined || name === 'help' || options.help) {
      console.log(help());
      process.exitCode = name === undefined && !options.help ? 1 : 0;
      return;
    }
    if (options.global) throw new NpmError('EUSAGE', 'nothing can be installed globally here; install it in a folder and use npx');
    if (ALIASES[name] === 'config' && name === 'get') args = ['get', ...args];
    name = ALIASES[name] ?? name;
    if (SCRIPTS.includes(name)) [name, args] = ['run', [name, ...args]];
    const command = COMMANDS[name];
    if (command === undefined) throw new NpmError('EUSAGE', `Unknown command: "${name}"\nTry 'npm help' for what there is.`);
    process.exitCode = await require(command[0])[command[1]](args, options) ?? 0;
  } catch (error) {
    if (!(error instanceof NpmError)) {
      warn('error', error?.stack ?? String(error));
    } else {
      warn('error', `code ${error.code}`);
      for (const line of error.message.split('\n')) warn('error', line);
    }
    process.exitCode = error.status ?? 1;
  }
}

module.exports = { main, VERSION };
