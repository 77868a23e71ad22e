// The binding of the package unrs-resolver, with which jest 30 and eslint-import-resolver-typescript
// find files. The package's own bindings are native code, and its build for WebAssembly needs threads;
// so its loader finds this one, which `require` finds here for every program.
//
// request -> alias, tsconfig -> relative | absolute | #imports | itself | packages -> file -> real path
//
// It follows Node's algorithm with the options of enhanced-resolve that the package documents.
// Deliberately absent: `aliasFields` (browser), `exportsFields` and `importsFields` with other names,
// Yarn's Plug'n'Play, and declarations beside files (`resolveDts*` looks for .d.ts last).
'use strict';

const fs = require('fs');
const path = require('path');
const { isBuiltin } = require('module');

const DEFAULTS = { alias: {}, conditionNames: [], extensions: ['.js', '.json', '.node'], extensionAlias: {}, fallback: {}, mainFields: ['main'],
                   mainFiles: ['index'], modules: ['node_modules'], roots: [], symlinks: true };
const listOf = (value) => Array.isArray(value) ? value : [value];

// What was read, which the clones of a factory share.
class Cache {
  #stats = new Map();
  #packages = new Map();
  #configs = new Map();
  clear() { [this.#stats, this.#packages, this.#configs].forEach((map) => map.clear()); }

  kindOf(name) {
    let kind = this.#stats.get(name);
    if (kind === undefined) {
      const stat = fs.statSync(name, { throwIfNoEntry: false });
      kind = stat === undefined ? 'none' : stat.isDirectory() ? 'folder' : 'file';
      this.#stats.set(name, kind);
    }
    return kind;
  }
  isFile(name) { return this.kindOf(name) === 'file'; }
  isFolder(name) { return this.kindOf(name) === 'folder'; }

  // Returns the package.json of a folder, or undefined.
  packageOf(folder) {
    if (!this.#packages.has(folder)) {
      const file = path.join(folder, 'package.json');
      this.#packages.set(folder, this.isFile(file) ? { file, folder, json: JSON.parse(fs.readFileSync(file, 'utf8')) } : undefined);
    }
    return this.#packages.get(folder);
  }
  // Returns the package that contains a path.
  scopeOf(from) {
    for (const folder of parentsOf(from)) {
      if (path.basename(folder) === 'node_modules') return undefined;
      const found = this.packageOf(folder);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  // Returns `paths` and their base of a tsconfig.json and of what it extends.
  config(file) {
    if (!this.#configs.has(file)) this.#configs.set(file, readConfig(file, []));
    return this.#configs.get(file);
  }
}

function parentsOf(folder) {
  const all = [folder];
  for (let at = folder; path.dirname(at) !== at;) {
    at = path.dirname(at);
    all.push(at);
  }
  return all;
}

// Reads JSON with comments and commas before brackets.
const parseLoose = (text) => JSON.parse(text.replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, '$1').replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, '$1'));

function readConfig(file, seen) {
  if (seen.includes(file) || !fs.existsSync(file)) return {};
  const folder = path.dirname(file);
  const { extends: bases = [], compilerOptions: { baseUrl, paths } = {} } = parseLoose(fs.readFileSync(file, 'utf8'));
  let result = {};
  for (const base of listOf(bases)) {
    const name = base.startsWith('.') || path.isAbsolute(base) ? path.resolve(folder, base) : path.join(folder, 'node_modules', base);
    result = { ...result, ...readConfig([name, `${name}.json`, path.join(name, 'tsconfig.json')].find((one) => /\.json$/.test(one) && fs.existsSync(one)) ?? name, [...seen, file]) };
  }
  if (baseUrl !== undefined) result.baseUrl = path.resolve(folder, baseUrl);
  if (paths !== undefined) Object.assign(result, { paths, folder });
  return result;
}

// Returns the key of a table that fits a name, and what its `*` stands for. The longest prefix wins.
function findKey(table, name) {
  if (Object.hasOwn(table, name) && !name.includes('*')) return { key: name, star: '' };
  let best;
  for (const key of Object.keys(table)) {
    const at = key.indexOf('*');
    const isFolder = at < 0 && key.endsWith('/');
    if (at < 0 && !isFolder) continue;
    const [before, after] = isFolder ? [key, ''] : [key.slice(0, at), key.slice(at + 1)];
    if (!name.startsWith(before) || !name.endsWith(after) || name.length < before.length + after.length || name === before) continue;
    if (best === undefined || before.length > best.length) best = { key, star: name.slice(before.length, name.length - after.length), length: before.length, isFolder };
  }
  return best;
}

class NotFound extends Error {}

class ResolverFactory {
  #options;
  #cache;
  constructor(options, cache = new Cache()) {
    const given = Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined && value !== null));
    this.#options = { ...DEFAULTS, ...given };
    this.#options.modules = listOf(this.#options.modules);
    if (this.#options.nodePath !== false && process.env.NODE_PATH) this.#options.modules = [...this.#options.modules, ...process.env.NODE_PATH.split(':').filter(Boolean)];
    this.#options.mainFields = listOf(this.#options.mainFields);
    this.#cache = cache;
  }
  static default() { return new ResolverFactory(); }
  cloneWithOptions(options) { return new ResolverFactory(options, this.#cache); }
  clearCache() { this.#cache.clear(); }

  sync(folder, request) {
    try {
      return this.#result(this.#resolve(folder, request));
    } catch (error) {
      return error.builtin === undefined ? { error: error.message } : { error: error.message, builtin: error.builtin };
    }
  }
  async async(folder, request) { return this.sync(folder, request); }
  resolveFileSync(file, request) { return this.sync(path.dirname(file), request); }
  async resolveFileAsync(file, request) { return this.resolveFileSync(file, request); }
  resolveDtsSync(file, request) {
    const { extensions } = this.#options;
    return this.cloneWithOptions({ ...this.#options, conditionNames: ['types', ...this.#options.conditionNames], extensions: ['.ts', '.tsx', '.d.ts', ...extensions] }).sync(path.dirname(file), request);
  }
  async resolveDtsAsync(file, request) { return this.resolveDtsSync(file, request); }

  #result(found) {
    const mark = found.indexOf('?');
    const [file, query] = mark < 0 || this.#cache.isFile(found) ? [found, ''] : [found.slice(0, mark), found.slice(mark)];
    const real = this.#options.symlinks ? fs.realpathSync(file) : file;
    const scope = this.#cache.scopeOf(path.dirname(real));
    const result = { path: real + query };
    if (scope !== undefined) result.packageJsonPath = scope.file;
    if (this.#options.moduleType) result.moduleType = moduleTypeOf(real, scope);
    return result;
  }

  #resolve(folder, request) {
    const { alias, fallback, builtinModules } = this.#options;
    const replaced = this.#alias(alias, folder, request) ?? this.#paths(folder, request);
    if (replaced !== undefined) return replaced;
    if (builtinModules && isBuiltin(request)) {
      const isRuntimeModule = request.startsWith('node:');
      throw Object.assign(new NotFound(`Builtin module '${request}'`), { builtin: { resolved: isRuntimeModule ? request : `node:${request}`, isRuntimeModule } });
    }
    const found = this.#plain(folder, request) ?? this.#alias(fallback, folder, request);
    if (found === undefined) throw new NotFound(`Cannot find module '${request}'`);
    return found;
  }

  // Returns the file of a request without aliases, or undefined.
  #plain(folder, request) {
    const mark = request.indexOf('?', 1);
    if (mark > 0) {
      const found = this.#plain(folder, request.slice(0, mark));
      return found === undefined ? undefined : found + request.slice(mark);
    }
    const isFolder = /(^|\/)\.{0,2}$/.test(request);
    if (/^\.\.?(\/|$)/.test(request)) return this.#path(path.resolve(folder, request), isFolder);
    if (request.startsWith('/')) {
      const { roots, preferAbsolute } = this.#options;
      const places = preferAbsolute || roots.length === 0 ? [request, ...roots.map((root) => path.join(root, request))] : [...roots.map((root) => path.join(root, request)), request];
      return firstOf(places, (place) => this.#path(place, isFolder));
    }
    if (request.startsWith('#')) return this.#imports(folder, request);
    return (this.#options.preferRelative ? this.#path(path.resolve(folder, request), isFolder) : undefined) ?? this.#package(folder, request);
  }

  #alias(table, folder, request) {
    for (const [key, values] of Object.entries(table)) {
      const isExact = key.endsWith('$');
      const name = isExact ? key.slice(0, -1) : key;
      if (request !== name && (isExact || !request.startsWith(`${name}/`))) continue;
      for (const value of listOf(values)) {
        if (value === null || value === undefined || value === false) throw new NotFound(`Path is ignored: ${request}`);
        if (request === value || request.startsWith(`${value}/`)) continue;
        const found = this.#plain(folder, value + request.slice(name.length));
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  // Applies `paths` of tsconfig.json.
  #paths(folder, request) {
    const { tsconfig } = this.#options;
    if (tsconfig === undefined || /^(\.|\/)/.test(request)) return undefined;
    const file = tsconfig === 'auto' ? parentsOf(folder).map((one) => path.join(one, 'tsconfig.json')).find((one) => this.#cache.isFile(one)) : path.resolve(tsconfig.configFile);
    if (file === undefined) return undefined;
    const { baseUrl, paths = {}, folder: home } = this.#cache.config(file);
    const found = findKey(paths, request);
    const place = found === undefined ? undefined : firstOf(paths[found.key], (target) => this.#path(path.resolve(baseUrl ?? home, target.replace('*', () => found.star))));
    return place ?? (baseUrl === undefined ? undefined : this.#path(path.resolve(baseUrl, request)));
  }

  #imports(folder, request) {
    const scope = this.#cache.scopeOf(folder);
    const table = scope?.json.imports;
    const found = table === undefined ? undefined : findKey(table, request);
    return found === undefined ? undefined : this.#target(scope, table[found.key], found, folder);
  }

  #package(folder, request) {
    const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(.*)$/.exec(request) ?? [undefined, request, ''];
    const scope = this.#cache.scopeOf(folder);
    if (scope?.json.name === name && scope.json.exports !== undefined) {
      const found = this.#exports(scope, rest);
      if (found !== undefined) return found;
    }
    for (const modules of this.#options.modules) {
      const places = path.isAbsolute(modules) ? [modules] : parentsOf(folder).filter((one) => path.basename(one) !== modules).map((one) => path.join(one, modules));
      for (const place of places) {
        if (!this.#cache.isFolder(place)) continue;
        const home = path.join(place, name);
        const own = this.#cache.isFolder(home) ? this.#cache.packageOf(home) : undefined;
        if (own?.json.exports !== undefined && own.json.exports !== null) {
          const found = this.#exports(own, rest);
          if (found === undefined) throw new NotFound(`"${rest === '' ? '.' : `.${rest}`}" is not exported under the conditions ${JSON.stringify(this.#options.conditionNames)} from package ${home} (see exports field in ${own.file})`);
          return found;
        }
        const found = this.#path(home + rest);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  }

  #exports(own, rest) {
    const { exports } = own.json;
    const isSugar = typeof exports === 'string' || Array.isArray(exports) || Object.keys(exports).every((key) => !key.startsWith('.'));
    const table = isSugar ? { '.': exports } : exports;
    const found = findKey(table, `.${rest}`);
    return found === undefined ? undefined : this.#target(own, table[found.key], found);
  }

  // Returns the file of a target in `exports` or `imports`.
  #target(own, target, found, folder) {
    if (typeof target === 'string') {
      const text = found.isFolder ? target + found.star : target.replaceAll('*', () => found.star);
      if (!text.startsWith('./')) return folder === undefined ? undefined : this.#package(own.folder, text);
      const place = path.join(own.folder, text);
      return this.#aliased(place) ?? (this.#cache.isFile(place) ? place : undefined);
    }
    if (Array.isArray(target)) return firstOf(target, (one) => this.#target(own, one, found, folder));
    for (const [condition, inner] of Object.entries(target ?? {})) {
      if (condition !== 'default' && !this.#options.conditionNames.includes(condition)) continue;
      if (inner === null) return undefined;
      const place = this.#target(own, inner, found, folder);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  // Returns the file with another extension for that of a path (`extensionAlias`).
  #aliased(place) {
    const extension = path.extname(place);
    const others = this.#options.extensionAlias[extension];
    return others === undefined ? undefined : firstOf(listOf(others), (other) => {
      const file = place.slice(0, -extension.length) + other;
      return this.#cache.isFile(file) ? file : undefined;
    });
  }

  #path(place, isFolder = false) {
    const file = isFolder ? undefined : this.#file(place);
    return file ?? (this.#cache.isFolder(place) ? this.#folder(place) : undefined);
  }
  #file(place) {
    const { extensions, enforceExtension, fullySpecified } = this.#options;
    const aliased = this.#aliased(place);
    if (aliased !== undefined) return aliased;
    const isEnforced = enforceExtension === 1 || (enforceExtension !== 2 && extensions.includes(''));
    if (!isEnforced && this.#cache.isFile(place)) return place;
    return fullySpecified ? undefined : firstOf(extensions, (extension) => this.#cache.isFile(place + extension) ? place + extension : undefined);
  }
  #folder(place) {
    const { mainFields, mainFiles, resolveToContext } = this.#options;
    if (resolveToContext) return place;
    const json = this.#cache.packageOf(place)?.json;
    return firstOf(mainFields, (field) => {
      const main = json?.[field];
      if (typeof main !== 'string' || main === '' || main === '.' || main === './') return undefined;
      const target = path.resolve(place, main);
      return this.#file(target) ?? firstOf(mainFiles, (name) => this.#file(path.join(target, name)));
    }) ?? firstOf(mainFiles, (name) => this.#file(path.join(place, name)));
  }
}

function firstOf(list, find) {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const TYPES = { '.mjs': 'module', '.cjs': 'commonjs', '.json': 'json', '.wasm': 'wasm', '.node': 'addon', '.mts': 'module', '.cts': 'commonjs' };
const moduleTypeOf = (file, scope) => TYPES[path.extname(file)] ?? (['.js', '.ts'].includes(path.extname(file)) ? scope?.json.type ?? undefined : undefined);

module.exports = {
  ResolverFactory,
  EnforceExtension: { Auto: 0, Enabled: 1, Disabled: 2 },
  ModuleType: { Module: 'module', CommonJs: 'commonjs', Json: 'json', Wasm: 'wasm', Addon: 'addon' },
  sync: (folder, request) => ResolverFactory.default().sync(folder, request),
};
