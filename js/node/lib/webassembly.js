// The namespace WebAssembly (WebAssembly JavaScript Interface). The modules are interpreted
// (js_engine::wasm). Objects of modules have numbers there.
(function (native, host) {
'use strict';

const { ArrayBuffer, Error, Promise, SharedArrayBuffer, TypeError, WeakMap } = globalThis;
const { wasm } = native;
const { isView } = ArrayBuffer;

// --- errors ------------------------------------------------------------------------------------

function errorClass(name) {
  const { [name]: Class } = { [name]: class extends Error {
    constructor(message, options) { super(message, options); }
  } };
  Object.defineProperty(Class.prototype, 'name', { value: name, writable: true, configurable: true, enumerable: false });
  return Class;
}
const CompileError = errorClass('CompileError');
const LinkError = errorClass('LinkError');
const RuntimeError = errorClass('RuntimeError');
const ERRORS = { __proto__: null, compile: CompileError, link: LinkError, runtime: RuntimeError, range: RangeError, type: TypeError };

// Calls a function of the interpreter. Its errors get their classes, and the name of the operation
// if there is one.
function attempt(where, call) {
  try {
    return call();
  } catch (error) {
    const Class = ERRORS[error?.wasm];
    if (Class === undefined) throw error;
    throw new Class(where === '' ? error.message : `${where}: ${error.message}`);
  }
}

// --- values --------------------------------------------------------------------------------------

// The exported functions by their numbers, and the reverse.
const functions = new Map();
const functionNumbers = new WeakMap();
// The values of scripts to which modules have references.
const references = [];

// Converts a value to a type, as what the interpreter takes.
function toWasm(type, value) {
  switch (type) {
    case 'i32': return value | 0;
    case 'i64': return BigInt.asIntN(64, value);
    case 'f32': return Math.fround(value);
    case 'f64': return +value;
    case 'funcref': {
      if (value === null) return null;
      const number = typeof value === 'function' ? functionNumbers.get(value) : undefined;
      if (number === undefined) throw new TypeError('type incompatibility when transforming from/to JS');
      return number;
    }
    case 'externref': return value === null ? null : references.push(value) - 1;
    default: throw new TypeError('type incompatibility when transforming from/to JS');
  }
}

function fromWasm(type, value) {
  if (value === null) return null;
  if (type === 'funcref') return exportedFunction(value);
  return type === 'externref' ? references[value] : value;
}

// Returns the results of a script's function as what the interpreter takes.
function resultsOf(types, value) {
  if (types.length === 0) return [];
  if (types.length === 1) return [toWasm(types[0], value)];
  if (value === null || value === undefined || typeof value[Symbol.iterator] !== 'function') {
    throw new TypeError('multi-return value must be iterable');
  }
  const all = [...value];
  if (all.length !== types.length) throw new TypeError('multi-return length mismatch');
  return types.map((type, i) => toWasm(type, all[i]));
}

// --- functions -----------------------------------------------------------------------------------

// The scripts' functions that modules have imported, with their types, and the same by their numbers.
const callbacks = [];
const hosted = new Map();

// Runs a function of a module. A call of a script's function suspends it.
function run(number, words) {
  // A module may export what it has imported.
  const direct = hosted.get(number);
  if (direct !== undefined) {
    const { call, parameters, results } = direct;
    return [0, ...resultsOf(results, call(...parameters.map((type, i) => fromWasm(type, words[i]))))];
  }
  let step = attempt('', () => wasm.call(number, words));
  while (step[0] === 1) {
    const ticket = step[2];
    const { call, parameters, results } = callbacks[step[1]];
    let given;
    try {
      given = resultsOf(results, call(...parameters.map((type, i) => fromWasm(type, step[3 + i]))));
    } catch (error) {
      wasm.abandon(ticket);
      throw error;
    }
    step = attempt('', () => wasm.resume(ticket, given, number));
  }
  return step;
}

function exportedFunction(number) {
  const known = functions.get(number);
  if (known !== undefined) return known;
  const [, parameters, results] = wasm.typeOf(number);
  const name = String(number);
  const { [name]: made } = { [name](...words) {
    const step = run(number, parameters.map((type, i) => toWasm(type, words[i])));
    if (results.length === 0) return undefined;
    if (results.length === 1) return fromWasm(results[0], step[1]);
    return results.map((type, i) => fromWasm(type, step[1 + i]));
  } };
  Object.defineProperty(made, 'length', { value: parameters.length, configurable: true });
  functions.set(number, made);
  functionNumbers.set(made, number);
  return made;
}

function importedFunction(call, [, parameters, results]) {
  const known = functionNumbers.get(call);
  if (known !== undefined) return known;
  const callback = { call, parameters, results };
  callbacks.push(callback);
  const number = wasm.hostFunction(parameters, results, callbacks.length - 1);
  hosted.set(number, callback);
  return number;
}

// --- modules -----------------------------------------------------------------------------------

function bytesOf(source, where) {
  if (!isView(source) && !host.types.isAnyArrayBuffer(source)) throw new TypeError(`${where}: Argument 0 must be a buffer source`);
  const bytes = host.view(source);
  if (bytes.length === 0) throw new CompileError(`${where}: BufferSource argument is empty`);
  return bytes;
}

function needObject(value, where, what) {
  if (value === null || typeof value !== 'object' && typeof value !== 'function') throw new TypeError(`${where}: ${what}`);
}

const unpack = ([kind, ...rest]) => ({ kind, rest });

// What is known of each module; `bytes` is its text, which other threads get.
const abouts = new WeakMap();
function aboutOf(module, where) {
  const about = module === null || typeof module !== 'object' ? undefined : abouts.get(module);
  if (about === undefined) throw new TypeError(`${where}: Argument 0 must be a WebAssembly.Module`);
  return about;
}

class Module {
  constructor(source) {
    const where = 'WebAssembly.Module()';
    if (host.forbidsStrings) throw new CompileError(`${where}: Wasm code generation disallowed by embedder`);
    const bytes = bytesOf(source, where);
    const about = attempt(where, () => wasm.compile(bytes));
    about.bytes = bytes.slice();
    abouts.set(this, about);
  }
  static exports(module) {
    const { exports } = aboutOf(module, 'WebAssembly.Module.exports()');
    return exports.map(([name, type]) => ({ name, kind: unpack(type).kind }));
  }
  static imports(module) {
    const { imports } = aboutOf(module, 'WebAssembly.Module.imports()');
    return imports.map(([from, name, type]) => ({ module: from, name, kind: unpack(type).kind }));
  }
  static customSections(module, name) {
    const { number } = aboutOf(module, 'WebAssembly.Module.customSections()');
    if (name === undefined) throw new TypeError('WebAssembly.Module.customSections(): Argument 1 is required');
    return wasm.customSections(number, String(name));
  }
}

// Modules as values of messages.
host.wasmModules = {
  is: (value) => abouts.has(value),
  bytesOf: (module) => abouts.get(module).bytes,
  make: (bytes) => new Module(bytes),
  copy(module) {
    const made = Object.create(Module.prototype);
    abouts.set(made, abouts.get(module));
    return made;
  },
};

// --- instances -----------------------------------------------------------------------------------

// Returns the number of what an import is given.
function importNumber(where, value, type) {
  const [kind] = type;
  if (kind === 'function') {
    if (typeof value !== 'function') throw new LinkError(`${where}: function import requires a callable`);
    return importedFunction(value, type);
  }
  if (kind === 'memory') {
    if (!isMemory(value)) throw new LinkError(`${where}: memory import must be a WebAssembly.Memory object`);
    return numberOf(value);
  }
  if (kind === 'table') {
    if (!isTable(value)) throw new LinkError(`${where}: table import requires a WebAssembly.Table`);
    return numberOf(value);
  }
  if (isGlobal(value)) return numberOf(value);
  const [, content, isMutable] = type;
  if (isMutable) throw new LinkError(`${where}: imported mutable global must be a WebAssembly.Global object`);
  if (content === 'i64' && typeof value !== 'bigint') throw new LinkError(`${where}: global import must be a BigInt`);
  if ((content === 'i32' || content[0] === 'f' && content !== 'funcref') && typeof value !== 'number') {
    throw new LinkError(`${where}: global import must be a number, valid Wasm reference, or WebAssembly.Global object`);
  }
  return wasm.newGlobal(content, false, toWasm(content, value));
}

const MAKERS = {
  __proto__: null,
  function: exportedFunction,
  memory: (number) => wrap(Memory, number),
  table: (number) => wrap(Table, number),
  global: (number) => wrap(Global, number),
};

function link(module, imports, where) {
  const about = aboutOf(module, where);
  if (imports !== undefined) needObject(imports, where, 'Argument 1 must be an object');
  if (about.imports.length > 0 && imports === undefined) throw new TypeError(`${where}: Imports argument must be present and must be an object`);
  const given = [];
  about.imports.forEach(([from, name, type, place], i) => {
    const group = imports[from];
    needObject(group, where, `Import #${i} "${from}": module is not an object or function`);
    given[place] = importNumber(`${where}: Import #${i} "${from}" "${name}"`, group[name], type);
  });
  const numbers = new Map(attempt(where, () => wasm.instantiate(about.number, given)));
  const exports = { __proto__: null };
  about.exports.forEach(([name, [kind]]) => {
    Object.defineProperty(exports, name, { value: MAKERS[kind](numbers.get(name)), enumerable: true, writable: false, configurable: false });
  });
  return { exports: Object.freeze(exports), start: about.hasStart ? numbers.get('\0start') : undefined };
}

class Instance {
  #exports;
  constructor(module, imports) {
    const { exports, start } = link(module, imports, 'WebAssembly.Instance()');
    if (start !== undefined) run(start, []);
    this.#exports = exports;
  }
  get exports() { return this.#exports; }
}

// --- memories, tables, globals -------------------------------------------------------------------

// An object of which the interpreter has the contents.
const numbers = new WeakMap();
const objects = new Map();
const numberOf = (object) => numbers.get(object);
function own(object, number) {
  numbers.set(object, number);
  objects.set(number, object);
}
// Returns the object of a class for a number, of which there is one.
function wrap(Class, number) {
  const known = objects.get(number);
  if (known !== undefined) return known;
  const made = Object.create(Class.prototype);
  own(made, number);
  return made;
}
const isOf = (name) => (value) => {
  const number = value !== null && typeof value === 'object' ? numbers.get(value) : undefined;
  return number !== undefined && wasm.typeOf(number)[0] === name;
};
const isMemory = isOf('memory');
const isTable = isOf('table');
const isGlobal = isOf('global');
function receiver(is, value, what) {
  if (!is(value)) throw new TypeError(`${what}: Receiver is not a WebAssembly.${what.split('.')[1]}`);
  return numbers.get(value);
}

const MOST = 2 ** 32 - 1;
// Reads a size of a descriptor (the Web IDL type `unsigned long` with EnforceRange).
function size(value, where, name, most = MOST) {
  const number = Math.trunc(Number(value));
  if (!(number >= 0 && number <= MOST)) throw new TypeError(`${where}: ${name} value ${String(value)} must be an unsigned integer of 32 bits`);
  if (number > most) throw new RangeError(`${where}: ${name} value ${number} is above the upper bound ${most}`);
  return number;
}
function limits(descriptor, where, most) {
  const { initial, minimum, maximum } = descriptor;
  const given = initial ?? minimum;
  if (given === undefined) throw new TypeError(`${where}: Property 'initial' is required`);
  const min = size(given, where, "Property 'initial':", most);
  if (maximum === undefined) return [min, undefined];
  const max = size(maximum, where, "Property 'maximum':", most);
  if (max < min) throw new RangeError(`${where}: Property 'maximum': value ${max} is below the lower bound ${min}`);
  return [min, max];
}

class Memory {
  constructor(descriptor) {
    const where = 'WebAssembly.Memory()';
    needObject(descriptor, where, 'Argument 0 must be a memory descriptor');
    const [min, max] = limits(descriptor, where, 65536);
    if (descriptor.shared) throw new TypeError(`${where}: shared memories are not supported`);
    own(this, attempt(where, () => wasm.newMemory(min, max)));
  }
  get buffer() { return wasm.memoryBuffer(receiver(isMemory, this, 'WebAssembly.Memory.buffer')); }
  grow(pages) {
    const where = 'WebAssembly.Memory.grow()';
    const number = receiver(isMemory, this, 'WebAssembly.Memory.grow()');
    const by = size(pages, where, 'Argument 0:');
    return attempt(where, () => wasm.memoryGrow(number, by));
  }
}

class Table {
  constructor(descriptor, init) {
    const where = 'WebAssembly.Table()';
    needObject(descriptor, where, 'Argument 0 must be a table descriptor');
    const element = { anyfunc: 'funcref', funcref: 'funcref', externref: 'externref' }[descriptor.element];
    if (element === undefined) throw new TypeError(`${where}: Descriptor property 'element' must be a WebAssembly reference type`);
    const [min, max] = limits(descriptor, where);
    const first = element === 'externref' && arguments.length > 1 ? toWasm(element, init) : toWasm('funcref', init ?? null);
    own(this, attempt(where, () => wasm.newTable(element, min, max, first)));
  }
  get length() { return wasm.tableSize(receiver(isTable, this, 'WebAssembly.Table.length')); }
  get(index) {
    const where = 'WebAssembly.Table.get()';
    const number = receiver(isTable, this, where);
    const at = size(index, where, 'Argument 0:');
    return fromWasm(elementOf(number), attempt(where, () => wasm.tableGet(number, at)));
  }
  set(index, value) {
    const where = 'WebAssembly.Table.set()';
    const number = receiver(isTable, this, where);
    const at = size(index, where, 'Argument 0:');
    const made = element(where, number, arguments.length > 1, value);
    attempt(where, () => wasm.tableSet(number, at, made));
  }
  grow(count, value) {
    const where = 'WebAssembly.Table.grow()';
    const number = receiver(isTable, this, where);
    const by = size(count, where, 'Argument 0:');
    const made = element(where, number, arguments.length > 1, value);
    return attempt(where, () => wasm.tableGrow(number, by, made));
  }
}
const elementOf = (number) => wasm.typeOf(number)[1];
// Returns a table's new element; without a value it is null, or undefined for values of scripts.
function element(where, number, isGiven, value) {
  const type = elementOf(number);
  try {
    return isGiven || type === 'externref' ? toWasm(type, value) : null;
  } catch {
    throw new TypeError(`${where}: Argument 1 is invalid for table: function-typed object expected`);
  }
}

const DEFAULTS = { __proto__: null, i32: 0, i64: 0n, f32: 0, f64: 0, funcref: null, externref: undefined };

class Global {
  constructor(descriptor, value) {
    const where = 'WebAssembly.Global()';
    needObject(descriptor, where, 'Argument 0 must be a global descriptor');
    const type = descriptor.value === 'anyfunc' ? 'funcref' : String(descriptor.value);
    if (!(type in DEFAULTS)) throw new TypeError(`${where}: Descriptor property 'value' must be a WebAssembly type`);
    const isGiven = value !== undefined || type === 'externref' && arguments.length > 1;
    const first = toWasm(type, isGiven ? value : DEFAULTS[type]);
    own(this, attempt(where, () => wasm.newGlobal(type, Boolean(descriptor.mutable), first)));
  }
  get value() {
    const number = receiver(isGlobal, this, 'WebAssembly.Global.value');
    return fromWasm(wasm.typeOf(number)[1], wasm.globalGet(number));
  }
  set value(value) {
    const where = 'set WebAssembly.Global.value';
    const number = receiver(isGlobal, this, 'WebAssembly.Global.value');
    const [, type, isMutable] = wasm.typeOf(number);
    if (!isMutable) throw new TypeError(`${where}: Can't set the value of an immutable global.`);
    wasm.globalSet(number, toWasm(type, value));
  }
  valueOf() { return this.value; }
}

// --- the namespace -------------------------------------------------------------------------------

// Calls a function in a later job, and returns the promise of its result.
const later = (call) => Promise.resolve().then(call);

const functionsOf = {
  validate(source) {
    const bytes = bytesOf(source, 'WebAssembly.validate()');
    return wasm.validate(bytes);
  },
  compile(source) {
    const where = 'WebAssembly.compile()';
    return promised(() => {
      const bytes = bytesOf(source, where).slice();
      return later(() => renamed(where, () => new Module(bytes)));
    });
  },
  instantiate(source, imports) {
    const where = 'WebAssembly.instantiate()';
    return promised(() => {
      if (imports !== undefined) needObject(imports, where, 'Argument 1 must be an object');
      if (source instanceof Module) return later(() => renamed(where, () => new Instance(source, imports)));
      if (!isView(source) && !host.types.isAnyArrayBuffer(source)) throw new TypeError(`${where}: Argument 0 must be a buffer source or a WebAssembly.Module`);
      const bytes = bytesOf(source, where).slice();
      return later(() => renamed(where, () => new Module(bytes)))
        .then((module) => ({ module, instance: renamed(where, () => new Instance(module, imports)) }));
    });
  },
  compileStreaming(source) {
    return responseBytes(source, 'WebAssembly.compileStreaming()').then((bytes) => functionsOf.compile(bytes));
  },
  instantiateStreaming(source, imports) {
    return responseBytes(source, 'WebAssembly.instantiateStreaming()').then((bytes) => functionsOf.instantiate(bytes, imports));
  },
};

// Returns the promise of a function, also if the function throws.
function promised(call) {
  try {
    return call();
  } catch (error) {
    return Promise.reject(error);
  }
}

// Errors name the function that a script has called.
function renamed(where, call) {
  try {
    return call();
  } catch (error) {
    if (error instanceof CompileError || error instanceof LinkError || error instanceof TypeError) {
      error.message = error.message.replace(/^WebAssembly\.(Module|Instance)\(\)/, where);
    }
    throw error;
  }
}

async function responseBytes(source, where) {
  const response = await source;
  const { ERR_INVALID_ARG_TYPE, ERR_WEBASSEMBLY_RESPONSE } = host.require('internal/errors').codes;
  if (!(response instanceof globalThis.Response)) throw new ERR_INVALID_ARG_TYPE('source', ['Response', 'Promise resolving to Response'], response);
  const type = response.headers.get('Content-Type');
  if (type !== 'application/wasm') throw new ERR_WEBASSEMBLY_RESPONSE(`has unsupported MIME type '${type}'`);
  if (!response.ok) throw new ERR_WEBASSEMBLY_RESPONSE(`has status code ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

// Defines a property as Web IDL does.
const define = (target, name, value, enumerable) => Object.defineProperty(target, name, { value, enumerable, writable: true, configurable: true });

function namespace() {
  const made = {};
  for (const name of ['compile', 'validate', 'instantiate', 'compileStreaming', 'instantiateStreaming']) define(made, name, functionsOf[name], true);
  const classes = { Module, Instance, Table, Memory, Global };
  for (const name in classes) {
    const { prototype } = classes[name];
    Object.defineProperty(prototype, Symbol.toStringTag, { value: `WebAssembly.${name}`, configurable: true });
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (key !== 'constructor') Object.defineProperty(prototype, key, { ...descriptor, enumerable: true });
    }
    define(made, name, classes[name], false);
  }
  for (const name of ['exports', 'imports', 'customSections']) define(Module, name, Module[name], true);
  for (const Class of [CompileError, LinkError, RuntimeError]) define(made, Class.prototype.name, Class, false);
  Object.defineProperty(made, Symbol.toStringTag, { value: 'WebAssembly', configurable: true });
  return made;
}

Object.defineProperty(globalThis, 'WebAssembly', { value: namespace(), writable: true, configurable: true, enumerable: false });
})
