// The bindings for modules and scripts: contextify, module_wrap, modules and cjs_lexer. Node's
// loader of ECMAScript modules is replaced with one that uses the engine's (esm_loader.js).
(function (native, host) {
'use strict';

// --- contextify --------------------------------------------------------------------------------

const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

// Returns a script for the body of a function, in which a first line `#!` is not a comment.
const body = (source) => source.startsWith('#!') ? `//${source}` : source;

// For each file that is compiled as the body of a function, the length of the text before its first
// line. Columns of errors do not count that text.
host.firstLines = new Map();

// Compiles the body of a function, in a realm of `vm` if there is a context. The properties of the
// objects in `extensions` are in its scope.
function compileFunction(source, filename, parameters, context, extensions = []) {
  const scopes = extensions.map((_, i) => `with ($extensions[${i}])`).join(' ');
  const outer = scopes === '' ? ['', ''] : [`(function ($extensions) { ${scopes} return `, ' })'];
  const head = `${outer[0]}(function (${parameters.join(',')}) {`;
  if (filename) host.firstLines.set(filename, head.length);
  const text = `${head}${body(source)}\n})${outer[1]}`;
  try {
    const made = context === undefined ? native.evaluate(text, filename, false) : runIn(context, text, filename);
    return scopes === '' ? made : made(extensions);
  } catch (error) {
    throw host.showPlace(error, source, filename, 'commonjs');
  }
}

// Returns whether a text that is not valid CommonJS is a module (Node's syntax detection).
const looksLikeModule = (source, error) => declaresParameters(source, error) || native.isModuleText(source, '/source.js');

// Returns whether a text fails as CommonJS only because it declares names that the wrapper has, such
// as `const module`. A module may do so.
function declaresParameters(source, error) {
  if (!String(error?.message).includes('redefinition of parameter')) return false;
  try {
    compileFunction(source, '', []);
    return true;
  } catch {
    return false;
  }
}

function containsModuleSyntax(source, filename) {
  try {
    compileFunction(source, filename ?? '[eval]', PARAMETERS);
    return false;
  } catch (error) {
    return looksLikeModule(source, error);
  }
}

// The number of scripts that Ctrl-C is to interrupt; whether it was typed and none has taken it.
let watchers = 0;
let interruptPending = false;

function watchInterrupts() {
  if (watchers++ > 0) return;
  native.watchInterrupts(true);
  host.catchInterrupts(true);
}

// Returns whether Ctrl-C was typed since the watch began. If so and `take` is set, the caller
// handles it; otherwise an outer watcher does.
function unwatchInterrupts(take) {
  interruptPending = native.takeInterrupt() || interruptPending;
  const was = interruptPending;
  if (take || watchers === 1) interruptPending = false;
  if (--watchers === 0) {
    native.watchInterrupts(false);
    host.catchInterrupts(false);
  }
  return was;
}

class ContextifyScript {
  #source;
  #filename;
  constructor(source, filename = 'evalmachine.<anonymous>', line, column, cached, produce, context, id) {
    this[host.privateSymbols.host_defined_option_symbol] = id ?? Symbol(filename);
    this.#source = String(source);
    this.#filename = filename;
    // The constructor reports syntax errors.
    try {
      native.checkSyntax(body(this.#source), filename);
    } catch (error) {
      throw host.showPlace(error, this.#source, filename, 'script');
    }
    this.cachedDataRejected = undefined;
    this.sourceMapURL = undefined;
  }
  runInContext(context, timeout, displayErrors, breakOnSigint) {
    const run = () => context === null
      ? native.evaluate(body(this.#source), this.#filename, false)
      : runIn(context, body(this.#source), this.#filename);
    if (!(timeout > 0) && !breakOnSigint) return run();
    if (breakOnSigint) watchInterrupts();
    let done;
    let interrupted = false;
    try {
      done = native.within(timeout > 0 ? timeout : Infinity, run);
    } finally {
      if (breakOnSigint) interrupted = unwatchInterrupts(done === undefined);
    }
    if (done) return done[0];
    if (interrupted) {
      throw Object.assign(new Error('Script execution was interrupted by `SIGINT`'), { code: 'ERR_SCRIPT_EXECUTION_INTERRUPTED' });
    }
    throw Object.assign(new Error(`Script execution timed out after ${timeout}ms`), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
  }
  createCachedData() { return host.require('buffer').Buffer.alloc(0); }
}

// A context is a realm of the engine, whose global object is synchronised with the sandbox object.
const realms = new WeakMap();
function makeContext(sandbox) {
  const object = typeof sandbox === 'symbol' ? {} : sandbox;
  object[host.privateSymbols.contextify_context_private_symbol] = object;
  const { 0: global, 1: number } = native.newRealm();
  host.traceErrors(global.Error);
  host.installIntl(global);
  realms.set(object, { global, number });
  return object;
}

function runIn(context, source, filename) {
  const realm = realms.get(context);
  const global = realm.global;
  // The sandbox's properties are copied in before the script, and the script's new ones are copied
  // out after it.
  const before = new Set();
  Reflect.ownKeys(global).forEach((key) => { before.add(key); });
  Reflect.ownKeys(context).forEach((key) => {
    const descriptor = Object.getOwnPropertyDescriptor(context, key);
    try {
      Object.defineProperty(global, key, { ...descriptor, configurable: true });
    } catch {
      // The realm has a property of this name that cannot be replaced.
    }
  });
  try {
    return native.evaluateIn(realm.number, source, filename);
  } finally {
    Reflect.ownKeys(global).forEach((key) => {
      if (before.has(key) && !Object.hasOwn(context, key)) return;
      const descriptor = Object.getOwnPropertyDescriptor(global, key);
      const old = Object.getOwnPropertyDescriptor(context, key);
      if (old && 'value' in old && 'value' in descriptor && Object.is(old.value, descriptor.value)) return;
      try {
        Object.defineProperty(context, key, descriptor);
      } catch {
        // The sandbox object is frozen.
      }
    });
    Reflect.ownKeys(context).forEach((key) => {
      if (!Object.hasOwn(global, key)) Reflect.deleteProperty(context, key);
    });
    Reflect.ownKeys(global).forEach((key) => { if (!before.has(key)) Reflect.deleteProperty(global, key); });
  }
}

host.bindings.contextify = () => ({
  ContextifyScript,
  makeContext,
  compileFunction(source, filename, line, column, cached, produce, context, extensions, parameters) {
    const made = compileFunction(source, filename ?? '', parameters ?? [], context, extensions);
    made[host.privateSymbols.host_defined_option_symbol] = Symbol(filename);
    return { function: made, sourceMapURL: undefined };
  },
  compileFunctionForCJSLoader(source, filename, isSea, detect) {
    host.checkModuleText?.(source, filename);
    try {
      return {
        function: compileFunction(source, filename, PARAMETERS),
        canParseAsESM: false, cachedDataRejected: false, sourceMapURL: undefined,
      };
    } catch (error) {
      if (detect && looksLikeModule(source, error)) {
        return { function: undefined, canParseAsESM: true, cachedDataRejected: false, sourceMapURL: undefined };
      }
      throw error;
    }
  },
  containsModuleSyntax,
  startSigintWatchdog() {
    watchInterrupts();
    return true;
  },
  // Returns whether Ctrl-C was typed and has interrupted nothing.
  stopSigintWatchdog: () => unwatchInterrupts(true),
  watchdogHasPendingSigint: () => interruptPending,
  measureMemory() {},
});

// --- package.json --------------------------------------------------------------------------------

const packages = new Map();

// Reads a package.json. Returns the same as Node's C++ reader: [name, main, type, imports, exports,
// file], with undefined for absent parts.
function readPackage(path, base, specifier) {
  if (packages.has(path)) return packages.get(path);
  let found;
  if (native.tryStat(path, true)) {
    const text = host.readText(path);
    let json;
    try {
      json = JSON.parse(text);
    } catch (error) {
      const { ERR_INVALID_PACKAGE_CONFIG } = host.require('internal/errors').codes;
      throw new ERR_INVALID_PACKAGE_CONFIG(path, base === undefined ? undefined : `"${specifier}" from ${base}`, error.message);
    }
    const string = (v) => typeof v === 'string' ? v : undefined;
    const type = json?.type === 'module' || json?.type === 'commonjs' ? json.type : 'none';
    const part = (v) => v === undefined || v === null ? undefined : typeof v === 'string' ? v : JSON.stringify(v);
    found = [string(json?.name), string(json?.main), type, part(json?.imports), part(json?.exports), path];
  }
  packages.set(path, found);
  return found;
}

function nearest(file) {
  let at = file;
  while (at !== '/' && at !== '') {
    at = at.slice(0, at.lastIndexOf('/'));
    if (at.endsWith('/node_modules')) return undefined;
    const found = readPackage(`${at}/package.json`);
    if (found) return found;
  }
  return undefined;
}

function filePath(url) {
  return String(url).startsWith('file:') ? host.require('internal/url').fileURLToPath(url) : String(url);
}

host.bindings.modules = () => ({
  readPackageJSON: (path, isESM, base, specifier) => readPackage(path, base, specifier),
  getNearestParentPackageJSON: nearest,
  getNearestParentPackageJSONType: (path) => nearest(path)?.[2] ?? 'none',
  getPackageScopeConfig(url) {
    const path = filePath(url);
    return nearest(path) ?? '/package.json';
  },
  getPackageType(url) {
    const type = nearest(filePath(url))?.[2];
    return type === 'none' ? undefined : type;
  },
  enableCompileCache: () => [3],
  getCompileCacheDir: () => undefined,
  flushCompileCache() {},
  getCompileCacheEntry: () => undefined,
  saveCompileCacheEntry() {},
  setLazyPathHelpers() {},
});

host.bindings.cjs_lexer = () => ({ parse: () => [[], []] });

// --- module_wrap: only the parts that Node's library uses ----------------------------------------

// Returns the namespace that `require` returns for a module with a default export. It has the names
// of the module, and `__esModule`, by which compiled `import` statements recognise it.
function createRequiredModuleFacade({ url }) {
  const from = JSON.stringify(url);
  const text = `export * from ${from}; export { default } from ${from}; export const __esModule = true;`;
  const { 0: namespace, 1: promise } = native.runModule(`wasibox-facade:${url}`, text);
  promise.catch(() => {});
  return namespace;
}

host.bindings.module_wrap = (table) => {
  // A built-in module as the loader of ECMAScript modules sees it.
  class ModuleWrap {
    constructor(url, context, exports, evaluate) {
      this.url = url;
      this.values = { __proto__: null };
      this.evaluateStep = evaluate;
    }
    instantiate() {}
    evaluate() { this.evaluateStep?.call(this); }
    setExport(name, value) { this.values[name] = value; }
    getNamespace() { return this.values; }
  }
  return {
    ...table,
    ModuleWrap,
    setImportModuleDynamicallyCallback() {},
    setInitializeImportMetaObjectCallback() {},
    createRequiredModuleFacade,
    throwIfPromiseRejected() {},
  };
};

host.replace('internal/modules/esm/loader', native.esmLoader);
// Symbols are refused with V8's message, which Node's documentation of URLSearchParams contains.
host.patch('internal/url', (text) => `${text.replace(/StringPrototypeToWellFormed\(`\$\{([^`}]+)\}`\)/g, 'usvString($1)')}
function usvString(value) {
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string');
  return StringPrototypeToWellFormed(\`\${value}\`);
}`);
// For our own programs, which run with --expose-internals: the built-in modules that programs may
// load, and the `vm` that a policy without code from strings hides from scripts.
host.replace('internal/wasibox', `exports.BuiltinModule = require('internal/bootstrap/realm').BuiltinModule;
exports.vm = internalBinding('host').host.vm ?? require('vm');`);
host.replace('internal/modules/typescript', native.typescript);
host.replace('wasibox/bundle', native.bundle);
host.replace('http2', native.http2);
// Node knows .ts, .mts and .cts. Files in .tsx and .jsx are treated like .ts.
// These functions do nothing unless coverage was asked for, and there is none here.
host.patch('v8', (text) => text.replace('let profiler = {};', 'let profiler = { takeCoverage() {}, stopCoverage() {} };'));
host.patch('internal/modules/cjs/loader', (text) => text.replace(
  "StringPrototypeEndsWith(filename, '.ts') && tsEnabled", "RegExpPrototypeExec(/\\.(?:tsx?|jsx)$/, filename) !== null && tsEnabled"));
host.patch('internal/modules/esm/get_format', (text) => text.replace(
  "ext === '.ts' && getOptionValue", "(ext === '.ts' || ext === '.tsx' || ext === '.jsx') && getOptionValue"));
host.bindings.host = () => ({ host });

host.afterBootstrap = function() {
  // In Node these methods are the inspector's, which does nothing while nobody listens.
  const { profile, profileEnd, timeStamp, createTask } = {
    profile() {}, profileEnd() {}, timeStamp() {},
    createTask(name) {
      if (typeof name !== 'string' || name === '') throw new Error('First argument must be a non-empty string.');
      return { run: (callback) => callback() };
    },
  };
  Object.assign(globalThis.console, { profile, profileEnd, timeStamp, createTask });
  // These are Node's own functions, which scripts may replace.
  host.defaultPrepare = Error.prepareStackTrace;
  const { resolve, load, meta, refused } = host.require('internal/modules/esm/loader').hooks;
  native.setModuleHooks(resolve, load, meta, refused);
  const { Module } = host.require('internal/modules/cjs/loader');
  const typescript = host.require('internal/modules/typescript');
  const { _resolveFilename: resolveFilename } = Module;
  // Handles `require` of TypeScript files as esm_loader.js handles `import`.
  Module._resolveFilename = function(request, parent, isMain, options) {
    const from = parent?.filename ?? undefined;
    if (isMain && host.tsx) request = typescript.fileOf(request) ?? request;
    if (typeof request !== 'string' || !typescript.applies(from)) return resolveFilename.call(this, request, parent, isMain, options);
    const configured = typescript.byConfig(request, from);
    if (configured !== undefined) return configured;
    try {
      return resolveFilename.call(this, request, parent, isMain, options);
    } catch (error) {
      const file = error?.code === 'MODULE_NOT_FOUND' ? typescript.missing(request, from) : undefined;
      if (file === undefined) throw error;
      return file;
    }
  };
};
})
