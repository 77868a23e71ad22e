// Switches code from strings off. Node's --disallow-code-generation-from-strings does this for
// `eval` and the constructors of functions. The session's policy also does it for `vm`, for modules
// in data: URLs, for modules whose text is not that of their file, and for the command line and the
// standard input of a process that JavaScript started. Modules in files, code on other command
// lines and cells still run.
(function (native, host) {
'use strict';

const MESSAGE = 'Code generation from strings disallowed for this context';

function refuse() {
  throw new EvalError(MESSAGE);
}

function replace(object, name, value) {
  Object.defineProperty(object, name, { ...Object.getOwnPropertyDescriptor(object, name), value });
}

// Returns a constructor that refuses every call. It has the name, length and prototype of the
// engine's own constructor, which scripts can no longer reach.
function refusing(original, parent) {
  const made = { [original.name]: function(...parameters) { refuse(parameters); } }[original.name];
  Object.defineProperty(made, 'length', { value: 1, configurable: true });
  Object.defineProperty(made, 'prototype', { value: original.prototype, writable: false });
  if (parent !== undefined) Object.setPrototypeOf(made, parent);
  Object.defineProperty(original.prototype, 'constructor', {
    ...Object.getOwnPropertyDescriptor(original.prototype, 'constructor'), value: made });
  return made;
}

let isOff = false;
function switchOff() {
  // Modules of WebAssembly are code that data becomes, too.
  host.forbidsStrings = true;
  if (isOff) return;
  isOff = true;
  // The engine runs a direct call of `eval` in the caller's scope only if the function is its own
  // `eval`.
  replace(globalThis, 'eval', { eval: (source) => refuse(source) }.eval);
  const Function = refusing(globalThis.Function);
  for (const one of [async () => {}, function*() {}, async function*() {}]) refusing(Object.getPrototypeOf(one).constructor, Function);
  replace(globalThis, 'Function', Function);
}

// Makes the functions of `vm` that run strings refuse them.
function switchOffVm() {
  const vm = host.require('vm');
  host.vm = { ...vm };
  for (const name of ['compileFunction', 'createScript', 'runInContext', 'runInNewContext', 'runInThisContext']) {
    if (name in vm) vm[name] = { [name]: () => refuse() }[name];
  }
  vm.Script = class Script { constructor() { refuse(); } };
  // `process.binding` is an older way to reach the same classes.
  const { process } = host;
  const { binding } = process;
  process.binding = (name) => `${name}` === 'contextify' ? refuse() : binding(name);
  host.refuseStrings = refuse;
}

// The text that Node itself compiles as a module before it runs code from the command line or
// standard input.
let wrapper;

// Refuses the text of a module unless its file has the same text. Hooks, loaders and callers of
// `_compile` can pass any other.
function checkModuleText(text, path) {
  if (path === '[eval]-wrapper' || path === '[stdin]-wrapper') {
    if (wrapper === undefined) wrapper = text;
    if (text === wrapper) return;
  }
  const plain = (source) => source.startsWith('\ufeff') ? source.slice(1) : source;
  let own;
  try {
    own = plain(host.readText(path));
  } catch {
    refuse();
  }
  if (plain(text) === own) return;
  if (!/\.(?:[cm]?ts|[jt]sx)$/.test(path)) refuse();
  const { stripTypeScriptModuleTypes } = host.require('internal/modules/typescript');
  if (plain(text) !== plain(stripTypeScriptModuleTypes(own, path))) refuse();
}

// The variable that marks processes started by JavaScript under such a policy.
const STARTED = 'WASIBOX_JS_STARTED';

// Switches code from strings off if an option requests it or the policy requires it. This is called
// when a process begins, with its environment and the source of its program. Returns whether the
// program may run.
host.restrictStrings = function(isAsked, env = {}, which = 'cell') {
  const allowed = native.stringsAllowed();
  if (isAsked || !allowed) switchOff();
  if (allowed) return true;
  if (host.refuseStrings === undefined) {
    switchOffVm();
    host.checkModuleText = checkModuleText;
    host.markChild = (pairs) => { pairs.push(STARTED, '1'); };
  }
  const takesCode = which === 'eval' || which === 'stdin' || which === 'repl';
  // A program from a file has no such text.
  if (!takesCode) wrapper = '';
  return env[STARTED] === undefined || !takesCode;
};
host.refusalOfStrings = `EvalError: ${MESSAGE}\n`;
})
