'use strict';
// Runs cases of test262 by `node`: `host.cjs LIST SUITE`, LIST has lines "FILE<tab>MODE", MODE is strict, sloppy, module
// or raw. Each ends in a line "FILE<tab>MODE<tab>pass" or "...<tab>REASON". Cases of one list share the
// process: what one has spoiled for another is for the caller to find, who runs again alone what fails here.
// The rules are those of test262's INTERPRETING.md.

const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { pathToFileURL } = require('url');

const [list, suite] = process.argv.slice(2);
const out = (text) => fs.writeSync(1, `${text}\n`);
const { stringify } = JSON;

// The frontmatter's keys that matter here. YAML in the few forms that test262's own linter lets through.
function frontmatter(text) {
  const found = /\/\*---\r?\n?([^]*?)---\*\//.exec(text);
  const yaml = found === null ? '' : found[1];
  const words = (name) => {
    const flow = new RegExp(`^${name}:\\s*\\[([^\\]]*)\\]`, 'm').exec(yaml);
    if (flow !== null) return flow[1].split(',').map((w) => w.trim()).filter((w) => w !== '');
    const block = new RegExp(`^${name}:\\s*\\r?\\n((?:\\s+-.*\\r?\\n?)+)`, 'm').exec(yaml);
    return block === null ? [] : block[1].split('\n').map((l) => l.replace(/^\s*-\s*/, '').trim()).filter((w) => w !== '');
  };
  const negative = /^negative:\s*\r?\n((?:\s+\S.*\r?\n?)+)/m.exec(yaml);
  const part = (name) => new RegExp(`${name}:\\s*(\\S+)`).exec(negative[1])?.[1];
  return {
    includes: words('includes'), flags: words('flags'),
    negative: negative === null ? undefined : { phase: part('phase'), type: part('type') },
  };
}

const options = (filename) => ({ filename, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
const harness = new Map();
function include(name) {
  if (!harness.has(name)) harness.set(name, fs.readFileSync(path.join(suite, 'harness', name), 'utf8'));
  vm.runInThisContext(harness.get(name), options(name));
}

// What a test asks of its host.
function hostObject(global, run) {
  return {
    createRealm() {
      const context = vm.createContext();
      const inner = vm.runInContext('globalThis', context);
      const made = hostObject(inner, (text) => vm.runInContext(text, context));
      inner.$262 = made;
      return made;
    },
    detachArrayBuffer(buffer) { structuredClone(buffer, { transfer: [buffer] }); },
    evalScript: run,
    gc() { throw new Error('no gc in this host'); },
    get global() { return global; },
    get agent() { throw new Error('no agents in this host'); },
  };
}

let printed;
globalThis.print = (text) => printed?.(String(text));
globalThis.$262 = hostObject(globalThis, (text) => vm.runInThisContext(text, options('evalScript')));
process.on('unhandledRejection', () => {});

const nameOf = (error) => {
  try {
    return error?.constructor?.name ?? String(error);
  } catch {
    return 'an error that shows nothing';
  }
};
const textOf = (error) => {
  try {
    return `${nameOf(error)}: ${error?.message ?? error}`;
  } catch {
    return nameOf(error);
  }
};

// Runs a case; what is wrong, or undefined.
async function verdict(file, mode) {
  const name = path.join(suite, file);
  const text = fs.readFileSync(name, 'utf8');
  const { includes, flags, negative } = frontmatter(text);
  const isAsync = flags.includes('async');
  const done = new Promise((resolve) => {
    printed = (line) => {
      if (line === 'Test262:AsyncTestComplete') resolve(undefined);
      else if (line.startsWith('Test262:AsyncTestFailure:')) resolve(line);
    };
    process.once('beforeExit', () => resolve(isAsync ? '$DONE() not called' : undefined));
  });
  if (mode !== 'raw') for (const part of ['assert.js', 'sta.js', ...(isAsync ? ['doneprintHandle.js'] : []), ...includes]) include(part);
  let phase = 'parse';
  try {
    if (mode === 'module' || flags.includes('module')) {
      // Parsing, linking and evaluation are one step: which one has failed is not told.
      phase = negative?.phase;
      await import(pathToFileURL(name).href);
    } else {
      const script = new vm.Script(mode === 'strict' ? `"use strict";\n${text}` : text, options(name));
      phase = 'runtime';
      script.runInThisContext();
    }
  } catch (error) {
    if (negative === undefined) return textOf(error);
    if (negative.phase !== phase) return `${textOf(error)} in the phase ${phase}`;
    return nameOf(error) === negative.type ? undefined : `${textOf(error)} instead of ${negative.type}`;
  }
  if (negative !== undefined) return `no ${negative.type}`;
  return isAsync ? done : undefined;
}

(async () => {
  for (const line of fs.readFileSync(list, 'utf8').split('\n')) {
    if (line === '') continue;
    const [file, mode] = line.split('\t');
    let failed;
    const caught = new Promise((resolve) => {
      process.removeAllListeners('uncaughtException');
      process.once('uncaughtException', (error) => resolve(textOf(error)));
    });
    try {
      failed = await Promise.race([verdict(file, mode), caught]);
    } catch (error) {
      failed = textOf(error);
    }
    out(`${file}\t${mode}\t${failed === undefined ? 'pass' : stringify(failed)}`);
    await new Promise((resolve) => { setImmediate(resolve); });
  }
  process.exit(0);
})();
