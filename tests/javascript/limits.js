// Tests endless recursion, in each way in which the engine calls itself.
//# functions
function down() { return down() + 1; }
try { down(); } catch (e) { console.log(e instanceof RangeError, e.message); }
try { ((...rest) => { const f = (...all) => f(...all, 1); f(...rest); })(1); } catch (e) { console.log(e.name, e.message); }
console.log('goes on', [3, 1, 2].sort().join());
//# uncaught
console.log('before');
process.on('exit', (code) => console.log('exit', code));
(function f() { f(); })();
//# caught by the process
process.on('uncaughtException', (e) => { console.log(e.name, e.message); });
(function f() { f(); })();
//# again and again
let caught = 0;
for (let i = 0; i < 20; i++) try { (function f() { f(); })(); } catch { caught++; }
console.log(caught);
//# accessors
const o = { get x() { return this.x; }, set y(v) { this.y = v; } };
for (const f of [() => o.x, () => { o.y = 1; }]) try { f(); } catch (e) { console.log(e.name, e.message); }
//# proxies
const handler = { get: (t, k, r) => r[k], has: (t, k) => k in p, apply: () => p(), construct: () => new p(), ownKeys: () => Object.keys(p) };
const p = new Proxy(function() {}, handler);
for (const f of [() => p.x, () => 'x' in p, () => p(), () => new p(), () => Object.keys(p)]) {
  try { f(); } catch (e) { console.log(e.name, e.message); }
}
//# a proxy that is its own prototype's handler
const loop = new Proxy({}, {});
Object.setPrototypeOf(loop, new Proxy({}, { get: (t, k) => loop[k] }));
try { loop.x; } catch (e) { console.log(e.name, e.message); }
//# conversions
const s = { toString() { return `${this}`; } };
const v = { valueOf() { return +this; } };
const t = { [Symbol.toPrimitive]() { return this + ''; } };
for (const f of [() => `${s}`, () => +v, () => t + 1, () => v < 1, () => [s].join()]) {
  try { f(); } catch (e) { console.log(e.name, e.message); }
}
//# JSON
const j = { toJSON() { return JSON.stringify(this); } };
const revive = () => JSON.parse('[1]', revive);
for (const f of [() => JSON.stringify(j), revive, () => JSON.stringify({ a: 1 }, function r() { return JSON.stringify({}, r); })]) {
  try { f(); } catch (e) { console.log(e.name, e.message); }
}
//# callbacks
const sort = () => [2, 1].sort(sort);
const map = () => [1].map(map);
const reduce = () => [1, 2].reduce(reduce);
const replace = () => 'a'.replace(/a/, replace);
const replaceAll = () => 'a'.replaceAll('a', replaceAll);
const from = () => Array.from([1], from);
const each = () => new Map([[1, 2]]).forEach(each);
const typed = () => new Uint8Array(2).map(typed);
const bound = () => bound.bind(null)();
const apply = () => Reflect.apply(apply, null, []);
const called = () => called.call(null);
for (const f of [sort, map, reduce, replace, replaceAll, from, each, typed, bound, apply, called]) {
  try { f(); } catch (e) { console.log(f.name, e.name, e.message); }
}
//# iterators and generators
const iterable = { [Symbol.iterator]() { return [...this]; } };
function* g() { yield* g(); }
const destructured = () => { const [a] = { [Symbol.iterator]: destructured }; };
for (const f of [() => [...iterable], () => [...g()], destructured, () => new Set(iterable)]) {
  try { f(); } catch (e) { console.log(e.name, e.message); }
}
//# classes
class A { constructor() { this.a = new A(); } }
class B { static [Symbol.hasInstance](v) { return v instanceof B; } }
class C { field = new C(); }
for (const f of [() => new A(), () => ({}) instanceof B, () => new C(), () => Reflect.construct(A, [])]) {
  try { f(); } catch (e) { console.log(e.name, e.message); }
}
//# asynchronous
async function f() { return f(); }
f().catch((e) => console.log(e.name, e.message));
const thenable = { then(resolve) { resolve(thenable); } };
let jobs = 0;
const bounded = { then(resolve) { resolve(++jobs < 1000 ? bounded : 'end'); } };
Promise.resolve(bounded).then((v) => console.log(v, jobs));
//# evaluated
const code = 'run()';
globalThis.run = () => eval(code);
globalThis.make = () => new Function('return make()')();
for (const f of [run, make]) try { f(); } catch (e) { console.log(e instanceof RangeError || e instanceof SyntaxError); }
