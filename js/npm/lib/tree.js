'use strict';

// The tree of packages: which version belongs in which folder of node_modules. Each package is
// placed as high as possible, where many others find it, because Node looks from the inside out.
// It is placed lower if another version of it is already above. This is npm's own rule.

const path = require('path');
const { satisfies } = require('./registry.js');
const { NpmError, warn } = require('./errors.js');

class Node {
  children = new Map();
  constructor(parent, name, fields) {
    this.parent = parent;
    this.name = name;
    Object.assign(this, fields);
  }

  // The place as the lock file names it, such as node_modules/a/node_modules/b.
  get location() {
    return this.parent === undefined ? '' : `${this.parent.location === '' ? '' : `${this.parent.location}/`}node_modules/${this.name}`;
  }

  // Returns the package that `require(name)` finds from this one, or undefined.
  resolve(name) {
    for (let at = this; at !== undefined; at = at.parent) {
      const found = at.children.get(name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  *all() {
    for (const child of this.children.values()) {
      yield child;
      yield* child.all();
    }
  }
}

// Returns the dependencies of a manifest, each `[name, range, kind]`. A dependency that is also
// listed as optional is only optional.
function edges(manifest, isRoot) {
  const out = new Map();
  const add = (table, kind) => {
    for (const [name, range] of Object.entries(table ?? {})) out.set(name, [name, range, kind]);
  };
  const bundled = manifest.bundleDependencies ?? manifest.bundledDependencies ?? [];
  if (isRoot) add(manifest.devDependencies, 'dev');
  for (const [name, range] of Object.entries(manifest.peerDependencies ?? {})) {
    const optional = manifest.peerDependenciesMeta?.[name]?.optional === true;
    out.set(name, [name, range, optional ? 'peerOptional' : 'peer']);
  }
  add(manifest.dependencies, 'prod');
  add(manifest.optionalDependencies, 'optional');
  if (!isRoot) for (const name of Array.isArray(bundled) ? bundled : bundled ? Object.keys(manifest.dependencies ?? {}) : []) out.delete(name);
  return [...out.values()];
}

// The fields of a manifest that a node keeps.
const FIELDS = ['version', 'license', 'dependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta', 'bin', 'engines', 'os',
                'cpu', 'libc', 'deprecated', 'bundleDependencies', 'funding'];

function fieldsOf(manifest) {
  const fields = { package: manifest.name };
  for (const name of FIELDS) {
    const value = manifest[name];
    if (value !== undefined && !(typeof value === 'object' && value !== null && Object.keys(value).length === 0)) fields[name] = value;
  }
  if (typeof fields.bin === 'string') fields.bin = { [manifest.name.split('/').at(-1)]: fields.bin };
  if (typeof fields.funding === 'string') fields.funding = { url: fields.funding };
  const scripts = manifest.scripts ?? {};
  if (manifest.hasInstallScript || scripts.install || scripts.preinstall || scripts.postinstall) fields.hasInstallScript = true;
  // The registry's short form lists optional dependencies among the others, too.
  if (fields.optionalDependencies && fields.dependencies) {
    fields.dependencies = Object.fromEntries(Object.entries(fields.dependencies).filter(([n]) => !(n in fields.optionalDependencies)));
  }
  return fields;
}

// Returns the tree that a lock file describes.
function fromLock(lock, manifest) {
  const root = new Node(undefined, manifest.name, { ...manifest });
  const places = Object.keys(lock.packages ?? {}).filter((p) => p.includes('node_modules/')).sort((a, b) => a.split('node_modules/').length - b.split('node_modules/').length || (a < b ? -1 : 1));
  for (const place of places) {
    const at = place.lastIndexOf('node_modules/');
    const above = place.slice(0, at).replace(/\/$/, '');
    const parent = above === '' ? root : [...root.all()].find((n) => n.location === above);
    if (parent === undefined) continue;
    const name = place.slice(at + 'node_modules/'.length);
    const { dev, optional, peer, devOptional, name: real, link, ...fields } = lock.packages[place];
    const target = link ? lock.packages[fields.resolved] ?? {} : {};
    parent.children.set(name, new Node(parent, name, { ...target, ...fields, link, package: real ?? name }));
  }
  return root;
}

class Builder {
  constructor(root, registry, config, base, chosen) {
    Object.assign(this, { root, registry, config, base, chosen });
    this.conflicts = [];
    this.queue = [root];
    this.queued = new Set([root]);
  }

  // Returns the folder that paths in a package's ranges are relative to.
  folderOf(node) {
    if (node === this.root) return this.base;
    return node.link ? path.resolve(this.base, node.resolved) : path.join(this.base, node.location);
  }

  push(node) {
    if (this.queued.has(node)) return;
    this.queued.add(node);
    this.queue.push(node);
  }

  // Adds the missing packages, breadth first. Resolves to the root.
  async run() {
    while (this.queue.length > 0) {
      this.queue.sort((a, b) => depth(a) - depth(b) || (a.location < b.location ? -1 : 1));
      const node = this.queue.shift();
      const wanted = edges(node, node === this.root).sort(([a], [b]) => (a < b ? -1 : 1));
      // The manifests are requested together, but the packages are placed one after another.
      const missing = wanted.filter((edge) => this.lacks(node, edge));
      const found = new Map(missing.map(([name, range, kind]) => [name, this.fetch(node, name, range, kind)]));
      for (const edge of wanted) await this.satisfy(node, edge, found.get(edge[0]));
    }
    return this.root;
  }

  // Returns the node from which a dependency is resolved. A peer is resolved from the parent,
  // because it belongs beside the package.
  fromOf(node, kind) {
    return kind.startsWith('peer') && node.parent !== undefined ? node.parent : node;
  }

  lacks(node, [name, range, kind]) {
    const there = this.fromOf(node, kind).resolve(name);
    if (there !== undefined) return !satisfies(there, range, this.folderOf(node), this.base);
    return kind !== 'peerOptional' && !(kind === 'peer' && this.config.on('legacy-peer-deps'));
  }

  fetch(node, name, range, kind) {
    const given = node === this.root ? this.chosen.get(name) : undefined;
    if (given !== undefined) return Promise.resolve({ manifest: given });
    const asked = this.registry.manifest(name, range, this.folderOf(node), this.base);
    // An optional dependency may be missing.
    return asked.then((manifest) => ({ manifest }), (error) => ({ error: kind === 'optional' ? undefined : error }));
  }

  async satisfy(node, [name, range, kind], asked) {
    const from = this.fromOf(node, kind);
    const there = from.resolve(name);
    if (!this.lacks(node, [name, range, kind])) {
      if (there !== undefined) this.push(there);
      return;
    }
    if (there !== undefined && kind.startsWith('peer')) {
      this.conflict(node, name, range, there);
      this.push(there);
      return;
    }
    const { manifest, error } = await (asked ?? this.fetch(node, name, range, kind));
    if (error !== undefined) throw error;
    if (manifest === undefined) return;
    const fields = fieldsOf(manifest);
    const place = this.placeOf(from, name, fields.version);
    const made = new Node(place, name, { ...fields, resolved: manifest._resolved, integrity: manifest._integrity, link: manifest._link });
    place.children.set(name, made);
    if (fields.deprecated) warn('warn', `deprecated ${name}@${fields.version}: ${fields.deprecated}`);
    this.push(made);
  }

  // Returns the highest node below which the package can be placed: neither a package of this name
  // nor the node's own dependency on another version is in the way.
  placeOf(from, name, version) {
    let place = from;
    for (let at = from; at !== undefined; at = at.parent) {
      if (at !== from || at.children.has(name)) {
        if (at.children.has(name)) break;
        const own = edges(at, at === this.root).find(([n]) => n === name);
        if (own !== undefined && !satisfies({ version, package: name }, own[1], this.folderOf(at), this.base)) break;
      }
      place = at;
    }
    return place;
  }

  conflict(node, name, range, there) {
    const who = node === this.root ? 'the root project' : `${node.name}@${node.version}`;
    const text = `${who} wants the peer ${name}@"${range}", but ${name}@${there.version} is there`;
    if (this.config.on('strict-peer-deps') && !this.config.on('force')) throw new NpmError('ERESOLVE', `could not resolve\n${text}`);
    this.conflicts.push(text);
  }
}

const depth = (node) => node.parent === undefined ? 0 : 1 + depth(node.parent);

// Marks packages that are needed only for development, only as optional ones or only as peers, and
// removes those that nothing needs.
function mark(root, base) {
  const reached = new Map();
  const visit = (node, flags) => {
    const before = reached.get(node);
    const now = before === undefined ? flags : { dev: before.dev && flags.dev, optional: before.optional && flags.optional, peer: before.peer && flags.peer };
    if (before !== undefined && before.dev === now.dev && before.optional === now.optional && before.peer === now.peer) return;
    reached.set(node, now);
    for (const [name, , kind] of edges(node, node === root)) {
      const from = kind.startsWith('peer') && node.parent !== undefined ? node.parent : node;
      const found = from.resolve(name);
      if (found === undefined) continue;
      visit(found, { dev: now.dev || kind === 'dev', optional: now.optional || kind === 'optional', peer: now.peer || kind.startsWith('peer') });
    }
  };
  visit(root, { dev: false, optional: false, peer: false });
  for (const node of [...root.all()]) {
    const flags = reached.get(node);
    if (flags === undefined) node.parent.children.delete(node.name);
    else Object.assign(node, flags);
  }
  void base;
}

module.exports = { Node, Builder, edges, fromLock, mark };
