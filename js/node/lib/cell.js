// Runs cells in an interpreter that keeps its state between them (src/cells.rs).
//
// Each cell is a script in the global scope, with a name such as `<cell 3>`. Top-level `let`,
// `const` and classes become properties of the global object, because a later cell may declare the
// same name again. The text of a cell with a top-level `await` becomes the body of an async
// function, whose declarations become properties of the global object, too (as at Node's prompt). A
// top-level `import` becomes an awaited `import()`, and `export` has no effect.
//
// A cell ends when its value is known and everything that it started has ended: timers, children,
// requests. Intervals and servers remain, and are active while a later cell runs.
(function (native, host) {
'use strict';

// The maximum number of bytes of a value as text.
const MOST_TEXT = 64 << 10;
// The maximum number of bytes of a value as JSON, and the maximum numbers of its parts and levels.
const MOST_JSON = 1 << 20;
const MOST_PARTS = 100000;
const DEEPEST = 50;
// The maximum number of characters of all cells whose sources are kept for errors.
const MOST_SOURCE = 8 << 20;

let count = 0;
let status = 0;
// The session's environment and directory as the last cell received them.
let given = {};
let directory;
const sources = new Map();
let kept = 0;
host.cellLines = (name) => sources.get(name)?.split('\n');
host.cellLine = (name, line) => host.cellLines(name)?.[line - 1];

// The rewritten texts with their sources, because errors show the code as it was written.
const rewritten = new Map();

// Returns the line and column in the source for a place in a rewritten text; undefined if the place
// is not in the cell's own code.
function placeIn({ text, source, pieces }, line, column) {
  const lines = text.split('\n');
  if (line > lines.length) return undefined;
  const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + column - 1;
  const piece = pieces.findLast((p) => p.at <= at);
  if (piece === undefined || (piece === pieces.at(-1) && at > piece.at + piece.length)) return undefined;
  const before = source.slice(0, piece.from + Math.min(at - piece.at, piece.length)).split('\n');
  return [before.length, before.at(-1).length + 1];
}

host.placedSites = (sites) => sites.flatMap((site) => {
  const file = site.getFileName();
  const shift = host.firstLines.get(file);
  if (shift !== undefined && site.getLineNumber() === 1) {
    return [host.movedSite(site, { file, line: 1, column: Math.max(1, site.getColumnNumber() - shift) })];
  }
  const found = rewritten.get(file);
  if (found === undefined) return [site];
  const place = placeIn(found, site.getLineNumber(), site.getColumnNumber());
  return place === undefined ? [] : [host.movedSite(site, { file, line: place[0], column: place[1] })];
});

function remember(name, source) {
  sources.set(name, source);
  kept += source.length;
  for (const [old, text] of sources) {
    if (kept <= MOST_SOURCE || sources.size === 1) return;
    sources.delete(old);
    rewritten.delete(old);
    kept -= text.length;
  }
}

// --- the surroundings of a cell ------------------------------------------------------------------

let scope;

function begin() {
  host.beginProcess(['/usr/bin/node'], []);
  host.beginLoop();
  host.restrictStrings(false);
  host.inCell = true;
  const { prepareMainThreadExecution, markBootstrapComplete } = host.require('internal/process/pre_execution');
  const { addBuiltinLibsToObject, makeRequireFunction } = host.require('internal/modules/helpers');
  prepareMainThreadExecution();
  // `crypto` becomes the module of that name, as at Node's prompt.
  delete globalThis.crypto;
  addBuiltinLibsToObject(globalThis, '<cell>');
  markBootstrapComplete();
  const { Module } = host.require('internal/modules/cjs/loader');
  scope = new Module('<cell>');
  Object.assign(globalThis, { module: scope, exports: scope.exports, require: makeRequireFunction(scope) });
  for (const name of ['module', 'exports', 'require']) Object.defineProperty(globalThis, name, { enumerable: false });
  rememberValue();
}

// Defines `_` as the last value, until code assigns that name.
let last;
function rememberValue() {
  Object.defineProperty(globalThis, '_', {
    configurable: true,
    enumerable: false,
    get: () => last,
    set(value) {
      Object.defineProperty(globalThis, '_', { value, writable: true, configurable: true, enumerable: true });
    },
  });
}

function takeOver(pairs, cwd) {
  const now = {};
  for (let i = 0; i < pairs.length; i += 2) if (!pairs[i].startsWith('BOX_')) now[pairs[i]] = pairs[i + 1];
  const { env } = host.process;
  for (const name in given) if (!(name in now)) delete env[name];
  for (const name in now) if (given[name] !== now[name]) env[name] = now[name];
  given = now;
  if (cwd !== directory) {
    directory = host.cwd = cwd;
    try {
      // `chdir` makes Node's library forget the directory that it has cached.
      host.process.chdir(cwd);
    } catch {
      // The directory was removed.
    }
  }
  const { Module } = host.require('internal/modules/cjs/loader');
  scope.filename = host.require('path').join(host.cwd, '<cell>');
  scope.paths = Module._nodeModulePaths(host.cwd);
}

// --- the rewriting of a cell ---------------------------------------------------------------------

const OPTIONS = {
  ecmaVersion: 'latest', allowAwaitOutsideFunction: true, allowImportExportEverywhere: true, allowHashBang: true,
};
const acorn = () => host.require('internal/deps/acorn/acorn/dist/acorn');

// Returns the children of a node of the syntax tree.
function* partsOf(node) {
  for (const key in node) {
    const value = node[key];
    if (Array.isArray(value)) for (const part of value) { if (part?.type) yield part; }
    else if (typeof value?.type === 'string') yield value;
  }
}

const isFunction = (node) => /Function/.test(node.type) || node.type === 'StaticBlock' || node.type === 'PropertyDefinition';

// Returns whether there is a top-level `await`.
function waits(node) {
  if (node.type === 'AwaitExpression' || (node.type === 'ForOfStatement' && node.await)) return true;
  if (isFunction(node)) return false;
  for (const part of partsOf(node)) if (waits(part)) return true;
  return false;
}

// Returns the names that a pattern binds.
function* names(pattern) {
  switch (pattern?.type) {
    case 'Identifier': yield pattern.name; break;
    case 'ObjectPattern': for (const p of pattern.properties) yield* names(p.value ?? p.argument); break;
    case 'ArrayPattern': for (const p of pattern.elements) yield* names(p); break;
    case 'AssignmentPattern': yield* names(pattern.left); break;
    case 'RestElement': yield* names(pattern.argument); break;
  }
}

class Rewrite {
  edits = [];
  // Names that become undefined before the cell runs.
  fresh = new Set();
  // Names that keep the value that they have.
  shared = new Set();
  functions = [];

  constructor(source, program) {
    this.source = source;
    this.program = program;
    this.isAsync = waits(program) || program.body.some((s) => s.type === 'ImportDeclaration' || this.#isReexport(s));
    for (const statement of program.body) this.#statement(statement);
    if (this.isAsync) for (const statement of program.body) this.#hoisted(statement, true);
  }

  #put(start, end, text) { this.edits.push([start, end, text]); }
  #isReexport(s) { return s.source && s.type.startsWith('Export'); }

  #statement(node) {
    switch (node.type) {
      case 'VariableDeclaration': this.#variables(node); break;
      case 'ClassDeclaration': this.#class(node); break;
      case 'FunctionDeclaration': this.#function(node); break;
      case 'ImportDeclaration': this.#import(node); break;
      case 'ExportNamedDeclaration':
        if (node.declaration) {
          this.#put(node.start, node.declaration.start, '');
          this.#statement(node.declaration);
        } else {
          this.#put(node.start, node.end, node.source ? `await import(${node.source.raw});` : ';');
        }
        break;
      case 'ExportAllDeclaration': this.#put(node.start, node.end, `await import(${node.source.raw});`); break;
      case 'ExportDefaultDeclaration': this.#default(node); break;
    }
  }

  #default(node) {
    const { declaration } = node;
    if (declaration.id && /Declaration$/.test(declaration.type)) {
      this.#put(node.start, declaration.start, '');
      this.#statement(declaration);
      return;
    }
    this.#put(node.start, declaration.start, '(');
    this.#put(declaration.end, node.end, ');');
  }

  #variables(node) {
    if (node.kind !== 'var' && node.kind !== 'let' && node.kind !== 'const') return;
    const into = node.kind === 'var' ? this.shared : this.fresh;
    for (const one of node.declarations) for (const name of names(one.id)) into.add(name);
    if (!this.isAsync) {
      if (node.kind !== 'var') this.#put(node.start, node.start + node.kind.length, 'var'.padEnd(node.kind.length));
      return;
    }
    this.#assignments(node, node.kind !== 'var');
  }

  // Turns a declaration that is a statement into assignments.
  #assignments(node, resets) {
    const stop = this.source[node.end - 1] === ';' ? node.end - 1 : node.end;
    this.#put(node.start, node.declarations[0].start, 'void (');
    for (const one of node.declarations) {
      this.#put(one.start, one.start, '(');
      const end = one.init ? '' : resets && one.id.type === 'Identifier' ? ' = undefined' : '';
      this.#put(one.end, one.end, `${end})`);
    }
    this.#put(stop, node.end, ');');
  }

  #class(node) {
    this.fresh.add(node.id.name);
    this.#put(node.start, node.start, this.isAsync ? `${node.id.name} = ` : `var ${node.id.name} = `);
    this.#put(node.end, node.end, ';');
  }

  #function(node) {
    this.shared.add(node.id.name);
    if (this.isAsync) this.functions.push(node.id.name);
  }

  #import(node) {
    const parts = [];
    let whole;
    for (const one of node.specifiers) {
      this.fresh.add(one.local.name);
      if (one.type === 'ImportNamespaceSpecifier') whole = one.local.name;
      else {
        const imported = one.type === 'ImportDefaultSpecifier' ? 'default' : one.imported.name ?? one.imported.raw;
        parts.push(`${imported}: ${one.local.name}`);
      }
    }
    const attributes = node.attributes?.length > 0
      ? `, { with: { ${node.attributes.map((a) => this.source.slice(a.start, a.end)).join(', ')} } }` : '';
    let text = `await import(${node.source.raw}${attributes})`;
    if (whole) text = `(${whole} = ${text})`;
    if (parts.length > 0) text = `({ ${parts.join(', ')} } = ${text})`;
    const lines = this.source.slice(node.start, node.end).split('\n').length - 1;
    this.#put(node.start, node.end, `void ${text};${'\n'.repeat(lines)}`);
  }

  // Rewrites each `var` within blocks, which belongs to the global scope, too.
  #hoisted(node, isTop) {
    if (isFunction(node)) return;
    if (node.type === 'VariableDeclaration' && node.kind === 'var' && !isTop) {
      for (const one of node.declarations) for (const name of names(one.id)) this.shared.add(name);
      this.#assignments(node, false);
    }
    for (const part of partsOf(node)) {
      const isHead = /^For/.test(node.type) && (part === node.init || part === node.left);
      if (isHead && part.type === 'VariableDeclaration' && part.kind === 'var') this.#head(part);
      else this.#hoisted(part, node.type.startsWith('Export'));
    }
  }

  // Rewrites a `var` in the head of a loop.
  #head(node) {
    for (const one of node.declarations) for (const name of names(one.id)) this.shared.add(name);
    this.#put(node.start, node.declarations[0].start, '');
    const bare = node.declarations.filter((one) => !one.init);
    if (node.declarations.length > 1) for (const one of bare) this.#put(one.end, one.end, ' = undefined');
  }

  text() {
    const { body } = this.program;
    const value = body.at(-1);
    if (this.isAsync && value?.type === 'ExpressionStatement') {
      const stop = this.source[value.end - 1] === ';' ? value.end - 1 : value.end;
      this.#put(value.start, value.start, 'return { __proto__: null, value: (');
      this.#put(stop, value.end, ') };');
    }
    let out = '';
    let from = 0;
    // The unchanged pieces of the text: position, position in the source, length.
    this.pieces = [];
    const copy = (end) => {
      this.pieces.push({ at: out.length, from, length: end - from });
      out += this.source.slice(from, end);
    };
    for (const [start, end, text] of this.edits.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
      copy(start);
      out += text;
      from = end;
    }
    copy(this.source.length);
    if (!this.isAsync) return out;
    const functions = this.functions.map((name) => `globalThis.${name} = ${name}; `).join('');
    const head = `(async () => { ${functions}`;
    for (const piece of this.pieces) piece.at += head.length;
    return `${head}${out}\n})()`;
  }

  // Defines the names before the text runs, as writable properties.
  declare() {
    for (const [set, resets] of [[this.fresh, true], [this.shared, false]]) {
      for (const name of set) {
        const old = Object.getOwnPropertyDescriptor(globalThis, name);
        if (old && (!resets && (old.writable || old.set) || !old.configurable)) {
          if (resets && old.writable) globalThis[name] = undefined;
          continue;
        }
        Object.defineProperty(globalThis, name, { value: undefined, writable: true, enumerable: true, configurable: true });
      }
    }
  }
}

// Returns a syntax error with V8's message, which is the one that people know.
function syntaxError(error, source, name) {
  const { line, column } = error.loc ?? { line: 1, column: 0 };
  let message = error.message.replace(/ \(\d+:\d+\)$/, '');
  if (message === 'Unexpected token') {
    const word = /^[\p{ID_Start}$_][\p{ID_Continue}$]*|^./su.exec(source.slice(error.pos))?.[0];
    message = word === undefined ? 'Unexpected end of input' : `${message} '${word}'`;
  }
  const made = new SyntaxError(message);
  made.stack = `SyntaxError: ${message}\n    at ${name}:${line}:${column + 1}`;
  made[host.privateSymbols.arrow_message_private_symbol] =
    `${name}:${line}\n${source.split('\n')[line - 1] ?? ''}\n${' '.repeat(column)}^\n`;
  return made;
}

// Strips the types from a cell in TypeScript; returns its text and its syntax tree, or undefined if
// it is not TypeScript either.
function typed(source, name) {
  const done = native.transform(source, `${name}.ts`, { verbatimModuleSyntax: true });
  if (done.error) return undefined;
  try {
    const program = acorn().parse(done.code, OPTIONS);
    host.sourceMaps.set(name, { mappings: done.mappings, sources: [name] });
    return [done.code, program];
  } catch {
    return undefined;
  }
}

// Returns a cell's text, ready to run. Throws the syntax error in it.
function prepare(given, name) {
  const { parse } = acorn();
  let source = given;
  // As at Node's prompt, a text that could be a block or an object is an object.
  if (/^\s*\{/.test(source) && !/;\s*$/.test(source)) {
    try {
      const { body } = parse(`(${source}\n)`, OPTIONS);
      if (body.length === 1) source = `(${source}\n)`;
    } catch {
      // It is a block.
    }
  }
  let program;
  try {
    program = parse(source, OPTIONS);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // The engine may accept syntax that the parser does not know.
    try {
      native.checkSyntax(source, name);
      return { text: source, isAsync: false };
    } catch {
      [source, program] = typed(source, name) ?? [];
      if (program === undefined) throw syntaxError(error, given, name);
    }
  }
  const rewrite = new Rewrite(source, program);
  const text = rewrite.text();
  if (rewrite.edits.length > 0 || rewrite.isAsync) rewritten.set(name, { text, source, pieces: rewrite.pieces });
  rewrite.declare();
  return { text, isAsync: rewrite.isAsync };
}

// --- a cell's value ------------------------------------------------------------------------------

function shown(value) {
  const { inspect } = host.require('internal/util/inspect');
  const text = inspect(value);
  if (text.length <= MOST_TEXT && native.encode(text, 'utf8').byteLength <= MOST_TEXT) return text;
  const bytes = new Uint8Array(native.encode(text, 'utf8'));
  return `${native.decode(bytes, 'utf8', 0, MOST_TEXT - 3).replace(/\ufffd+$/, '')}...`;
}

// Returns the value as JSON if it is plain data that JSON can represent.
function plain(value) {
  const waiting = [[value, 0]];
  let parts = 0;
  while (waiting.length > 0) {
    const [part, depth] = waiting.pop();
    if (part === null || typeof part === 'boolean' || typeof part === 'string') continue;
    if (typeof part === 'number') {
      if (!Number.isFinite(part)) return undefined;
      continue;
    }
    if (typeof part !== 'object' || depth >= DEEPEST || native.proxyDetails(part)) return undefined;
    const proto = Object.getPrototypeOf(part);
    const isList = Array.isArray(part);
    if (!isList && proto !== Object.prototype && proto !== null) return undefined;
    const all = Object.getOwnPropertyDescriptors(part);
    if (isList) delete all.length;
    const keys = Reflect.ownKeys(all);
    parts += keys.length;
    if (parts > MOST_PARTS || (isList && keys.length !== part.length)) return undefined;
    for (const key of keys) {
      if (typeof key === 'symbol' || key === 'toJSON' || !('value' in all[key]) || !all[key].enumerable) return undefined;
      waiting.push([all[key].value, depth + 1]);
    }
  }
  const text = JSON.stringify(value);
  return text.length <= MOST_JSON && native.encode(text, 'utf8').byteLength <= MOST_JSON ? text : undefined;
}

// --- a cell --------------------------------------------------------------------------------------

// An uncaught error ends the cell's work, not the interpreter.
host.cellFailed = (error) => {
  host.printUncaught(error);
  status = 1;
};

function attempt(work) {
  try {
    return work();
  } catch (error) {
    host.cellFailed(error);
    return undefined;
  }
}

function evaluate(source, name) {
  const { text, isAsync } = prepare(source, name);
  const value = native.evaluate(text, name, false);
  if (!isAsync) return { value };
  // `settle` handles a rejection of the promise, so Node must not report it as unhandled.
  value.then(undefined, () => {});
  return { promise: value };
}

// Runs the event loop until a promise is settled, and returns the value of the cell.
function settle(promise) {
  const isSettled = () => native.promiseState(promise) !== 0;
  host.runCell(isSettled);
  switch (native.promiseState(promise)) {
    case 0:
      host.writeError('Warning: Detected unsettled top-level await\n');
      status = 13;
      return undefined;
    case 1:
      return native.promiseResult(promise)?.value;
    default:
      host.cellFailed(native.promiseResult(promise));
      return undefined;
  }
}

host.cell = function(source, pairs, cwd, isFirst, isFork) {
  const { process } = host;
  status = 0;
  if (isFirst) begin();
  else host.forgetInput();
  process._exiting = false;
  process.exitCode = undefined;
  host.require('internal/async_hooks').clearAsyncIdStack();
  if (isFork) host.seed(new Uint32Array(native.random(16)));
  takeOver(pairs, cwd);
  const name = `<cell ${++count}>`;
  remember(name, source);
  let result = attempt(() => evaluate(source, name));
  host.tick();
  let value = result?.promise ? settle(result.promise) : result?.value;
  host.runCell(() => true);
  if (status !== 0) return [status, undefined, undefined];
  const code = host.exitCode();
  if (value === undefined) return [code, undefined, undefined];
  if (Object.getOwnPropertyDescriptor(globalThis, '_')?.get) last = value;
  const text = attempt(() => shown(value));
  return [status || code, text, text === undefined ? undefined : attempt(() => plain(value))];
};
})
