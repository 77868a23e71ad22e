'use strict';

// Settings. In order of precedence they are from the command line, from variables `npm_config_*`,
// from the project's .npmrc and from the user's .npmrc.

const fs = require('fs');
const path = require('path');
const os = require('os');

const DEFAULTS = { registry: 'https://registry.npmjs.org/' };

function readRc(file) {
  const out = {};
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch {
    return out;
  }
  for (const line of text.split(/\r?\n/)) {
    const [, name, value] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    const plain = value.replace(/^"(.*)"$|^'(.*)'$/s, (_, a, b) => a ?? b);
    out[name] = plain.replace(/\$\{([^}]+)\}/g, (all, variable) => process.env[variable] ?? all);
  }
  return out;
}

// Returns the closest folder, this one or one above it, that has a package.json or node_modules.
// Returns this folder if there is none.
function projectOf(folder) {
  for (let at = folder; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, 'package.json')) || fs.existsSync(path.join(at, 'node_modules'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}

class Config {
  constructor(options) {
    this.root = options.prefix ? path.resolve(options.prefix) : projectOf(process.cwd());
    const env = {};
    for (const [name, value] of Object.entries(process.env)) {
      if (/^npm_config_/i.test(name) && value !== '') env[name.slice(11).replace(/(?!^)_/g, '-').toLowerCase()] = value;
    }
    const user = process.env.npm_config_userconfig ?? path.join(os.homedir(), '.npmrc');
    const given = Object.fromEntries(Object.entries(options).filter(([, v]) => v !== undefined && !(Array.isArray(v) && v.length === 0)));
    this.values = { ...DEFAULTS, ...readRc(user), ...readRc(path.join(this.root, '.npmrc')), ...env, ...given };
  }

  get(name) { return this.values[name]; }

  // Returns whether a switch is on: it is `true`, or the word 'true' in a file or variable.
  on(name) { return this.values[name] === true || this.values[name] === 'true'; }

  // Returns the URL of a package's registry, with a slash at its end.
  registryOf(name) {
    const scope = name.startsWith('@') ? this.values[`${name.split('/')[0]}:registry`] : undefined;
    return (scope ?? this.values.registry).replace(/\/*$/, '/');
  }

  // Returns the header `Authorization` for a URL: that of the longest prefix of the URL that has
  // one in .npmrc (`//host/path/:_authToken`). Returns undefined if there is none.
  authorization(url) {
    const { host, pathname } = new URL(url);
    const parts = pathname.split('/');
    for (let n = parts.length; n > 0; n--) {
      const at = `//${host}${parts.slice(0, n).join('/')}`.replace(/\/*$/, '/');
      const [token, basic] = [this.values[`${at}:_authToken`], this.values[`${at}:_auth`]];
      if (token !== undefined) return `Bearer ${token}`;
      if (basic !== undefined) return `Basic ${basic}`;
    }
    return undefined;
  }
}

module.exports = { Config };
