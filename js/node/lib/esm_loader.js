'use strict';

// Replaces Node's internal/modules/esm/loader. The engine links and evaluates modules. This file
// resolves specifiers and loads the text of modules, both by Node's own functions. Other modules
// (built-in ones, CommonJS, JSON) become a few lines that export a value that was loaded in another
// way.

const { host } = internalBinding('host');
const { native } = host;
const { pathToFileURL, fileURLToPath, isURL } = require('internal/url');

const lazy = (load) => {
  let value;
  return () => (value ??= load());
};
const resolver = lazy(() => require('internal/modules/esm/resolve'));
const reader = lazy(() => require('internal/modules/esm/load'));
const typescript = lazy(() => require('internal/modules/typescript'));
const cjs = lazy(() => require('internal/modules/cjs/loader'));
const codes = lazy(() => require('internal/errors').codes);

// The format and the import attributes of each resolved URL.
const known = new Map();
// The exports of synthetic modules, for their texts.
const synthetic = new Map();
let mainURL;

// Returns the URL that specifiers in a module or script of that name are relative to. Code from
// strings (`eval`, `new Function`) has no file, and the engine does not report which script created
// it, so this is the program's main file.
function parentOf(base) {
  if (base === '<eval>' || base === '<input>') base = mainURL ?? host.process.mainModule?.filename;
  if (base === undefined || base === null || base === '') return pathToFileURL(`${process.cwd()}/`).href;
  if (/^[a-z]+:/.test(base)) return base;
  return base.startsWith('/') ? pathToFileURL(base).href : pathToFileURL(`${process.cwd()}/`).href;
}

function resolve(specifier, base, type) {
  if (specifier.startsWith('wasibox-eval:')) return specifier;
  const importAttributes = type === undefined || type === null ? {} : { type };
  const parentURL = parentOf(base);
  const found = resolveTyped(specifier, { __proto__: null, parentURL, importAttributes, conditions: conditions() });
  known.set(found.url, { format: found.format ?? undefined, importAttributes });
  return found.url;
}

// Resolves a specifier as Node does, and as TypeScript does for imports of its files.
function resolveTyped(specifier, context) {
  const { defaultResolve } = resolver();
  const parent = context.parentURL.startsWith('file:') ? fileURLToPath(context.parentURL) : undefined;
  if (!typescript().applies(parent)) return defaultResolve(specifier, context);
  const configured = typescript().byConfig(specifier, parent);
  if (configured !== undefined) return defaultResolve(pathToFileURL(configured).href, context);
  try {
    return defaultResolve(specifier, context);
  } catch (error) {
    const lost = error?.code === 'ERR_MODULE_NOT_FOUND' || error?.code === 'ERR_UNSUPPORTED_DIR_IMPORT';
    const file = lost ? typescript().missing(specifier, parent) : undefined;
    if (file === undefined) throw error;
    return defaultResolve(pathToFileURL(file).href, context);
  }
}

const conditions = lazy(() => require('internal/modules/esm/utils').getDefaultConditions());

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

// Returns the text of a module that exports the properties of `exports`, and `whole` under
// `wholeNames`.
function exporting(url, exports, whole, wholeNames = ['default']) {
  const isObject = exports !== null && (typeof exports === 'object' || typeof exports === 'function');
  const names = isObject ? Object.keys(exports).filter((n) => !wholeNames.includes(n) && IDENTIFIER.test(n)) : [];
  const values = { __proto__: null };
  names.forEach((name) => {
    try {
      values[name] = exports[name];
    } catch {
      values[name] = undefined;
    }
  });
  synthetic.set(url, { whole, values });
  let text = 'const { whole, values } = import.meta.synthetic; delete import.meta.synthetic;\n';
  wholeNames.forEach((name) => { text += `export { whole as ${JSON.stringify(name)} };\n`; });
  names.forEach((name, i) => { text += `const v${i} = values[${JSON.stringify(name)}]; export { v${i} as ${name} };\n`; });
  return text;
}

function load(url) {
  if (url.startsWith('node:')) {
    const { BuiltinModule } = require('internal/bootstrap/realm');
    const id = BuiltinModule.normalizeRequirableId(url);
    if (id === undefined) throw new (codes().ERR_UNKNOWN_BUILTIN_MODULE)(url);
    const exports = BuiltinModule.map.get(id).compileForPublicLoader();
    return exporting(url, exports, exports);
  }
  const context = { __proto__: null, ...known.get(url) };
  const { defaultLoadSync } = reader();
  let { format, source } = defaultLoadSync(url, context);
  // A data: URL is code from a string, unless it is JSON.
  if (url.startsWith('data:') && format !== 'json') host.refuseStrings?.();
  const text = () => typeof source === 'string' ? source : native.decode(host.view(source), 'utf8', 0, source.byteLength);
  if (url.startsWith('file:') && (format === 'module' || format === 'module-typescript')) {
    host.checkModuleText?.(text(), fileURLToPath(url));
  }
  switch (format) {
    case 'module':
      return script(text());
    case 'module-typescript':
      return typescript().stripTypeScriptModuleTypes(text(), fileURLToPath(url));
    case 'json':
      return exportJSON(url, text());
    case 'commonjs':
    case 'commonjs-typescript':
    case 'require-commonjs':
      return exportCommonJS(url);
    default:
      throw new (codes().ERR_UNKNOWN_MODULE_FORMAT)(format, url);
  }
}

const script = (text) => text.startsWith('#!') ? `//${text}` : text;

function exportJSON(url, text) {
  let value;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    error.message = `${fileURLToPath(url)}: ${error.message}`;
    throw error;
  }
  return exporting(url, undefined, value);
}

function exportCommonJS(url) {
  const { Module } = cjs();
  const filename = fileURLToPath(url);
  const exports = Module._load(filename, undefined, url === mainURL);
  return exporting(url, exports, exports, ['default', 'module.exports']);
}

function meta(object, url) {
  if (synthetic.has(url)) {
    object.synthetic = synthetic.get(url);
    synthetic.delete(url);
    return;
  }
  object.__proto__ = null;
  if (url.startsWith('file:')) {
    object.dirname = require('path').dirname(fileURLToPath(url));
    object.filename = fileURLToPath(url);
  }
  object.main = url === mainURL;
  object.resolve = function resolve(specifier) {
    return resolveURL(`${specifier}`, url);
  };
  object.url = url;
}

// Returns the error for a module whose text the engine has refused, with the place in the text.
function refused(error, url, source) {
  return host.showPlace(error, source, url, 'module');
}

function resolveURL(specifier, parent) {
  try {
    return resolve(specifier, parent);
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND' && error.url) return error.url;
    throw error;
  }
}

class ModuleLoader {
  kEvaluationPhase = 2;
  kSourcePhase = 1;

  async import(specifier, parentURL, attributes, phase, isEntryPoint) {
    const url = resolve(`${isURL(specifier) ? specifier.href : specifier}`, parentURL, attributes?.type);
    if (isEntryPoint) mainURL = url;
    return native.importModule(url);
  }

  // Loads an ECMAScript module for `require`, which must have run the module when it returns.
  importSyncForRequire(mod, filename, source, isMain) {
    const url = pathToFileURL(filename).href;
    if (isMain) mainURL = url;
    known.set(url, { format: known.get(url)?.format ?? 'module', importAttributes: {} });
    const promise = native.importModule(url);
    if (native.promiseState(promise) === 0) native.runJobs();
    const state = native.promiseState(promise);
    if (state === 0) throw new (codes().ERR_REQUIRE_ASYNC_MODULE)(filename, mod?.filename);
    const value = native.promiseResult(promise);
    if (state === 2) {
      promise.catch(() => {});
      throw value;
    }
    return { __proto__: null, wrap: { __proto__: null, url }, namespace: value };
  }

  async eval(source, url, isEntryPoint) {
    if (isEntryPoint) mainURL = url;
    const { 0: namespace, 1: promise } = native.runModule(url, script(source));
    await promise;
    return { __proto__: null, namespace };
  }

  createModuleWrap(source, url) { return { source, url }; }
  executeModuleJob(url, wrap, isEntryPoint) { return this.eval(wrap.source, url, isEntryPoint); }
  resolveSync(parentURL, request) {
    const specifier = typeof request === 'string' ? request : request.specifier;
    const url = resolve(specifier, parentURL, request?.attributes?.type);
    return { __proto__: null, url, format: known.get(url)?.format };
  }
  importMetaInitialize(object, { url }) {
    meta(object, url);
    return object;
  }
  waitForAsyncLoaderHookInitialization() {}
  forceLoadHooks() {}
  register() { throw new (codes().ERR_METHOD_NOT_IMPLEMENTED)('module.register()'); }
  get loadCache() { return new Map(); }
}

// Returns whether the entry point is a module that has not ended.
host.unsettled = () => {
  const promise = globalThis[host.privateSymbols.entry_point_promise_private_symbol];
  return promise !== undefined && native.promiseState(promise) === 0;
};

let loader;
function getOrInitializeCascadedLoader() {
  return loader ??= new ModuleLoader();
}

module.exports = {
  createModuleLoader: getOrInitializeCascadedLoader,
  getOrInitializeCascadedLoader,
  isCascadedLoaderInitialized: () => loader !== undefined,
  register: (...args) => getOrInitializeCascadedLoader().register(...args),
  hooks: { resolve, load, meta, refused },
};
