// Makes the archive of Node's library: `node --expose-internals --no-warnings extract.cjs OUT`.
// `cargo xtask dist` runs this with the pinned Node. src/library.rs describes the format.
//
// Node's program contains its JavaScript files as text. The archive has them and `host:tables`,
// which contains the data of each internal binding (numbers, strings, lengths of typed arrays,
// names of functions) and the table of command line options, so no constant of Node is copied by
// hand.
'use strict';
const fs = require('fs');
const { writeArchive } = require('./archive.cjs');
const { internalBinding } = require('internal/test/binding');

// Files that cannot work over our bindings, or that only developers of Node use.
const LEFT_OUT = [
  /^internal\/deps\/(amaro|v8)\//, /^internal\/deps\/cjs-module-lexer\//, /^internal\/debugger\//, /^internal\/http2\//,
  /^internal\/quic\//, /^internal\/v8_prof/, /^internal\/main\/(prof_process|mksnapshot|watch_mode|embedding|inspect)$/,
];

// Returns the JSON for a value in the tables, or undefined if it is left out.
function plain(value, depth) {
  if (value === null || ['number', 'string', 'boolean'].includes(typeof value)) return value;
  if (typeof value === 'bigint') return { $bigint: String(value) };
  if (typeof value === 'function') {
    const methods = Object.getOwnPropertyNames(value.prototype ?? {}).filter((n) => n !== 'constructor');
    return { $function: methods };
  }
  if (typeof value === 'symbol') return { $symbol: value.description };
  if (typeof value !== 'object' || depth > 6) return undefined;
  if (ArrayBuffer.isView(value)) return { $array: value.constructor.name, length: value.length };
  if (require('util').types.isMap(value)) return { $map: [...value].map(([k, v]) => [k, plain(v, depth + 1)]) };
  if (require('util').types.isSet(value)) return { $set: [...value] };
  if (Array.isArray(value)) return value.map((v) => plain(v, depth + 1));
  return table(value, depth + 1);
}

function table(object, depth = 0) {
  const out = {};
  for (const name of Object.getOwnPropertyNames(object)) {
    let value;
    try {
      value = object[name];
    } catch {
      continue;
    }
    const made = plain(value, depth);
    if (made !== undefined) out[name] = made;
  }
  return out;
}

const BINDINGS = [
  'async_context_frame', 'async_wrap', 'blob', 'block_list', 'buffer', 'cares_wrap', 'config', 'constants',
  'contextify', 'credentials', 'crypto', 'diagnostics_channel', 'encoding_binding', 'errors', 'fs', 'fs_dir',
  'fs_event_wrap', 'heap_utils', 'http_parser', 'inspector', 'js_stream', 'locks', 'messaging', 'mksnapshot',
  'module_wrap', 'modules', 'options', 'os', 'performance', 'permission', 'pipe_wrap', 'process_methods',
  'process_wrap', 'report', 'serdes', 'signal_wrap', 'spawn_sync', 'stream_pipe', 'stream_wrap',
  'string_decoder', 'symbols', 'task_queue', 'tcp_wrap', 'timers', 'trace_events', 'tty_wrap', 'types',
  'udp_wrap', 'url', 'util', 'uv', 'v8', 'wasm_web_api', 'watchdog', 'worker', 'zlib',
];

const tables = {};
for (const name of BINDINGS) tables[name] = table(internalBinding(name));
const options = internalBinding('options');
const values = options.getCLIOptionsValues();
// The table says that Node was started without options.
values['--expose-internals'] = false;
values['--no-expose-internals'] = true;
values['--warnings'] = true;
values['--no-warnings'] = false;
tables.$options = plain(values, 0);
tables.$optionsInfo = plain(options.getCLIOptionsInfo(), 0);
tables.$embedder = options.getEmbedderOptions();
const crypto = require('crypto');
tables.$hashes = crypto.getHashes();
tables.$ciphers = crypto.getCiphers().map((name) => [name, crypto.getCipherInfo(name)]);
tables.$httpParser = { ...internalBinding('http_parser').HTTPParser };
tables.$uvErrors = [...internalBinding('uv').getErrorMap()];
const http2 = require('http2');
tables.$http2 = { constants: http2.constants, settings: http2.getDefaultSettings() };
const { node, modules, cldr, icu, tz, unicode } = process.versions;
// The locale data are those of this ICU.
tables.$versions = { node, modules, cldr, icu, tz, unicode };

const files = new Map(Object.entries(internalBinding('builtins').natives));
const names = [...files.keys()].filter((name) => !LEFT_OUT.some((r) => r.test(name))).sort();
const parts = [['host:tables', JSON.stringify(tables)], ...names.map((n) => [n, files.get(n)])];

fs.writeFileSync(process.argv[2], writeArchive(parts));
