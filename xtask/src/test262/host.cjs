'use strict';
// Runs cases of test262 in `node`: `host.cjs LIST SUITE`. LIST has lines "FILE<tab>MODE"; MODE is
// strict, sloppy, module or raw. Prints a line "FILE<tab>MODE<tab>pass" or
// "FILE<tab>MODE<tab>REASON" for each case. The cases of one list share the process, so one can
// make another fail; the caller runs each failed case again alone. The rules are those of test262's
// INTERPRETING.md.
//
// Cases change built-in objects. Code that runs after the first case therefore calls the library's own copies
// (`primordials`), and uses callbacks instead of promises.

const fs = require('fs');
const path = require('path');
const vm = require('vm');
const { pathToFileURL } = require('url');
// This module requires --expose-internals.
const { primordials, internalBinding } = require('internal/test/binding');
const { PromisePrototypeThen, StringPrototypeStartsWith, JSONStringify } = primordials;
const { native } = internalBinding('host').host;
const { setImmediate } = globalThis;

const [list, suite] = process.argv.slice(2);
const out = (text) => fs.writeSync(1, `${text}\n`);

// Returns the keys of the frontmatter that matter here. It is YAML, in the few forms that test262's
// own linter accepts.
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

// Returns the host functions that test262 requires (`$262`).
function hostObject(global, run) {
  return {
    createRealm() {
      const context = vm.createContext();
      const inner = vm.runInContext('globalThis', context);
      const made = hostObject(inner, (text) => vm.runInContext(text, context));
      inner.$262 = made;
      return made;
    },
    // A buffer that is already detached stays so.
    detachArrayBuffer(buffer) { if (!buffer.detached) structuredClone(buffer, { transfer: [buffer] }); },
    evalScript: run,
    gc() { native.gc(); },
    get global() { return global; },
    IsHTMLDDA: native.undetectable(),
    // This host has no agents, because a process has one thread.
    agent: {
      start() { throw new Error('no agents in this host'); },
      broadcast() {},
      getReport: () => null,
      sleep(milliseconds) { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds); },
      monotonicNow: () => performance.now(),
    },
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

// Runs a case and calls `done` with the reason why it failed, or with undefined.
function verdict(file, mode, done) {
  const name = path.join(suite, file);
  const text = fs.readFileSync(name, 'utf8');
  const { includes, flags, negative } = frontmatter(text);
  const isAsync = flags.includes('async');
  const isModule = mode === 'module' || flags.includes('module');
  if (mode !== 'raw') for (const part of ['assert.js', 'sta.js', ...(isAsync ? ['doneprintHandle.js'] : []), ...includes]) include(part);
  let phase = 'parse';
  let script;
  let loading;
  const failed = (error) => {
    if (negative === undefined) return done(textOf(error));
    if (negative.phase !== phase) return done(`${textOf(error)} in the phase ${phase}`);
    done(nameOf(error) === negative.type ? undefined : `${textOf(error)} instead of ${negative.type}`);
  };
  const ran = () => {
    if (negative !== undefined) done(`no ${negative.type}`);
    else if (!isAsync) done(undefined);
  };
  printed = (line) => {
    if (line === 'Test262:AsyncTestComplete') done(undefined);
    else if (StringPrototypeStartsWith(line, 'Test262:AsyncTestFailure:')) done(line);
  };
  process.once('beforeExit', () => done(isAsync ? '$DONE() not called' : undefined));
  try {
    if (isModule) {
      // Parsing, linking and evaluation are one step, so it is not known which of them has failed.
      phase = negative?.phase;
      loading = import(pathToFileURL(name).href);
    } else {
      script = new vm.Script(mode === 'strict' ? `"use strict";\n${text}` : text, options(name));
      phase = 'runtime';
      script.runInThisContext();
    }
  } catch (error) {
    return failed(error);
  }
  if (loading !== undefined) PromisePrototypeThen(loading, ran, failed);
  else ran();
}

const cases = fs.readFileSync(list, 'utf8').split('\n').filter((line) => line !== '');
let current = -1;
function next() {
  current += 1;
  if (current === cases.length) process.exit(0);
  const { 0: file, 1: mode } = cases[current].split('\t');
  let told = false;
  const done = (failed) => {
    if (told) return;
    told = true;
    out(`${file}\t${mode}\t${failed === undefined ? 'pass' : JSONStringify(failed)}`);
    setImmediate(next);
  };
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', (error) => done(textOf(error)));
  try {
    verdict(file, mode, done);
  } catch (error) {
    done(textOf(error));
  }
}
next();
