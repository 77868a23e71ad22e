'use strict';

// Finds the package that a name and a range mean: a version in the registry, a tarball or a folder.

const fs = require('fs');
const path = require('path');
const semver = require('../semver');
const { get } = require('./fetch.js');
const { NpmError } = require('./errors.js');
const tar = require('./tar.js');

// Parses the text after a package's name in package.json. `from` is the folder that paths are
// relative to.
function parseRange(text, from) {
  const range = text === '' ? '*' : text.trim();
  if (/^(git(\+\w+)?:|git@|github:|gitlab:|bitbucket:)|^[\w.-]+\/[\w.-]+(#.*)?$/.test(range) && !fs.existsSync(path.resolve(from, range))) {
    return { kind: 'git', range };
  }
  if (/^https?:/.test(range)) return { kind: 'remote', url: range };
  if (range.startsWith('file:') || /^(\.{1,2}|~)?\//.test(range) || /\.(tgz|tar|tar\.gz)$/.test(range)) {
    const file = path.resolve(from, range.replace(/^file:(\/\/(?=\/))?/, ''));
    return { kind: /\.(tgz|tar|tar\.gz)$/.test(file) ? 'file' : 'folder', file };
  }
  if (range.startsWith('workspace:')) return { kind: 'workspace', range };
  const alias = /^npm:((?:@[^/]+\/)?[^@]+)(?:@(.*))?$/.exec(range);
  if (alias !== null) return { kind: 'alias', name: alias[1], ...parseRange(alias[2] ?? '*', from) };
  if (semver.validRange(range, true) !== null) return { kind: 'range', range };
  return { kind: 'tag', range };
}

// Parses an argument of the command line: `name`, `name@range`, a path or a URL. A path or URL
// becomes a range without a name.
function parseArgument(text, from) {
  const found = /^((?:@[^/@]+\/)?[^@/:.][^@/:]*)(?:@(.*))?$/s.exec(text);
  if (found !== null && !/\.(tgz|tar|tar\.gz)$/.test(text)) return { name: found[1], range: found[2] ?? 'latest' };
  const spec = parseRange(text, from);
  if (spec.kind === 'file' || spec.kind === 'folder') return { range: `file:${path.relative(from, spec.file) || '.'}` };
  return { range: text };
}

// Packages with native code whose authors publish the same versions for WebAssembly, too.
const BUILDS = { __proto__: null, esbuild: 'esbuild-wasm', rollup: '@rollup/wasm-node' };

class Registry {
  #packuments = new Map();
  #tarballs = new Map();
  constructor(config) {
    this.config = config;
  }

  // Resolves to everything that the registry knows about a name.
  packument(name) {
    if (!this.#packuments.has(name)) {
      const url = this.config.registryOf(name) + name.replace('/', '%2f');
      const accept = 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8';
      this.#packuments.set(name, get(url, this.config, accept).then((bytes) => {
        try {
          return JSON.parse(bytes.toString('utf8'));
        } catch (error) {
          throw new NpmError('EJSONPARSE', `${url}: ${error.message}`);
        }
      }, (error) => {
        if (error.code === 'E404') throw new NpmError('E404', `404 Not Found - GET ${url}\n'${name}' is not in this registry.`);
        throw error;
      }));
    }
    return this.#packuments.get(name);
  }

  // Resolves to the manifest of the version that npm would pick: that of the tag `latest` if it
  // fits, otherwise the newest one that fits. In the latter case a deprecated version is picked
  // only if all that fit are deprecated.
  async pick(name, spec) {
    const { versions = {}, 'dist-tags': tags = {} } = await this.packument(name);
    if (spec.kind === 'tag') {
      const version = tags[spec.range];
      if (versions[version] === undefined) throw this.#none(name, spec.range, versions, tags);
      return versions[version];
    }
    const fits = (v) => semver.satisfies(v, spec.range, true);
    if (versions[tags.latest] !== undefined && (spec.range === '*' || fits(tags.latest))) return versions[tags.latest];
    const fitting = Object.keys(versions).filter(fits).sort((a, b) => {
      const old = Boolean(versions[a].deprecated) - Boolean(versions[b].deprecated);
      return old !== 0 ? old : semver.rcompare(a, b, true);
    });
    if (fitting.length === 0) throw this.#none(name, spec.range, versions, tags);
    return versions[fitting[0]];
  }

  #none(name, range, versions, tags) {
    const known = Object.keys(versions).length === 0 ? 'none' : `${tags.latest ?? Object.keys(versions).at(-1)} is the latest`;
    return new NpmError('ETARGET', `No matching version found for ${name}@${range}. (${known})`);
  }

  // Resolves to the bytes of a tarball. Each is fetched once, until `forget` drops it.
  tarball(resolved, root) {
    if (!this.#tarballs.has(resolved)) {
      const bytes = resolved.startsWith('file:') ?
        fs.promises.readFile(path.resolve(root, resolved.slice(5))) : get(resolved, this.config);
      this.#tarballs.set(resolved, bytes);
    }
    return this.#tarballs.get(resolved);
  }

  forget(resolved) { this.#tarballs.delete(resolved); }

  // As `pick`, with the build for WebAssembly of a package whose code is native.
  async #pickHere(name, spec) {
    const build = spec.name === undefined ? BUILDS[name] : undefined;
    if (build !== undefined) {
      try {
        return await this.pick(build, spec);
      } catch (error) {
        if (error.code !== 'E404' && error.code !== 'ETARGET') throw error;
      }
    }
    return this.pick(spec.name ?? name, spec);
  }

  // Resolves to the manifest of the package that a name and a range mean. It has `_resolved` and
  // `_integrity`; that of a folder has `_resolved` and `_link`.
  async manifest(name, range, from, root) {
    const spec = parseRange(range, from);
    if (spec.kind === 'git' || spec.kind === 'workspace') {
      throw new NpmError('EUNSUPPORTEDPROTOCOL', `${name}@${range}: packages of ${spec.kind === 'git' ? 'Git' : 'workspaces'} are not supported`);
    }
    if (spec.kind === 'folder') {
      let json;
      try {
        json = JSON.parse(fs.readFileSync(path.join(spec.file, 'package.json'), 'utf8'));
      } catch (error) {
        throw new NpmError(error.code ?? 'EJSONPARSE', `${spec.file}/package.json: ${error.message}`);
      }
      return { ...json, _link: true, _resolved: path.relative(root, spec.file) || '.' };
    }
    if (spec.kind === 'file' || spec.kind === 'remote') {
      const resolved = spec.kind === 'file' ? `file:${path.relative(root, spec.file)}` : spec.url;
      let bytes;
      try {
        bytes = await this.tarball(resolved, root);
      } catch (error) {
        if (error instanceof NpmError) throw error;
        throw new NpmError(error.code, `${spec.file}: ${error.message}`);
      }
      return { ...tar.manifest(bytes), _resolved: resolved, _integrity: tar.digest(bytes, 'sha512') };
    }
    const found = await this.#pickHere(name, spec);
    const { tarball, integrity, shasum } = found.dist ?? {};
    if (tarball === undefined) throw new NpmError('ENOTARBALL', `${name}@${found.version}: the registry names no file`);
    const legacy = shasum === undefined ? undefined : `sha1-${Buffer.from(shasum, 'hex').toString('base64')}`;
    return { ...found, _resolved: tarball, _integrity: integrity ?? legacy };
  }
}

// Returns whether an installed package fits a range.
function satisfies(node, range, from, root) {
  const spec = parseRange(range, from);
  switch (spec.kind) {
    case 'range': return semver.satisfies(node.version ?? '', spec.range, true) && (spec.name === undefined || spec.name === node.package);
    case 'tag': return true;
    case 'folder': return node.link === true && path.resolve(root, node.resolved) === spec.file;
    case 'file': return node.resolved === `file:${path.relative(root, spec.file)}`;
    case 'remote': return node.resolved === spec.url;
    default: return false;
  }
}

module.exports = { Registry, parseRange, parseArgument, satisfies };
