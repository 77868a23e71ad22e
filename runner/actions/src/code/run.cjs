'use strict';
// `node run.cjs PROGRAM VALUE [LISTS]` runs a program as `node PROGRAM` would, and writes the value
// of its last expression to the file VALUE. Plain data is written as JSON, any other value as a
// JSON string with the text that Node shows for it.
//
// LISTS is a JSON file whose field `allowed` lists the built-in modules that the program may load.
// Node's library itself refuses all others, however they are requested; setting this up requires
// --expose-internals. Without `allowed`, all modules may be loaded. LISTS is also passed if the
// policy forbids code from strings (--no-javascript-eval), because running the program needs the
// `vm` that the policy hides from scripts.

const fs = require('fs');
const path = require('path');
const util = require('util');
const Module = require('module');
const { pathToFileURL } = require('url');
let vm = require('vm');

const [program, result, lists] = process.argv.slice(2);
process.argv.splice(1, process.argv.length - 1, program);
process.execArgv = [];

// Restricts the modules that the program may load, and gets the `vm` that can run it. For a module
// that is not allowed, the error says so, because the library would report that it does not exist.
function guard(allowed) {
  const { isBuiltin, registerHooks } = Module;
  const { BuiltinModule, vm: whole } = require('internal/wasibox');
  vm = whole;
  if (allowed === undefined) {
    BuiltinModule.setRealmAllowRequireByUsers(Module.builtinModules);
    return;
  }
  const all = new Set(Module.builtinModules);
  const may = new Set(allowed.map((name) => name.replace(/^node:/, '')));
  BuiltinModule.setRealmAllowRequireByUsers([...may]);
  Module.builtinModules = Object.freeze([...may]);
  // These are older ways to reach internal parts of the library.
  for (const name of ['binding', '_linkedBinding', 'dlopen']) delete process[name];
  const text = [...may].join(', ') || 'none';
  registerHooks({
    resolve(specifier, context, next) {
      const name = specifier.replace(/^node:/, '');
      if (all.has(name) && !isBuiltin(specifier)) {
        const error = new Error(`module '${name}' is not among those that may be loaded here: ${text}`);
        error.code = 'ERR_ACCESS_DENIED';
        throw error;
      }
      return next(specifier, context);
    },
  });
}

async function run() {
  let script;
  try {
    script = new vm.Script(fs.readFileSync(program, 'utf8'), {
      filename: program,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // This may be a module (`import`, top-level `await`), whose value is its default export. If it
    // is not, the loader reports the syntax error.
    const file = program.replace(/js$/, 'mjs');
    fs.renameSync(program, file);
    return (await import(pathToFileURL(file))).default;
  }
  const module = { exports: {} };
  Object.assign(globalThis, {
    require: Module.createRequire(path.join(process.cwd(), 'program.js')),
    module,
    exports: module.exports,
    __filename: program,
    __dirname: process.cwd(),
  });
  return script.runInThisContext();
}

function isPlain(value, text) {
  return text !== undefined && util.isDeepStrictEqual(JSON.parse(text), value);
}

function keep(value) {
  if (value === undefined) return;
  let text;
  try {
    text = JSON.stringify(value);
  } catch {
    // Values with cycles or BigInts are written as Node shows them.
  }
  fs.writeFileSync(result, isPlain(value, text) ? text : JSON.stringify(util.inspect(value)));
}

if (lists !== undefined) guard(JSON.parse(fs.readFileSync(lists, 'utf8')).allowed);
run().then(keep);
