// The bindings for values of the language: types, util, errors, task_queue, async_wrap and
// async_context_frame.
(function (native, host) {
'use strict';

// --- types: classes of objects, by the engine's number for each ----------------

const { ArrayBuffer, Uint8Array } = globalThis;
const { isView } = ArrayBuffer;
const number = native.classNumber;
const kinds = {
  isArgumentsObject: [native.evaluate('(function() { return arguments; })()', 'host:values', false), (function() { return arguments; })()],
  isArrayBuffer: [new ArrayBuffer(0)],
  isBigIntObject: [Object(0n)],
  isBooleanObject: [Object(true)],
  isDate: [new Date()],
  isGeneratorObject: [(function* () {})(), (async function* () {})()],
  isMap: [new Map()],
  isMapIterator: [new Map().keys()],
  isNativeError: [new Error()],
  isNumberObject: [Object(0)],
  isPromise: [Promise.resolve()],
  isRegExp: [/x/],
  isSet: [new Set()],
  isSetIterator: [new Set().keys()],
  isSharedArrayBuffer: [new SharedArrayBuffer(1)],
  isStringObject: [Object('')],
  isSymbolObject: [Object(Symbol())],
  isWeakMap: [new WeakMap()],
  isWeakSet: [new WeakSet()],
  isProxy: [new Proxy({}, {})],
  isAsyncFunction: [async function() {}, async function* () {}],
  isGeneratorFunction: [function* () {}, async function* () {}],
};
const types = { isExternal: () => false };
for (const [name, examples] of Object.entries(kinds)) {
  const numbers = examples.map(number);
  types[name] = numbers.length === 1 ?
    (value) => number(value) === numbers[0] :
    (value) => numbers.includes(number(value));
}
types.isAnyArrayBuffer = (value) => types.isArrayBuffer(value) || types.isSharedArrayBuffer(value);
types.isBoxedPrimitive = (value) => types.isNumberObject(value) || types.isStringObject(value) ||
  types.isBooleanObject(value) || types.isBigIntObject(value) || types.isSymbolObject(value);
types.isModuleNamespaceObject = (value) => {
  if (value === null || typeof value !== 'object' || types.isProxy(value) || Object.isExtensible(value)) return false;
  const tag = Object.getOwnPropertyDescriptor(value, Symbol.toStringTag);
  return tag?.value === 'Module' && !tag.configurable && Object.getPrototypeOf(value) === null;
};
host.types = types;
host.bindings.types = () => types;

// --- util ------------------------------------------------------------------------

function isIndex(key) {
  return typeof key === 'string' && /^(0|[1-9][0-9]{0,9})$/.test(key) && Number(key) < 4294967295;
}

function getOwnNonIndexProperties(object, filter) {
  // The bits are V8's: 2 excludes properties that are not enumerable, 16 excludes symbols.
  const fits = (key) => !isIndex(key) && !(filter & 16 && typeof key === 'symbol') &&
    !(filter & 2 && !Object.prototype.propertyIsEnumerable.call(object, key));
  return Reflect.ownKeys(object).filter(fits);
}

// Returns the name of the constructor that made an object, like V8's
// JSReceiver::GetConstructorName.
function getConstructorName(object) {
  for (let o = object; o !== null; o = Object.getPrototypeOf(o)) {
    const descriptor = Object.getOwnPropertyDescriptor(o, 'constructor');
    if (descriptor !== undefined && typeof descriptor.value === 'function' && descriptor.value.name !== '') {
      return descriptor.value.name;
    }
  }
  return 'Object';
}

const called = (method) => method.call.bind(method);
const mapForEach = called(Map.prototype.forEach);
const setForEach = called(Set.prototype.forEach);

// Returns the entries of a map or a set. Those of an iterator cannot be read without advancing it.
function previewEntries(object, isIterator) {
  const entries = [];
  if (types.isMap(object)) {
    mapForEach(object, (v, k) => { entries.push(k, v); });
  } else if (types.isSet(object)) {
    setForEach(object, (v) => { entries.push(v); });
  } else if (!types.isMapIterator(object) && !types.isSetIterator(object)) {
    return undefined;
  }
  return isIterator ? [entries, types.isMap(object)] : entries;
}

function defineLazyProperties(target, id, keys, enumerable = true) {
  for (const key of keys) {
    const get = { [key]() {
      const value = host.require(id)[key];
      Object.defineProperty(target, key, {
        __proto__: null, value, writable: true, enumerable, configurable: true,
      });
      return value;
    } }[key];
    Object.defineProperty(get, 'name', { value: key });
    Object.defineProperty(target, key, {
      __proto__: null, enumerable, configurable: true, get,
      set: { [key](value) {
        Object.defineProperty(target, key, {
          __proto__: null, value, writable: true, enumerable, configurable: true,
        });
      } }[key],
    });
  }
}

function callSites(frames) {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = frames + 2;
  host.rawStack = true;
  const holder = {};
  Error.captureStackTrace(holder, callSites);
  const sites = holder.stack;
  host.rawStack = false;
  Error.stackTraceLimit = limit;
  return (Array.isArray(sites) ? sites : []).slice(1, frames + 1);
}

host.bindings.util = () => ({
  privateSymbols: host.privateSymbols,
  shouldAbortOnUncaughtToggle: new Uint32Array(1),
  isInsideNodeModules(limit = 10) {
    return callSites(limit).some((site) => /[/\\]node_modules[/\\]/.test(site.getFileName() ?? ''));
  },
  defineLazyProperties,
  getPromiseDetails(promise) {
    const state = native.promiseState(promise);
    return state === 0 ? [state] : [state, native.promiseResult(promise)];
  },
  getProxyDetails(value, both = true) {
    const details = native.proxyDetails(value);
    if (details === null || details === undefined) return undefined;
    return both ? details : details[0];
  },
  getCallerLocation() {
    const site = callSites(3)[1];
    return site && [site.getLineNumber(), site.getColumnNumber(), site.getFileName()];
  },
  previewEntries,
  getOwnNonIndexProperties,
  getConstructorName,
  getExternalValue: () => 0n,
  getCallSites(frames) {
    return callSites(frames + 1).slice(1).map((site) => ({
      functionName: site.getFunctionName() ?? '', scriptId: '0', scriptName: site.getFileName() ?? '',
      lineNumber: site.getLineNumber(), columnNumber: site.getColumnNumber(), column: site.getColumnNumber(),
    }));
  },
  sleep(ms) { native.poll([], [], ms); },
  parseEnv: (text) => host.parseEnv(text),
  arrayBufferViewHasBuffer: () => true,
  constructSharedArrayBuffer: (length) => new SharedArrayBuffer(length),
  guessHandleType: (fd) => ['TCP', 'TTY', 'UDP', 'FILE', 'PIPE', 'UNKNOWN', 'INVALID'].indexOf(host.handleType(fd)),
  ...types,
  isArrayBufferView: ArrayBuffer.isView,
  isTypedArray: (v) => isView(v) && !(number(v) === dataView),
  isDataView: (v) => number(v) === dataView,
  isUint8Array: (v) => number(v) === uint8,
});
const dataView = number(new DataView(new ArrayBuffer(1)));
const uint8 = number(new Uint8Array(1));

// Parses the lines of an .env file, as Node documents for `util.parseEnv`.
host.parseEnv = function(text) {
  const out = {};
  const LINE = /^\s*(?:export\s+)?([\w.-]+)\s*=[ \t]*(?:"((?:\\"|[^"])*)"|'([^']*)'|`([^`]*)`|([^\n#]*))?.*$/gm;
  for (const [, name, double, single, back, bare] of text.replace(/\r\n?/g, '\n').matchAll(LINE)) {
    out[name] = double?.replace(/\\n/g, '\n') ?? single ?? back ?? (bare ?? '').trim();
  }
  return out;
};

// --- errors ----------------------------------------------------------------------

// Returns the first line of a trace, which V8 writes and QuickJS does not.
function header(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return '<error>';
  }
}

// The methods of V8's call sites that QuickJS lacks.
const site = {
  getScriptNameOrSourceURL() { return this.getFileName(); },
  getEvalOrigin() { return undefined; },
  getTypeName() { return null; },
  getMethodName() { return null; },
  getThis() { return undefined; },
  isToplevel() { return true; },
  isEval() { return false; },
  isConstructor() { return false; },
  isAsync() { return false; },
  isPromiseAll() { return false; },
  getPromiseIndex() { return null; },
  getScriptHash() { return ''; },
  getEnclosingLineNumber() { return 0; },
  getEnclosingColumnNumber() { return 0; },
  getPosition() { return 0; },
  toString() {
    const plain = this.getFunctionName();
    // V8 adds the type of the receiver, which the engine does not know. This function always has
    // the same one.
    const name = plain === 'processTicksAndRejections' ? `process.${plain}` : plain;
    const file = this.getFileName();
    // V8 shows functions of the language without a place, and constructors with `new`.
    if (this.isNative() || file === null) {
      return `${/^[A-Z]/.test(name) ? 'new ' : ''}${name || '<anonymous>'} (<anonymous>)`;
    }
    const place = `${file}:${this.getLineNumber()}:${this.getColumnNumber()}`;
    return name ? `${name} (${place})` : place;
  },
};
// The engine's names for functions without a name, and for code outside of functions.
const NAMELESS = [undefined, '', '<eval>', '<module>', '<anonymous>'];
function completeSites(sites) {
  if (sites.length === 0) return;
  const proto = Object.getPrototypeOf(sites[0]);
  if (Object.hasOwn(proto, 'getPosition')) return;
  // In V8, code outside of functions has no function name.
  const { getFunctionName } = proto;
  Object.defineProperty(proto, 'getFunctionName', {
    __proto__: null, writable: true, configurable: true, enumerable: false,
    value: { getFunctionName() {
      const name = getFunctionName.call(this);
      return NAMELESS.includes(name) ? null : name;
    } }.getFunctionName,
  });
  for (const name of Object.keys(site)) {
    Object.defineProperty(proto, name, {
      __proto__: null, value: site[name], writable: true, configurable: true, enumerable: false,
    });
  }
}

// Hides the frames of our own JavaScript.
const debug = native.environ().includes('WASIBOX_JS_PARTS');
const inner = (s) => !debug && ( (s.getFileName() ?? '').startsWith('host:') || (s.isNative() && (s.getFunctionName() === 'call' || s.getFunctionName() === 'apply')));

// Returns a trace without the constructors of the error's own classes, which V8 omits, too.
function belowConstructors(error, sites) {
  let at = 0;
  let kind = error.constructor;
  const classes = new Set();
  for (; typeof kind === 'function' && kind !== Function.prototype; kind = Object.getPrototypeOf(kind)) classes.add(kind);
  while (at < sites.length - 1 && classes.has(sites[at].getFunction())) at++;
  return sites.slice(at);
}

// Returns the text of a trace of at most `limit` frames. If the script has set a prepareStackTrace,
// returns its result. It is a property of `Constructor`, the `Error` of the realm of the error.
function traceOf(error, sites, { Constructor, limit }) {
  const mapped = host.mapSites(host.placedSites(sites.filter((s) => !inner(s)).slice(0, limit)));
  // Node's library replaces the trace of an error that it shows itself (in the REPL).
  const replacements = host.begun ? host.require('internal/errors').overrideStackTrace : undefined;
  const replace = replacements?.get(error);
  if (replace !== undefined) {
    replacements.delete(error);
    return replace(error, mapped);
  }
  // If the `Error` of a context has none, that of the main realm applies.
  const own = Constructor.prepareStackTrace;
  const users = typeof own === 'function' ? own : Error.prepareStackTrace;
  if (typeof users === 'function' && users !== host.defaultPrepare) return users(error, mapped);
  let text = header(error);
  for (let i = 0; i < mapped.length; i++) text += `\n    at ${mapped[i]}`;
  return text;
}

// The number of frames that the engine collects beyond `Error.stackTraceLimit`. They are needed
// because our own frames and those of constructors are removed before frames are counted. The
// engine collects at most 64 frames.
const FRAMES_BEYOND = 8;

// Makes the traces of a realm's errors like V8's. `Constructor` is the realm's `Error`.
host.traceErrors = function(Constructor) {
  const { captureStackTrace: capture } = Constructor;
  const limitOf = Object.getOwnPropertyDescriptor(Constructor, 'stackTraceLimit').set;
  const callCapture = called(capture);
  let limit = 10;
  // Whether captureStackTrace is running. The engine then sets `stack` to the result of
  // prepareStackTrace.
  let capturing = false;

  // The engine calls this when an error is created, and again when a `finally` has passed the error
  // on; only the first trace counts. As in V8, `stack` is an own property. Its text is made when it
  // is first read, so it has a message that was set after the error was created.
  function prepareStackTrace(error, sites) {
    if (error === null || (typeof error !== 'object' && typeof error !== 'function')) return undefined;
    completeSites(sites);
    if (host.rawStack) return sites;
    if (typeof limit !== 'number') return undefined;
    const within = { Constructor, limit: Math.max(0, limit) };
    if (capturing) return traceOf(error, sites, within);
    if (Object.hasOwn(error, 'stack')) return undefined;
    const settle = (value) => Object.defineProperty(error, 'stack', { value, writable: true, configurable: true, enumerable: false });
    Object.defineProperty(error, 'stack', {
      get() {
        const text = traceOf(error, belowConstructors(error, sites), within);
        settle(text);
        return text;
      },
      set(value) {
        if (this === error) settle(value);
        else Object.defineProperty(this, 'stack', { value, writable: true, configurable: true, enumerable: true });
      },
      configurable: true,
      enumerable: false,
    });
    return undefined;
  }

  // The engine keeps this function. The property that scripts see and set is a different one, which
  // is read for each trace.
  Constructor.prepareStackTrace = prepareStackTrace;
  Object.defineProperty(Constructor, 'prepareStackTrace', { value: undefined, writable: true, enumerable: false, configurable: true });
  Object.defineProperty(Constructor, 'stackTraceLimit', {
    get: () => limit,
    set(value) {
      limit = value;
      limitOf.call(Constructor, typeof value === 'number' && value > 0 ? value + FRAMES_BEYOND : 0);
    },
    enumerable: true,
    configurable: true,
  });
  Constructor.stackTraceLimit = limit;
  const captureStackTrace = function captureStackTrace(target, above) {
    capturing = true;
    try {
      return arguments.length > 1 ? callCapture(Constructor, target, above) : callCapture(Constructor, target);
    } finally {
      capturing = false;
    }
  };
  Object.defineProperty(Constructor, 'captureStackTrace', { value: captureStackTrace, writable: true, enumerable: false, configurable: true });
};

host.installStackTraces = () => host.traceErrors(Error);

host.bindings.errors = () => ({
  setPrepareStackTraceCallback: host.setter('prepareStackTrace'),
  setGetSourceMapErrorSource: host.setter('sourceMapErrorSource'),
  setSourceMapsEnabled() {},
  setMaybeCacheGeneratedSourceMap() {},
  setEnhanceStackForFatalException(before, after) {
    host.hooks.enhanceBefore = before;
    host.hooks.enhanceAfter = after;
  },
  noSideEffectsToString(value) {
    try {
      return typeof value === 'symbol' ? value.toString() : `${value}`;
    } catch {
      return Object.prototype.toString.call(value);
    }
  },
  triggerUncaughtException(error, fromPromise) { host.uncaught(error, fromPromise); },
  getErrorSourcePositions: (error) => host.errorPositions(error),
});

// --- microtasks and rejections -----------------------------------------------------

host.bindings.task_queue = (table) => {
  host.tickInfo = table.tickInfo;
  return {
    enqueueMicrotask(callback) {
      Promise.resolve().then(() => {
        try {
          callback();
        } catch (error) {
          host.uncaught(error, false);
        }
      });
    },
    setTickCallback: host.setter('tick'),
    runMicrotasks: native.runJobs,
    promiseRejectEvents: {
      kPromiseRejectWithNoHandler: 0, kPromiseHandlerAddedAfterReject: 1,
      kPromiseResolveAfterResolved: 2, kPromiseRejectAfterResolved: 3,
    },
    setPromiseRejectCallback: host.setter('rejected'),
  };
};
host.onRejection = (promise, handled, reason) => host.hooks.rejected?.(handled ? 1 : 0, promise, reason);

// --- async hooks: ids are counted, but promises are not tracked ----------------------

host.bindings.async_wrap = (table) => {
  const { async_hook_fields: fields, async_id_fields: ids, constants: k } = table;
  ids[k.kAsyncIdCounter] = 1;
  ids[k.kDefaultTriggerAsyncId] = -1;
  ids[k.kExecutionAsyncId] = 0;
  const stack = [];
  return {
    execution_async_resources: [],
    setupHooks: host.setter('asyncHooks'),
    setCallbackTrampoline() {},
    registerDestroyHook() {},
    pushAsyncContext(id, trigger) {
      stack.push([ids[k.kExecutionAsyncId], ids[k.kTriggerAsyncId]]);
      fields[k.kStackLength]++;
      ids[k.kExecutionAsyncId] = id;
      ids[k.kTriggerAsyncId] = trigger;
    },
    popAsyncContext() {
      const top = stack.pop();
      if (top === undefined) return false;
      fields[k.kStackLength]--;
      ids[k.kExecutionAsyncId] = top[0];
      ids[k.kTriggerAsyncId] = top[1];
      return stack.length > 0;
    },
    executionAsyncResource: () => undefined,
    clearAsyncIdStack() {
      stack.length = 0;
      fields[k.kStackLength] = 0;
      ids[k.kExecutionAsyncId] = 0;
      ids[k.kTriggerAsyncId] = 0;
    },
    queueDestroyAsyncId() {},
    setPromiseHooks() {},
    getPromiseHooks: () => [undefined, undefined, undefined, undefined],
  };
};

// --- the frame of asynchronous context -------------------------------------------------------

// Node's library keeps the values of each AsyncLocalStorage in a frame. In the guest the engine lets
// the frame follow promises; elsewhere it follows callbacks only.
let frame;
host.frame = native.continuation ?? (() => frame);
host.setFrame = native.setContinuation ?? ((value) => { frame = value; });

// Calls a function in a frame.
host.within = (inner, callback) => {
  const outer = host.frame();
  host.setFrame(inner);
  try {
    return callback();
  } finally {
    host.setFrame(outer);
  }
};

// A handle or request, whose callbacks run in the frame in which it was made (AsyncWrap in Node's
// C++).
host.Framed = class Framed {
  #frame = host.frame();
  static frameOf(one) { return #frame in one ? one.#frame : undefined; }
};

// Reports an object of Node's C++ to the hooks `init` of async_hooks. Returns the object's number.
host.emitInit = (type, resource) => {
  const { async_hook_fields: fields, async_id_fields: ids, constants: k } = host.binding('async_wrap');
  ids[k.kAsyncIdCounter] += 1;
  const id = ids[k.kAsyncIdCounter];
  if (fields[k.kInit] > 0) {
    const trigger = ids[k.kDefaultTriggerAsyncId];
    host.hooks.asyncHooks.init(id, type, trigger < 0 ? ids[k.kExecutionAsyncId] : trigger, resource);
  }
  return id;
};
host.emitDestroy = (id) => {
  const { async_hook_fields: fields, constants: k } = host.binding('async_wrap');
  if (id !== undefined && fields[k.kDestroy] > 0) host.hooks.asyncHooks.destroy(id);
};

host.bindings.async_context_frame = () => ({
  getContinuationPreservedEmbedderData: host.frame,
  setContinuationPreservedEmbedderData: host.setFrame,
});

host.valueKinds = { isView, isDataView: (v) => number(v) === dataView, previewEntries, getConstructorName };
})
