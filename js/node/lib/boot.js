// The first part of the JavaScript half: defines `internalBinding(name)`, and the functions that
// run Node's bootstrap files. Later parts add to `host.bindings`.
//
// A binding begins with the values in the table of the pinned Node (constants, typed arrays, and
// functions that fail because they are absent); the parts replace the functions that they
// implement.
(function (native, host) {
'use strict';

host.native = native;

// Scripts may replace or break the iterators of arrays, maps and sets. Code that runs alongside a
// script (the event loop, traces, `vm`, writes) therefore accesses arrays by index, and maps and
// sets through these functions: no `for` with `of`, no spread, no array pattern.
host.keysOf = (map) => {
  const keys = [];
  map.forEach((_, key) => { keys.push(key); });
  return keys;
};
host.valuesOf = (map) => {
  const values = [];
  map.forEach((value) => { values.push(value); });
  return values;
};
// A script may override the `length` of typed arrays.
const lengthGetter = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), 'length').get;
host.lengthOf = lengthGetter.call.bind(lengthGetter);
host.someOf = (map, test) => {
  let found = false;
  map.forEach((value) => { found ||= test(value); });
  return found;
};

// The engine seeds its own random generator when it is prepared, so all processes would get the
// same numbers. This generator (xoshiro128**) is seeded in each process.
const state = new Uint32Array([1, 2, 3, 4]);
host.seed = (words) => {
  state.set(words);
  state[0] |= 1;
};
function next() {
  const rotated = Math.imul(state[1], 5);
  const result = Math.imul(rotated << 7 | rotated >>> 25, 9) >>> 0;
  const shifted = state[1] << 9;
  state[2] ^= state[0];
  state[3] ^= state[1];
  state[1] ^= state[2];
  state[0] ^= state[3];
  state[2] ^= shifted;
  state[3] = state[3] << 11 | state[3] >>> 21;
  return result;
}
Math.random = { random: () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992 }.random;

const tables = JSON.parse(native.librarySource('host:tables'));
host.tables = tables;

// --- the tables' values ----------------------------------------------------

const symbols = { __proto__: null };

function absent(binding, name) {
  const what = `${binding}.${name}`;
  return function() {
    const error = new Error(`${what} is not available in this sandbox`);
    error.code = 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM';
    throw error;
  };
}

function revive(value, binding, name) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((v) => revive(v, binding, name));
  if ('$function' in value) {
    const stub = absent(binding, name);
    Object.defineProperty(stub, 'name', { value: name });
    for (const method of value.$function) stub.prototype[method] = absent(binding, `${name}.${method}`);
    return stub;
  }
  if ('$array' in value) return new globalThis[value.$array](value.length);
  if ('$symbol' in value) return symbols[value.$symbol] ??= Symbol(value.$symbol);
  if ('$bigint' in value) return BigInt(value.$bigint);
  if ('$map' in value) return new Map(value.$map.map(([k, v]) => [k, revive(v, binding, name)]));
  if ('$set' in value) return new Set(value.$set);
  const out = {};
  for (const key in value) out[key] = revive(value[key], binding, key);
  return out;
}
host.revive = revive;

// Returns the substitute for a private symbol of V8. Scripts cannot list properties with such
// symbols. Here each symbol has a map with its values, and Object.prototype has an accessor that
// reads and writes the map.
function privateSymbol(name) {
  const symbol = Symbol(name);
  const values = new WeakMap();
  Object.defineProperty(Object.prototype, symbol, {
    __proto__: null,
    configurable: false,
    enumerable: false,
    get() { return values.get(this); },
    set(value) { values.set(this, value); },
  });
  return symbol;
}

const PRIVATE = [
  'arrow_message_private_symbol', 'contextify_context_private_symbol', 'decorated_private_symbol',
  'empty_context_frame_sentinel_symbol', 'transfer_mode_private_symbol', 'host_defined_option_symbol',
  'js_transferable_wrapper_private_symbol', 'entry_point_module_private_symbol',
  'entry_point_promise_private_symbol', 'module_source_private_symbol',
  'module_export_names_private_symbol', 'module_circular_visited_private_symbol',
  'module_export_private_symbol', 'module_first_parent_private_symbol',
  'module_last_parent_private_symbol', 'napi_type_tag', 'napi_wrapper',
  'untransferable_object_private_symbol', 'exit_info_private_symbol', 'promise_trace_id',
  'source_map_data_private_symbol',
];
const privateSymbols = { __proto__: null };
for (const name of PRIVATE) privateSymbols[name] = privateSymbol(name);
host.privateSymbols = privateSymbols;

// --- bindings ----------------------------------------------------------------

// Bindings of absent features. A module that needs such a binding fails when it uses the binding.
const ABSENT = ['profiler', 'http2', 'quic', 'sqlite', 'webstorage', 'sea', 'wasi',
                'internal_only_v8'];

host.bindings = { __proto__: null };
const made = { __proto__: null };

host.binding = function(name) {
  if (made[name] !== undefined) return made[name];
  const table = tables[name];
  const provide = host.bindings[name];
  if (table === undefined && provide === undefined && !ABSENT.includes(name)) throw new Error(`No such binding: ${name}`);
  const object = {};
  for (const key in table) object[key] = revive(table[key], name, key);
  made[name] = object;
  if (provide !== undefined) Object.assign(object, provide(object));
  return object;
};

// --- Node's files --------------------------------------------------------------

const replaced = { __proto__: null };
// Replaces a file of Node's library with one of ours.
host.replace = (id, source) => { replaced[id] = source; };
// Registers a function that changes the text of a file of Node's library.
const patches = { __proto__: null };
host.patch = (id, change) => { patches[id] = change; };

host.compile = function(id, parameters) {
  let source = replaced[id] ?? native.librarySource(id);
  if (source === null || source === undefined) throw new Error(`No such built-in module: ${id}`);
  if (patches[id]) source = patches[id](source);
  return native.evaluate(`(function (${parameters}) {${source}\n})`, `node:${id}`, false);
};

const MAIN = 'process, require, internalBinding, primordials';
const mains = new Map();
// Compiles a file with which a process may begin, so `runMain` need not.
host.readyMain = (id) => { mains.set(id, host.compile(id, MAIN)); };
host.runMain = (id) => (mains.get(id) ?? host.compile(id, MAIN))(host.process, host.require, host.internalBinding, host.primordials);

host.bootstrap = function() {
  const perIsolate = host.binding('symbols');
  const primordials = {};
  host.primordials = primordials;
  const exports = host.perContext = {};
  for (const name of ['primordials', 'domexception', 'messageport']) {
    const run = host.compile(`internal/per_context/${name}`,
                             'exports, primordials, privateSymbols, perIsolateSymbols');
    run(exports, primordials, privateSymbols, perIsolate);
  }
  host.makeProcess();
  const realm = host.compile('internal/bootstrap/realm', 'process, getLinkedBinding, getInternalBinding, primordials');
  realm(host.process, host.binding, host.binding, primordials);
  host.runMain('internal/bootstrap/node');
  for (const part of ['web/exposed-wildcard', 'web/exposed-window-or-worker',
                      'switches/is_main_thread', 'switches/does_own_process_state']) {
    host.runMain(`internal/bootstrap/${part}`);
  }
};

host.bindings.builtins = () => ({
  builtinIds: [...new Set([...native.libraryNames.filter((name) => !name.startsWith('host:')), ...Object.keys(replaced).filter((name) => name.startsWith('internal/'))])],
  natives: {},
  config: JSON.stringify({ target_defaults: {}, variables: { node_use_amaro: true, napi_build_version: '10', v8_enable_i18n_support: 1 } }),
  builtinCategories: { canBeRequired: [], cannotBeRequired: [] },
  compileFunction: (id) => host.compile(id, 'exports, require, module, process, internalBinding, primordials'),
  hasCachedBuiltins: () => true,
  setInternalLoaders(internalBinding, require) {
    host.internalBinding = internalBinding;
    host.require = require;
  },
});

// The hooks that Node's library sets, as `host.hooks.NAME`.
host.hooks = { __proto__: null };
host.setter = (name) => (value) => { host.hooks[name] = value; };
})
