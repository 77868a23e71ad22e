'use strict';

// Commands about package.json (`init`, `pkg`), one package of the registry (`view`), and settings
// and paths (`config`, `root`, `prefix`).

const path = require('path');
const { Config } = require('./config.js');
const { readJson, writeJson } = require('./lock.js');
const { Registry, parseArgument, parseRange } = require('./registry.js');
const { NpmError } = require('./errors.js');

function init(args, options) {
  if (args.length > 0) throw new NpmError('EUSAGE', 'npm init: initializers of the registry are not run here; use `npm init -y`');
  const folder = path.resolve(options.prefix ?? '.');
  const file = path.join(folder, 'package.json');
  const { value, indent, there } = readJson(file, {});
  const name = path.basename(folder).toLowerCase().replace(/[^a-z0-9._~-]+/g, '-').replace(/^[._-]+/, '') || 'package';
  const made = {
    name, version: '1.0.0', description: '', main: 'index.js',
    scripts: { test: 'echo "Error: no test specified" && exit 1' }, keywords: [], author: '', license: 'ISC', type: 'commonjs', ...value,
  };
  writeJson(file, made, indent);
  console.log(`${there ? 'Kept' : 'Wrote to'} ${file}:\n\n${JSON.stringify(made, null, 2)}\n`);
  return 0;
}

// Splits a key such as `a.b[0].c` into its parts.
const parts = (key) => key.split(/\.|\[|\]/).filter((p) => p !== '');

function pkg([what, ...args], options) {
  const config = new Config(options);
  const file = path.join(config.root, 'package.json');
  const { value, indent } = readJson(file);
  const reach = (key) => parts(key).reduce((at, part) => at?.[part], value);
  if (what === 'get') {
    const shown = args.length === 0 ? value : args.length === 1 ? reach(args[0]) ?? {} : Object.fromEntries(args.map((k) => [k, reach(k)]));
    console.log(JSON.stringify(shown, null, 2));
    return 0;
  }
  if (what !== 'set' && what !== 'delete') throw new NpmError('EUSAGE', 'usage: npm pkg get|set|delete KEY[=VALUE]...');
  for (const arg of args) {
    const [, key, text] = /^([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (key === undefined || (what === 'set' && text === undefined)) throw new NpmError('EUSAGE', `npm pkg ${what}: '${arg}' is no KEY${what === 'set' ? '=VALUE' : ''}`);
    const names = parts(key);
    if (names.some((n) => ['__proto__', 'constructor', 'prototype'].includes(n))) throw new NpmError('EUSAGE', `npm pkg: '${key}' is no key`);
    const last = names.pop();
    let at = value;
    for (const name of names) at = at[name] ??= {};
    if (what === 'delete') delete at[last];
    else at[last] = options.json ? JSON.parse(text) : text;
  }
  writeJson(file, value, indent);
  return 0;
}

async function view([what, ...fields], options) {
  if (what === undefined) throw new NpmError('EUSAGE', 'npm view: no package is named');
  const config = new Config(options);
  const registry = new Registry(config);
  const { name, range } = parseArgument(what, config.root);
  const all = await registry.packument(name);
  const one = await registry.pick(name, parseRange(range, config.root));
  const whole = { ...one, versions: Object.keys(all.versions), 'dist-tags': all['dist-tags'] };
  const reach = (key) => parts(key).reduce((at, part) => at?.[part], whole);
  if (fields.length === 0) {
    if (options.json) console.log(JSON.stringify(whole, null, 2));
    else console.log(`${one.name}@${one.version} | ${one.license ?? 'Proprietary'} | deps: ${Object.keys(one.dependencies ?? {}).length} | versions: ${whole.versions.length}\n${one.description ?? ''}`);
    return 0;
  }
  for (const field of fields) {
    const found = reach(field);
    if (found === undefined) continue;
    const text = options.json || typeof found === 'object' ? JSON.stringify(found, null, 2) : String(found);
    console.log(fields.length > 1 ? `${field} = ${text}` : text);
  }
  return 0;
}

function config([what, name], options) {
  const settings = new Config(options);
  if (what !== 'get' || name === undefined) throw new NpmError('EUSAGE', 'usage: npm config get NAME; settings are written in .npmrc');
  console.log(String(settings.get(name) ?? 'undefined'));
  return 0;
}

function root(args, options) {
  console.log(path.join(new Config(options).root, 'node_modules'));
  return 0;
}

function prefix(args, options) {
  console.log(new Config(options).root);
  return 0;
}

module.exports = { init, pkg, view, config, root, prefix };
