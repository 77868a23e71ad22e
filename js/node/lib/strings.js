// Switches code from strings off. Node's --disallow-code-generation-from-strings does this for
// `eval` and the constructors of functions, and the session's policy also for `vm` and modules in
// data: URLs. Modules in files, code on the command line and cells still run.
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

// Switches code from strings off if an option requests it or the policy requires it. This is called
// when a process begins.
host.restrictStrings = function(isAsked) {
  const allowed = native.stringsAllowed();
  if (isAsked || !allowed) switchOff();
  if (!allowed && host.refuseStrings === undefined) switchOffVm();
};
})
