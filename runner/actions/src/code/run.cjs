'use strict';
// node run.cjs PROGRAM VALUE [LISTS]: runs a program as `node PROGRAM` would, and writes the value of its last expression to
// the file VALUE: as JSON if it is plain data, else the text by which Node shows it, as a JSON string.
//
// LISTS is JSON: `allowed`, the built-in modules that the program may load. Node's library itself refuses the others, by
// whatever way they are asked for; that needs --expose-internals, until the list is in force. Without `allowed` all may be loaded,
// and the file is there because a policy lets no string become code (--no-javascript-eval): the program itself is one.

const fs = require('fs');
const path = require('path');
const util = require('util');
const Module = require('module');
const { pathToFileURL } = require('url');
let vm = require('vm');

const [program, result, lists] = process.argv.slice(2);
process.argv.splice(1, process.argv.length - 1, program);
process.execArgv = [];

// The message for a module that the library would say is not there.
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
  // What was the way to the library's inside before there was `require('node:...')`.
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
    // A module (`import`, `await`), whose value is its default export; or an error, which the loader reports.
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
    // A circle, a BigInt: shown as Node does.
  }
  fs.writeFileSync(result, isPlain(value, text) ? text : JSON.stringify(util.inspect(value)));
}

if (lists !== undefined) guard(JSON.parse(fs.readFileSync(lists, 'utf8')).allowed);
run().then(keep);
