// Tests code from strings, which Node's own option switches off.
//# off
const { spawnSync } = require('child_process');
const script = `
const tries = {
  eval: () => eval('1'), indirect: () => (0, eval)('1'), number: () => eval(5), Function: () => new Function('return 1'),
  call: () => Function('return 1')(), constructor: () => (() => {}).constructor('return 1')(),
  async: () => (async () => {}).constructor('return 1')(), generator: () => (function*() {}).constructor('yield 1'),
  asyncGenerator: () => (async function*() {}).constructor('yield 1'), reflect: () => Reflect.construct(Function, ['return 1']),
  subclass: () => new (class extends Function {})('return 1'), bound: () => Function.bind(null, 'return 1')(),
  local: () => { const inner = 1; return eval('inner'); }, nothing: () => eval(),
};
for (const name in tries) {
  try { console.log(name, typeof tries[name]()); } catch (e) { console.log(name, e instanceof EvalError, e.message); }
}
console.log((() => {}) instanceof Function, Function.prototype.constructor === Function, Function.length, Function.name);
console.log(Object.getPrototypeOf((async () => {}).constructor) === Function, typeof require('vm').runInThisContext('1'));
`;
for (const flags of [['--disallow-code-generation-from-strings'], []]) {
  const { stdout, status } = spawnSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8' });
  console.log(`${stdout}${status}`);
}
//# by the environment
const { spawnSync } = require('child_process');
const env = { ...process.env, NODE_OPTIONS: '--disallow_code_generation_from_strings' };
const { stdout } = spawnSync(process.execPath, ['-p', 'try { eval("1") } catch (e) { e.name }'], { encoding: 'utf8', env });
console.log(stdout);
