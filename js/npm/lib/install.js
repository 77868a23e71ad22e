'use strict';

// `npm install`, `ci`, `uninstall` and `update`. Each computes the tree of packages, makes
// node_modules match the tree, and writes the lock file.

const fs = require('fs');
const path = require('path');
const { Config } = require('./config.js');
const { Registry, parseArgument, parseRange, satisfies } = require('./registry.js');
const { Builder, Node, edges, fromLock, mark } = require('./tree.js');
const { readJson, writeJson, sorted, lockOf } = require('./lock.js');
const { NpmError, warn } = require('./errors.js');
const tar = require('./tar.js');

const HIDDEN = 'node_modules/.package-lock.json';

class Project {
  constructor(options) {
    this.config = new Config(options);
    this.base = this.config.root;
    this.registry = new Registry(this.config);
    // The manifests of the packages that the command line names. Exactly these versions are
    // installed, even if a range allows newer ones.
    this.chosen = new Map();
    this.manifestFile = path.join(this.base, 'package.json');
    this.lockFile = path.join(this.base, 'package-lock.json');
    const { value, indent, there } = readJson(this.manifestFile, {});
    Object.assign(this, { manifest: value, indent, there });
    if (value.workspaces !== undefined) warn('warn', 'workspaces of package.json are left out: they are not supported');
    if (value.overrides !== undefined) warn('warn', '"overrides" of package.json has no effect here');
    const lock = readJson(this.lockFile, null);
    this.lock = lock.value;
    if (this.lock !== null && this.lock.packages === undefined) {
      throw new NpmError('ELOCKVERSION', `package-lock.json is of version ${this.lock.lockfileVersion}; versions 2 and 3 are known`);
    }
  }

  omitted(node) {
    const omit = [].concat(this.config.get('omit') ?? []);
    const only = (kind) => omit.includes(kind) && node[kind] === true;
    return only('dev') || only('optional') || only('peer') || !this.runsHere(node);
  }

  // Returns whether a package supports this machine. Throws an error if it does not and is not
  // optional.
  runsHere(node) {
    const fits = (list, own) => {
      const words = [].concat(list ?? []);
      const no = words.filter((w) => w.startsWith('!'));
      return words.length === 0 || (no.length > 0 ? !no.includes(`!${own}`) : words.includes(own) || words.includes('any'));
    };
    const ok = fits(node.os, process.platform) && fits(node.cpu, process.arch) && node.libc === undefined;
    if (ok || node.optional) return ok;
    throw new NpmError('EBADPLATFORM', `Unsupported platform for ${node.name}@${node.version}: it wants os ${node.os ?? 'any'}, cpu ${node.cpu ?? 'any'}`);
  }

  // Makes node_modules match the tree. Returns the numbers of packages that were added, removed and
  // changed.
  async reify(root) {
    const hidden = path.join(this.base, HIDDEN);
    const before = readJson(hidden, { packages: {} }).value.packages ?? {};
    const wanted = new Map([...root.all()].filter((n) => !this.omitted(n)).map((n) => [n.location, n]));
    const same = (node, old) => old !== undefined && old.version === node.version && old.resolved === node.resolved &&
      old.integrity === node.integrity && fs.existsSync(path.join(this.base, node.location));
    const counts = { added: 0, removed: 0, changed: 0 };
    const stale = Object.keys(before).filter((place) => place.includes('node_modules/') && !wanted.has(place));
    for (const place of stale) {
      const folder = path.join(this.base, place);
      fs.rmSync(folder, { recursive: true, force: true });
      counts.removed++;
      const scope = path.dirname(folder);
      if (path.basename(scope).startsWith('@') && fs.existsSync(scope) && fs.readdirSync(scope).length === 0) fs.rmdirSync(scope);
    }
    const todo = [...wanted.values()].filter((node) => !same(node, before[node.location]));
    // Outer folders come first. Replacing a folder deletes the packages inside it, so those are
    // written again, too.
    const fresh = new Set(todo);
    for (const node of wanted.values()) {
      for (let at = node.parent; at !== undefined; at = at.parent) if (fresh.has(at)) fresh.add(node);
    }
    const work = [...fresh].sort((a, b) => a.location.split('node_modules/').length - b.location.split('node_modules/').length);
    const packed = work.map((node) => node.link ? undefined : this.registry.tarball(this.resolvedOf(node), this.base));
    packed.forEach((p) => p?.catch(() => {}));
    for (let i = 0; i < work.length; i++) {
      await this.place(work[i], packed[i]);
      counts[before[work[i].location] === undefined ? 'added' : 'changed']++;
    }
    this.links(wanted);
    fs.mkdirSync(path.dirname(hidden), { recursive: true });
    const { name, version, lockfileVersion, requires, packages } = lockOf(root, this.manifest, this.base);
    const there = Object.fromEntries(Object.entries(packages).filter(([place]) => place !== '' && (wanted.has(place) || !place.includes('node_modules/'))));
    writeJson(hidden, { name, version, lockfileVersion, requires, packages: there });
    const scripts = work.filter((n) => n.hasInstallScript).map((n) => `${n.name}@${n.version}`);
    if (scripts.length > 0) warn('warn', `install scripts never run here: ${scripts.join(', ')}`);
    return counts;
  }

  // Returns the URL of a package's tarball, which a lock file may omit.
  resolvedOf(node) {
    if (node.resolved !== undefined) return node.resolved;
    const name = node.package ?? node.name;
    return `${this.config.registryOf(name)}${name}/-/${name.split('/').at(-1)}-${node.version}.tgz`;
  }

  async place(node, packed) {
    const folder = path.join(this.base, node.location);
    fs.rmSync(folder, { recursive: true, force: true });
    if (node.link) {
      fs.mkdirSync(path.dirname(folder), { recursive: true });
      fs.symlinkSync(path.relative(path.dirname(folder), path.resolve(this.base, node.resolved)), folder);
      return;
    }
    let bytes;
    try {
      bytes = await packed;
    } catch (error) {
      throw error instanceof NpmError ? error : new NpmError(error.code, `${node.name}@${node.version}: ${error.message}`);
    }
    if (node.integrity === undefined) node.integrity = tar.digest(bytes, 'sha512');
    else tar.verify(bytes, node.integrity, `${node.name}@${node.version} (${node.resolved}): integrity checksum`);
    tar.extract(bytes, folder);
    this.registry.forget(node.resolved);
  }

  // Writes each node_modules/.bin: links to the commands of the packages beside it.
  links(wanted) {
    const folders = new Map();
    for (const node of wanted.values()) {
      const folder = path.join(this.base, node.parent.location, 'node_modules', '.bin');
      if (!folders.has(folder)) folders.set(folder, new Map());
      for (const [name, file] of Object.entries(node.bin ?? {})) {
        if (!/^[^/\0]+$/.test(name)) continue;
        const target = path.join(this.base, node.location, path.join('/', file));
        folders.get(folder).set(name, target);
      }
    }
    for (const [folder, names] of folders) {
      fs.rmSync(folder, { recursive: true, force: true });
      if (names.size === 0) continue;
      fs.mkdirSync(folder, { recursive: true });
      for (const [name, target] of names) {
        if (!fs.existsSync(target)) continue;
        fs.chmodSync(target, 0o755);
        fs.symlinkSync(path.relative(folder, target), path.join(folder, name));
      }
    }
  }

  save() {
    writeJson(this.manifestFile, this.manifest, this.indent);
  }
}

function tell(project, root, counts, began) {
  if (project.config.on('silent')) return;
  const count = (n, word) => n > 0 ? [`${word} ${n} package${n === 1 ? '' : 's'}`] : [];
  const parts = [...count(counts.added, 'added'), ...count(counts.removed, 'removed'), ...count(counts.changed, 'changed')];
  const seconds = (performance.now() - began) / 1000;
  const time = seconds < 1 ? `${Math.round(seconds * 1000)}ms` : `${Math.round(seconds)}s`;
  console.log(`\n${parts.length === 0 ? 'up to date' : parts.join(', ')} in ${time}`);
}

const KINDS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'];

// Adds the packages that the command line names to the manifest. Resolves to their names.
async function addTo(project, args, options) {
  const { manifest } = project;
  const kind = options['save-dev'] ? 'devDependencies' : options['save-optional'] ? 'optionalDependencies' : undefined;
  const names = [];
  for (const arg of args) {
    let { name, range } = parseArgument(arg, project.base);
    const spec = parseRange(range, project.base);
    const found = await project.registry.manifest(name ?? arg, range, project.base, project.base);
    name ??= found.name;
    // A range or tag becomes the version that was found, as npm writes it.
    if (spec.kind === 'tag' || (spec.kind === 'range' && spec.name === undefined)) range = `${project.config.on('save-exact') ? '' : '^'}${found.version}`;
    const there = KINDS.find((k) => manifest[k]?.[name] !== undefined);
    const into = kind ?? (there === 'peerDependencies' ? undefined : there) ?? 'dependencies';
    for (const k of KINDS) if (k !== into && k !== 'peerDependencies') delete manifest[k]?.[name];
    manifest[into] = sorted({ ...manifest[into], [name]: range });
    names.push(name);
    project.chosen.set(name, found);
  }
  return names;
}

// Resolves to the tree for the manifest. The tree follows the lock file as far as that fits the
// manifest; the packages in `renew` are looked up again.
async function ideal(project, renew = []) {
  const { manifest, lock, base, config } = project;
  const root = lock === null ? new Node(undefined, manifest.name, {}) : fromLock(lock, manifest);
  for (const key of Object.keys(root)) if (!['parent', 'name', 'children'].includes(key)) delete root[key];
  Object.assign(root, { ...manifest, parent: undefined });
  for (const name of renew) root.children.delete(name);
  for (const [name, range] of edges(root, true)) {
    const there = root.children.get(name);
    if (there !== undefined && !satisfies(there, range, base, base)) root.children.delete(name);
  }
  const builder = new Builder(root, project.registry, config, base, project.chosen);
  await builder.run();
  for (const text of builder.conflicts) warn('warn', `ERESOLVE ${text}`);
  mark(root, base);
  return root;
}

async function finish(project, root, options, began) {
  const dry = options['dry-run'];
  const counts = dry || options['package-lock-only'] ? { added: 0, removed: 0, changed: 0 } : await project.reify(root);
  if (!dry && !options['no-package-lock']) writeJson(project.lockFile, lockOf(root, project.manifest, project.base), project.indent);
  tell(project, root, counts, began);
  return 0;
}

async function install(args, options) {
  const began = performance.now();
  const project = new Project(options);
  const renew = args.length === 0 ? [] : await addTo(project, args, options);
  const root = await ideal(project, renew);
  const status = await finish(project, root, options, began);
  if (args.length > 0 && !options['no-save'] && !options['dry-run']) project.save();
  return status;
}

async function uninstall(args, options) {
  if (args.length === 0) throw new NpmError('EUSAGE', 'npm uninstall: no package is named');
  const began = performance.now();
  const project = new Project(options);
  for (const name of args) {
    for (const kind of KINDS) {
      if (project.manifest[kind] === undefined) continue;
      delete project.manifest[kind][name];
      if (Object.keys(project.manifest[kind]).length === 0) delete project.manifest[kind];
    }
  }
  const root = await ideal(project);
  const status = await finish(project, root, options, began);
  if (!options['dry-run'] && !options['no-save']) project.save();
  return status;
}

async function update(args, options) {
  const began = performance.now();
  const project = new Project(options);
  if (args.length === 0) project.lock = null;
  const root = await ideal(project, args);
  return finish(project, root, options, began);
}

async function ci(args, options) {
  const began = performance.now();
  const project = new Project(options);
  if (project.lock === null) throw new NpmError('EUSAGE', 'The `npm ci` command can only install with an existing package-lock.json');
  const root = fromLock(project.lock, project.manifest);
  Object.assign(root, { ...project.manifest, parent: undefined });
  const wrong = [];
  for (const node of [root, ...root.all()]) {
    for (const [name, range, kind] of edges(node, node === root)) {
      if (kind !== 'prod' && kind !== 'dev') continue;
      const there = node.resolve(name);
      const from = node === root ? project.base : path.join(project.base, node.location);
      if (there === undefined) wrong.push(`Missing: ${name}@${range} from lock file`);
      else if (node === root && !satisfies(there, range, from, project.base)) wrong.push(`Invalid: lock file's ${name}@${there.version} does not satisfy ${name}@${range}`);
    }
  }
  if (wrong.length > 0) throw new NpmError('EUSAGE', `\`npm ci\` can only install packages when your package.json and package-lock.json are in sync.\n${wrong.join('\n')}`);
  mark(root, project.base);
  fs.rmSync(path.join(project.base, 'node_modules'), { recursive: true, force: true });
  const counts = await project.reify(root);
  tell(project, root, counts, began);
  return 0;
}

module.exports = { install, uninstall, update, ci, Project };
