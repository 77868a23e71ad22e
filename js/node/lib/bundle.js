'use strict';

// `js --bundle ENTRY`: writes a program and the modules that it imports as one file, in three
// steps.
//
// 1. Graph: finds each file as Node and TypeScript resolve it (`find`), and turns its text into the
//    body of a function (`native.moduleBody`).
// 2. Link: connects names that are imported from packages without side effects directly to the
//    files that define them (`follow`), and omits files that are then not needed.
// 3. Output: writes the functions, a table that resolves their specifiers, a small loader, and one
//    source map.

const { host } = internalBinding('host');
const { native } = host;
const path = require('path');
const fs = require('fs');
const { pathToFileURL, fileURLToPath } = require('internal/url');
const { isBuiltin } = require('internal/modules/cjs/loader').Module;
const { Module } = require('internal/modules/cjs/loader');
const typescript = require('internal/modules/typescript');

class BundleError extends Error {}

const HELP = `Usage: js --bundle ENTRY [OPTION]...
Write the program ENTRY, with the modules that it imports, as one file.

  -o, --outfile FILE     the file to write; standard output if there is none
  --format esm|cjs|iife  the kind of file (esm; cjs if FILE ends in .cjs)
  --external NAME        leave this package, or names like NAME/*, to be imported; may be repeated
  --minify               short names, no dead code, no white space
  --sourcemap[=inline]   write FILE.map, or put the map into the file
  --help                 show this and exit

TypeScript and JSX are understood as \`node\` does; tsconfig.json has its say. Types are not checked.
Built-in modules of Node are always imported.
`;

// --- command line --------------------------------------------------------------------------------

function parse(words) {
  const { parseArgs } = require('util');
  const flags = words.map((w) => w === '--sourcemap' ? '--sourcemap=file' : w);
  const { values, positionals } = parseArgs({
    args: flags, allowPositionals: true,
    options: {
      outfile: { type: 'string', short: 'o' }, format: { type: 'string' }, external: { type: 'string', multiple: true, default: [] },
      minify: { type: 'boolean', default: false }, sourcemap: { type: 'string' }, help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return values;
  if (positionals.length !== 1) throw new BundleError(positionals.length === 0 ? 'no entry is named' : 'more than one entry is named');
  values.entry = path.resolve(positionals[0]);
  values.format ??= values.outfile?.endsWith('.cjs') ? 'cjs' : 'esm';
  if (!['esm', 'cjs', 'iife'].includes(values.format)) throw new BundleError(`--format: '${values.format}' is not one of esm, cjs, iife`);
  if (![undefined, 'file', 'inline'].includes(values.sourcemap)) throw new BundleError(`--sourcemap: '${values.sourcemap}' is not 'inline'`);
  if (values.sourcemap === 'file' && values.outfile === undefined) throw new BundleError('--sourcemap: needs --outfile, or --sourcemap=inline');
  return values;
}

// --- graph ---------------------------------------------------------------------------------------

const CONDITIONS = ['node', 'import', 'module-sync'];

// Returns the file that a specifier means as `{ file }`, or `{ external }` if it is not bundled.
function find(specifier, parent, how, options) {
  const outside = options.external.some((name) => {
    const star = name.indexOf('*');
    if (star !== -1) return specifier.startsWith(name.slice(0, star)) && specifier.endsWith(name.slice(star + 1));
    return specifier === name || specifier.startsWith(`${name}/`);
  });
  if (outside || isBuiltin(specifier)) return { external: specifier };
  if (/^(https?|data):/.test(specifier)) return { external: specifier };
  const inPackage = parent.includes('/node_modules/');
  const configured = inPackage ? undefined : typescript.byConfig(specifier, parent);
  if (configured !== undefined) return { file: configured };
  try {
    if (how === 'require') {
      const from = new Module(parent, null);
      from.filename = parent;
      from.paths = Module._nodeModulePaths(path.dirname(parent));
      return { file: Module._resolveFilename(specifier, from, false) };
    }
    const { defaultResolve } = require('internal/modules/esm/resolve');
    const found = defaultResolve(specifier, {
      __proto__: null, parentURL: pathToFileURL(parent).href, importAttributes: {}, conditions: CONDITIONS,
    });
    return { file: fileURLToPath(found.url) };
  } catch (error) {
    const file = inPackage ? undefined : typescript.missing(specifier, parent);
    if (file !== undefined) return { file };
    throw error;
  }
}

const packageTypes = host.binding('modules');

// Returns whether the package of a file declares that loading it has no side effects.
function isPure(file) {
  const found = packageTypes.getNearestParentPackageJSON(file);
  if (found === undefined) return false;
  const json = found[5];
  let flags = pure.get(json);
  if (flags === undefined) {
    flags = JSON.parse(host.readText(json)).sideEffects ?? true;
    pure.set(json, flags);
  }
  if (!Array.isArray(flags)) return flags === false;
  const name = path.relative(path.dirname(json), file);
  return !flags.some((glob) => {
    const whole = glob.replace(/^\.\//, '');
    return path.matchesGlob(name, whole.includes('/') ? whole : `**/${whole}`);
  });
}
const pure = new Map();

// Reads a file and returns it as a module of the bundle.
function read(file) {
  const source = host.readText(file);
  const end = path.extname(file);
  if (end === '.json') {
    try {
      JSON.parse(source);
    } catch (error) {
      throw new BundleError(`${file}: ${error.message}`);
    }
    return { file, source, code: `module.exports = ${source.trim()};\n`, mappings: '', module: false, waits: false, requests: [], exports: [], stars: [] };
  }
  if (end === '.node' || end === '.wasm') throw new BundleError(`${file}: files of this kind cannot be bundled`);
  const type = packageTypes.getNearestParentPackageJSONType(file);
  const kinds = /\.[mc][jt]s$/.test(end) ? [undefined] : type === 'module' ? ['module'] : ['either', 'commonjs'];
  let made;
  for (const kind of kinds) {
    made = native.moduleBody(source, file, typescript.transformOptions(file, kind), false);
    if (!made.error) return { ...made, kind, file, source };
  }
  throw typescript.refusal(made.error, file);
}

// Returns the entry, all modules that it reaches by their files, and the external ones by their
// names.
function graph(options) {
  const modules = new Map();
  const externals = new Map();
  const pending = [];
  const add = (file) => {
    if (!modules.has(file)) {
      const module = read(file);
      module.pure = isPure(file);
      modules.set(file, module);
      pending.push(module);
    }
    return modules.get(file);
  };
  const entry = add(options.entry);
  for (let module; (module = pending.shift()) !== undefined;) {
    for (const request of module.requests) {
      let found;
      try {
        found = find(request.specifier, module.file, request.how, options);
      } catch (error) {
        // CommonJS modules may require a missing module within `try`.
        if (request.how === 'import') throw new BundleError(`${module.file}: cannot resolve '${request.specifier}': ${error.message.split('\n')[0]}`);
        found = { external: request.specifier };
      }
      if (found.external === undefined) {
        request.target = add(found.file);
      } else {
        const name = found.external;
        if (!externals.has(name)) externals.set(name, { external: name, imported: false });
        request.target = externals.get(name);
        if (request.how === 'import') request.target.imported = true;
      }
    }
  }
  return { entry, modules, externals };
}

// --- link ----------------------------------------------------------------------------------------

const targetOf = (module, specifier) => module.requests.find((r) => r.specifier === specifier && r.how === 'import').target;

// Returns the module that defines an exported name: `{ module, name }`; undefined if there is none.
function follow(module, name, seen = new Set()) {
  if (module.external !== undefined || !module.module || name === '*') return { module, name };
  const key = `${module.file}\0${name}`;
  if (seen.has(key)) return undefined;
  seen.add(key);
  const own = module.exports.find((e) => e.name === name);
  if (own !== undefined) {
    return own.specifier === undefined ? { module, name } : follow(targetOf(module, own.specifier), own.imported, seen);
  }
  if (name === 'default') return undefined;
  let unsure = false;
  for (const specifier of module.stars) {
    const target = targetOf(module, specifier);
    if (target.external !== undefined || !target.module) {
      unsure = true;
      continue;
    }
    const found = follow(target, name, seen);
    if (found !== undefined) return found;
  }
  return unsure ? { module, name } : undefined;
}

// Returns the names that a module exports, for the entry.
function namesOf(module, seen = new Set()) {
  if (seen.has(module) || module.external !== undefined || !module.module) return [];
  seen.add(module);
  const passed = module.stars.flatMap((s) => namesOf(targetOf(module, s), seen)).filter((n) => n !== 'default');
  return [...new Set([...module.exports.map((e) => e.name), ...passed])];
}

// Returns the needed modules in the order in which they are found, which is also that of their
// numbers. Sets the imports that go directly to defining files.
function link({ entry }) {
  const order = [];
  const include = (module) => {
    if (module.id !== undefined || module.external !== undefined) {
      if (module.external !== undefined) module.used = true;
      return;
    }
    module.id = order.push(module) - 1;
    for (const request of module.requests) {
      const { target, names } = request;
      const single = request.how === 'import' && target.external === undefined && target.module && names.length > 0 && !names.includes('*');
      const found = single ? names.map((name) => {
        const there = follow(target, name);
        if (there === undefined) throw new BundleError(`${module.file}: '${request.specifier}' (${target.file}) has no export '${name}'`);
        return [name, there];
      }) : [];
      // Imports go directly to the defining files, unless loading a module between them has side
      // effects.
      if (single && target.pure) {
        request.picked = found;
        for (const [, there] of found) include(there.module);
      } else {
        include(target);
      }
    }
  };
  include(entry);
  return order;
}

// Marks the asynchronous modules: those that have a top-level `await`, or import an asynchronous
// module. Makes the functions of these modules asynchronous.
function spreadWaiting(order) {
  for (let changed = true; changed;) {
    changed = false;
    for (const module of order) {
      if (module.waits || !module.module) continue;
      const targets = module.requests.filter((r) => r.how === 'import')
        .flatMap((r) => r.picked?.map(([, t]) => t.module) ?? [r.target]);
      if (targets.some((t) => t.waits)) module.waits = changed = true;
    }
  }
  for (const module of order) {
    if (!module.waits) continue;
    const { code, mappings } = native.moduleBody(module.source, module.file, typescript.transformOptions(module.file, module.kind), true);
    Object.assign(module, { code, mappings });
  }
}

// --- output --------------------------------------------------------------------------------------

// The loader. A module is a function that is called when it is first imported. Its exports object
// exists before that, because modules in a cycle need each other's hoisted names.
// `links[id][specifier]` is one of three: the number of a module, `[name]` for an external module,
// or `{ name: [module, name in it] }` for names that are connected directly to their modules.
const LOADER = `
const begun = [];
const outer = {};
function namespaceOf(value) {
  if (value !== null && typeof value === 'object' && value[Symbol.toStringTag] === 'Module') return value;
  const made = Object.create(null, { default: { get: () => value, enumerable: true, configurable: true } });
  if (value !== null && (typeof value === 'object' || typeof value === 'function')) passOn(made, value);
  return made;
}
function passOn(to, from) {
  for (const key of Object.keys(from)) {
    if (key === 'default' || Object.hasOwn(to, key)) continue;
    Object.defineProperty(to, key, { enumerable: true, configurable: true, get: () => from[key] });
  }
}
function begin(id) {
  if (begun[id] !== undefined) return begun[id];
  const [kind, run] = modules[id];
  const record = begun[id] = { kind, exports: {}, done: undefined };
  if (kind === 0) {
    const module = record.module = { exports: {}, id: String(id), loaded: false, children: [] };
    const ask = (specifier) => {
      const target = links[id]['require ' + specifier];
      if (target === undefined || Array.isArray(target)) return outside(target === undefined ? specifier : target[0]);
      const found = begin(target);
      return found.kind === 0 ? found.module.exports : Object.hasOwn(found.exports, 'module.exports') ? found.exports['module.exports'] : found.exports;
    };
    ask.resolve = (specifier) => outsideRequire.resolve(specifier);
    ask.cache = {};
    try {
      run.call(module.exports, module.exports, ask, module, here.filename, here.dirname);
    } catch (error) {
      begun[id] = undefined;
      throw error;
    }
    module.loaded = true;
    return record;
  }
  Object.defineProperty(record.exports = Object.create(null), Symbol.toStringTag, { value: 'Module' });
  const ask = (specifier) => kind === 2 ? waited(links[id][specifier]) : view(links[id][specifier]);
  const later = async (specifier) => {
    const target = links[id]['dynamic ' + specifier];
    return target === undefined || Array.isArray(target) ? imported(target === undefined ? specifier : target[0]) : waited(target);
  };
  record.done = run(ask, record.exports, (from) => passOn(record.exports, from), later, here);
  return record;
}
function exportsOf(id) {
  const found = begin(id);
  return found.kind === 0 ? namespaceOf(found.module.exports) : found.exports;
}
function view(target) {
  if (typeof target === 'number') return exportsOf(target);
  if (Array.isArray(target)) return outer[target[0]] ?? namespaceOf(outside(target[0]));
  const made = Object.create(null);
  for (const name of Object.keys(target)) {
    const [where, there] = target[name];
    const from = view(where);
    Object.defineProperty(made, name, { enumerable: true, get: there === '*' ? () => from : () => from[there] });
  }
  return made;
}
async function waited(target) {
  if (typeof target === 'number') await begin(target).done;
  else if (!Array.isArray(target)) for (const name of Object.keys(target)) await waited(target[name][0]);
  return view(target);
}
`;

function linksOf(module) {
  const place = (target) => target.external !== undefined ? [target.external] : target.id;
  const table = {};
  for (const request of module.requests) {
    const key = request.how === 'import' ? request.specifier : `${request.how} ${request.specifier}`;
    if (request.picked !== undefined) {
      table[key] = Object.fromEntries(request.picked.map(([name, there]) => [name, [place(there.module), there.name]]));
    } else if (request.target.id !== undefined || request.target.external !== undefined) {
      table[key] = place(request.target);
    }
  }
  return table;
}

const ESM_PARAMETERS = '__vite_ssr_import__, __vite_ssr_exports__, __vite_ssr_exportAll__, __vite_ssr_dynamic_import__, __vite_ssr_import_meta__';

// Returns the beginning of the bundle, which gives it access to external modules. For `esm` it is
// `{ imports, table, text }`, otherwise one text.
function outside(format, externals) {
  if (format !== 'esm') {
    return `${format === 'iife' ? '(function () {\n' : ''}"use strict";
const outsideRequire = typeof require === 'function' ? require : undefined;
const outside = (name) => {
  if (outsideRequire === undefined) throw new Error("Cannot find module '" + name + "'");
  return outsideRequire(name);
};
const imported = (name) => import(name);
const here = typeof __filename === 'string' ? { filename: __filename, dirname: __dirname, get url() { return outside('node:url').pathToFileURL(__filename).href; } } : {};
`;
  }
  const used = [...externals.values()].filter((e) => e.used && e.imported);
  const imports = used.map((e, i) => `import * as outside${i} from ${JSON.stringify(e.external)};\n`).join('');
  const table = used.map((e, i) => `outer[${JSON.stringify(e.external)}] = outside${i};\n`).join('');
  return { imports: `import { createRequire } from 'node:module';\n${imports}`, table, text: `const outsideRequire = createRequire(import.meta.url);
const outside = (name) => outer[name] === undefined ? outsideRequire(name) : outer[name].default ?? outer[name];
const imported = (name) => import(name);
const here = import.meta;
` };
}

// The lines of the bundle. Each line has the segments of its source map; a line that is not from a
// module has none.
class Lines {
  text = [];
  map = [];
  add(text, segments = []) {
    const lines = text.replace(/\n$/, '').split('\n');
    lines.forEach((line, i) => {
      this.text.push(line);
      this.map.push(segments[i] ?? []);
    });
  }
}

function exportsOfEntry(entry, format) {
  const begin = entry.waits ? `await waited(${entry.id})` : `exportsOf(${entry.id})`;
  if (format === 'iife') return `${entry.waits ? `waited(${entry.id})` : `exportsOf(${entry.id})`};\n})();\n`;
  if (format === 'cjs') {
    return entry.module && !entry.waits ?
      `module.exports = Object.defineProperty(${begin}, '__esModule', { value: true });\n` :
      entry.waits ? `module.exports = waited(${entry.id});\n` : `module.exports = begin(${entry.id}).module.exports;\n`;
  }
  const names = entry.module ? namesOf(entry) : ['default'];
  const values = names.map((name, i) => `const entry${i} = entry[${JSON.stringify(name)}];\n`).join('');
  const list = names.map((name, i) => `entry${i} as ${/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name)}`);
  return `const entry = ${begin};\n${values}${list.length > 0 ? `export { ${list.join(', ')} };\n` : ''}`;
}

function write({ entry, externals }, order, options) {
  const lines = new Lines();
  const bang = /^#!.*/.exec(entry.source)?.[0];
  if (bang !== undefined) lines.add(bang);
  const before = outside(options.format, externals);
  lines.add(options.format === 'esm' ? before.imports + before.text : before);
  const helpers = native.helpers(order.map((m) => m.code).join('\n'));
  if (helpers !== undefined) lines.add(helpers);
  lines.add(LOADER.trim());
  if (options.format === 'esm' && before.table !== '') lines.add(before.table);
  lines.add('const modules = [');
  const base = path.dirname(path.resolve(options.outfile ?? 'out.js'));
  order.forEach((module, source) => {
    lines.add(`// ${path.relative(base, module.file)}`);
    const head = module.module ? `[${module.waits ? 2 : 1}, ${module.waits ? 'async ' : ''}function (${ESM_PARAMETERS}) {"use strict";` :
      '[0, function (exports, require, module, __filename, __dirname) {';
    lines.add(head);
    const segments = host.decodeMappings(module.mappings).map((line) => line.map(([column, , l, c]) => [column, source, l, c]));
    lines.add(module.code, segments);
    lines.add('}],');
  });
  lines.add('];');
  lines.add(`const links = ${JSON.stringify(order.map(linksOf))};`);
  lines.add(exportsOfEntry(entry, options.format));
  return lines;
}

// Minifies the bundle, and composes the source maps of both steps.
function minify(lines, options) {
  const kind = options.format === 'esm' ? 'module' : 'commonjs';
  const small = native.minify(lines.text.join('\n'), 'bundle.js', kind);
  if (small.error) throw new BundleError(`the bundle cannot be minified: ${small.error.message}`);
  const out = new Lines();
  const segments = host.decodeMappings(small.mappings).map((line) => line.flatMap(([column, , l, c]) => {
    const found = host.segmentAt(lines.map, l, c);
    return found === undefined ? [] : [[column, found[1], found[2], found[3]]];
  }));
  out.add(small.code, segments);
  return out;
}

function bundle(options) {
  const made = graph(options);
  const order = link(made);
  spreadWaiting(order);
  let lines = write(made, order, options);
  if (options.minify) lines = minify(lines, options);
  let text = `${lines.text.join('\n')}\n`;
  let map;
  if (options.sourcemap !== undefined) {
    const base = path.dirname(path.resolve(options.outfile ?? 'out.js'));
    map = JSON.stringify({
      version: 3, file: path.basename(options.outfile ?? 'out.js'), sources: order.map((m) => path.relative(base, m.file)),
      sourcesContent: order.map((m) => m.source), names: [], mappings: host.encodeMappings(lines.map),
    });
    const { Buffer } = require('buffer');
    const url = options.sourcemap === 'inline' ? `data:application/json;charset=utf-8;base64,${Buffer.from(map).toString('base64')}` :
      `${encodeURI(path.basename(options.outfile))}.map`;
    text += `//# sourceMappingURL=${url}\n`;
  }
  return { text, map, modules: order.length };
}

function main(words) {
  let options;
  try {
    options = parse(words);
  } catch (error) {
    host.writeError(`js: --bundle: ${error.message}\nTry 'js --bundle --help' for more information.\n`);
    process.exitCode = 2;
    return;
  }
  if (options.help) {
    process.stdout.write(HELP);
    return;
  }
  try {
    const { text, map } = bundle(options);
    if (options.outfile === undefined) {
      process.stdout.write(text);
      return;
    }
    fs.mkdirSync(path.dirname(path.resolve(options.outfile)), { recursive: true });
    fs.writeFileSync(options.outfile, text);
    if (options.sourcemap === 'file') fs.writeFileSync(`${options.outfile}.map`, map);
  } catch (error) {
    const arrow = error[host.privateSymbols.arrow_message_private_symbol];
    const known = error instanceof BundleError || error.code !== undefined || arrow !== undefined;
    host.writeError(`js: --bundle: ${arrow === undefined ? '' : `${arrow}\n`}${known ? error.message : error.stack}\n`);
    process.exitCode = 1;
  }
}

require('internal/process/pre_execution').prepareMainThreadExecution(false);
main(host.bundleWords);
