'use strict';

// Reads and writes package.json and package-lock.json (version 3).

const fs = require('fs');
const path = require('path');
const { NpmError } = require('./errors.js');

// Reads a JSON file. Returns its value, its indentation (for writing it back), and whether it
// exists; without the file, the value is `missing`.
function readJson(file, missing) {
  let text;
  try {
    text = fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT' && missing !== undefined) return { value: missing, indent: '  ', there: false };
    throw new NpmError(error.code, `Could not read ${path.basename(file)}: ${error.message}`, error.code === 'ENOENT' ? 254 : 1);
  }
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')), indent: /^[{[]\r?\n([ \t]+)/.exec(text)?.[1] ?? '  ', there: true };
  } catch (error) {
    throw new NpmError('EJSONPARSE', `Invalid ${path.basename(file)}: ${error.message}`);
  }
}

function writeJson(file, value, indent = '  ') {
  fs.writeFileSync(file, `${JSON.stringify(value, null, indent)}\n`);
}

// Returns a table with its names in npm's order.
const sorted = (table) => Object.fromEntries(Object.entries(table).sort(([a], [b]) => a.localeCompare(b, 'en')));

const ROOT = ['name', 'version', 'license', 'dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies',
              'peerDependenciesMeta', 'bin', 'engines', 'bundleDependencies'];
const PACKAGE = ['version', 'resolved', 'integrity', 'dependencies', 'bin', 'bundleDependencies', 'cpu', 'deprecated', 'dev', 'engines', 'funding',
                 'hasInstallScript', 'libc', 'license', 'optional', 'optionalDependencies', 'os', 'peer', 'peerDependencies', 'peerDependenciesMeta'];

// Returns an entry with its fields in npm's order: those that identify the package, then plain
// values, then tables. Each group keeps the order of PACKAGE.
function ordered(entry) {
  const table = (v) => typeof v === 'object' && !Array.isArray(v);
  const rank = ([name, value]) => ['name', 'version', 'resolved', 'integrity'].includes(name) ? 0 : table(value) ? 2 : 1;
  return Object.fromEntries(Object.entries(entry).sort((a, b) => rank(a) - rank(b)));
}

function entry(node) {
  if (node.link) return { resolved: node.resolved, link: true };
  const out = node.package !== undefined && node.package !== node.name ? { name: node.package } : {};
  for (const field of PACKAGE) {
    let value = node[field];
    if (value === undefined || value === false) continue;
    if (field === 'bin') value = Object.fromEntries(Object.entries(value).map(([n, p]) => [n, p.replace(/^\.\//, '')]));
    if (field === 'license' && typeof value !== 'string') continue;
    if (typeof value === 'object' && !Array.isArray(value)) value = sorted(value);
    out[field] = value;
  }
  return ordered(out);
}

// Returns the lock file of a tree.
function lockOf(root, manifest, base) {
  const top = {};
  for (const field of ROOT) if (manifest[field] !== undefined) top[field] = manifest[field];
  const packages = {};
  for (const node of root.all()) {
    packages[node.location] = entry(node);
    if (node.link && packages[node.resolved] === undefined) {
      const { link, resolved, ...rest } = node;
      packages[node.resolved] = entry({ ...rest, dev: false, optional: false, peer: false });
    }
  }
  return {
    name: manifest.name ?? path.basename(base), ...(manifest.version === undefined ? {} : { version: manifest.version }),
    lockfileVersion: 3, requires: true, packages: { '': top, ...sorted(packages) },
  };
}

module.exports = { readJson, writeJson, sorted, lockOf };
