'use strict';
// node run.cjs PROGRAM VALUE: runs a program as `node PROGRAM` would, and writes the value of its last expression to
// the file VALUE: as JSON if it is plain data, else the text by which Node shows it, as a JSON string.

const fs = require('fs');
const path = require('path');
const util = require('util');
const vm = require('vm');
const { createRequire } = require('module');
const { pathToFileURL } = require('url');

const [program, result] = process.argv.slice(2);
process.argv.splice(1, 3, program);

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
    require: createRequire(path.join(process.cwd(), 'program.js')),
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

run().then(keep);
