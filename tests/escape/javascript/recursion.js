//: attacks = the stack by every way in which the engine calls itself
//: timeout = 30
//: memory = 768M
//: status = 0
//: says = contained
const o = { get x() { return this.x; }, toJSON() { return JSON.stringify(this); }, toString() { return `${this}`; } };
const proxy = new Proxy(function() {}, { get: (t, k, r) => r[k], apply: () => proxy() });
const sort = () => [2, 1].sort(sort);
const replace = () => 'a'.replace(/a/, replace);
let nested = [];
for (let i = 0; i < 1e4; i++) nested = [nested];
const chain = (n, make) => { let x = {}; for (let i = 0; i < n; i++) x = make(x); return x; };
const proxies = chain(2e4, (x) => new Proxy(x, {}));
const prototypes = chain(2e4, (x) => new Proxy({}, { get: (t, k) => x[k] }));
const all = [
  function f(...a) { return f(...a, 1); }, () => o.x, () => JSON.stringify(o), () => `${o}`, () => proxy.x, () => proxy(), sort, replace,
  () => JSON.stringify(nested), () => nested.flat(Infinity), () => `${nested}`, () => structuredClone(nested), () => proxies.x, () => prototypes.x,
  () => eval('['.repeat(1e5)), () => eval('('.repeat(1e6)), () => eval('{'.repeat(1e5)), () => eval('a=>'.repeat(1e5)), () => eval('1' + '+1'.repeat(1e5)),
  () => eval('!'.repeat(1e6) + '1'), () => eval('`${'.repeat(1e5)), () => new Function('return ' + 'f('.repeat(1e5)), () => JSON.parse('['.repeat(1e6)),
  () => new RegExp('('.repeat(1e5) + ')'.repeat(1e5)), () => new RegExp('(?='.repeat(1e5) + ')'.repeat(1e5)), () => new RegExp('['.repeat(1e5), 'v'),
  () => require('util').inspect(nested, { depth: Infinity }), () => require('assert').deepStrictEqual(nested, [nested]),
  () => { const bound = chain(2e4, (f) => (typeof f === 'function' ? f : () => 1).bind(null)); bound(); },
];
for (const f of all) {
  try {
    f();
  } catch (e) {
    if (!(e instanceof Error)) console.log(e);
  }
}
console.log('contained');
