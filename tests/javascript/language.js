//# classes and private fields
class A { #x = 1; static s = 2; get x() { return this.#x; } static #p() { return 3; } static q() { return A.#p(); } }
console.log(new A().x, A.s, A.q(), #x in {} ? 1 : 0);
//# optional chaining and nullish
const o = { a: { b: null } };
console.log(o?.a?.b ?? 'none', o.c?.d.e, o.a.b?.(), 0 ?? 1, 0 || 1);
//# generators
function* g() { const x = yield 1; console.log('got', x); yield* [2, 3]; return 4; }
const it = g();
console.log(it.next(), it.next('v'), it.next(), it.next(), it.next());
//# async generators
async function* g() { yield 1; await null; yield 2; }
(async () => { for await (const v of g()) console.log(v); })();
//# destructuring
const { a = 1, ...rest } = { b: 2, c: 3 };
const [x, , ...y] = [1, 2, 3, 4];
console.log(a, rest, x, y);
//# tagged templates
const tag = (s, ...v) => s.raw.join('|') + v.join(',');
console.log(tag`a${1}\n${2}b`);
//# bigint
console.log(2n ** 64n, -7n / 2n, BigInt.asUintN(8, 257n), typeof 1n, 10n > 9);
//# regular expressions
console.log('2024-05-06'.replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, '$<d>.$<m>.$<y>'), /(?<=\$)\d+/.exec('cost $42')[0], [...'a1b2'.matchAll(/[a-z](\d)/g)].map((m) => m[1]), /\p{Lu}/u.test('É'), /a.c/s.test('a\nc'));
//# dates
const d = new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123));
console.log(d.toISOString(), d.toJSON(), d.getTime(), new Date('2024-03-10T10:00:00Z').getUTCDay(), JSON.stringify({ d }));
//# maps and sets
const m = new Map([['a', 1]]); m.set(NaN, 2);
console.log(m.get(NaN), [...m.keys()], new Set([1, 1, 2]).size, new Set([1, 2, 3]).union(new Set([4])), Object.groupBy([1, 2, 3], (x) => x % 2 ? 'odd' : 'even'));
//# array methods
console.log([3, 1, 2].toSorted(), [1, 2, 3].at(-1), [1, [2, [3]]].flat(Infinity), [1, 2, 3].findLast((x) => x < 3), Array.from({ length: 3 }, (_, i) => i * 2), [1, 2, 3].with(1, 9), [5, 1].toReversed());
//# json
console.log(JSON.stringify({ a: [1, { b: 2 }], u: undefined, f() {}, d: new Date(0), n: null, i: Infinity }, null, 2), JSON.parse('{"a":[1,2,{"b":3}]}', (k, v) => typeof v === 'number' ? v + 1 : v));
//# numbers
console.log((0.1 + 0.2).toFixed(2), (255).toString(16), parseInt('12px'), Number('0x1f'), (1234.5678).toPrecision(6), 1e21, 1 / 3, Number.MAX_SAFE_INTEGER, (25).toString(36), -0 === 0, Object.is(-0, 0), 5e-324, 123456789012345680000);
//# strings
console.log('abc'.padStart(5, '-'), 'a-b-c'.replaceAll('-', '+'), 'é'.normalize('NFD').length, '😀'.length, [...'😀'].length, 'x'.codePointAt(0), 'abc'.at(-1), ' a '.trim() + '|', 'aXbX'.split('X'), 'ß'.toUpperCase());
//# symbols and iterators
const o = { *[Symbol.iterator]() { yield 1; yield 2; } };
console.log([...o], Symbol.for('a') === Symbol.for('a'), Symbol('d').description, o[Symbol.toPrimitive]);
//# proxies
const p = new Proxy({}, { get: (t, k) => typeof k === 'string' ? 'got ' + k : undefined, has: () => true });
console.log(p.foo, 'x' in p);
//# closures and this
function F() { this.v = 1; return (() => this.v)(); }
console.log(new F().v, (function() { 'use strict'; return this; })(), typeof globalThis);
//# labels and exceptions
outer: for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) { if (j === 1) continue outer; if (i === 2) break outer; console.log(i, j); }
try { try { throw new Error('a'); } finally { console.log('f'); } } catch ({ message }) { console.log(message); }
//# error cause and aggregate
const e = new Error('outer', { cause: new TypeError('inner') });
console.log(e.cause.message, new AggregateError([new Error('x')], 'many').errors.length, e instanceof Error, String(e));
//# weakrefs
const kept = { a: 1 }; console.log(new WeakRef(kept).deref().a, new WeakMap([[Object, 1]]).get(Object), typeof FinalizationRegistry);
//# typed arrays
const b = new ArrayBuffer(8); new DataView(b).setFloat32(0, 1.5);
console.log(new Uint8Array(b), new Float64Array([1.5, 2]), Uint8Array.from([1, 2, 300]), new Int16Array([1, 2, 3]).subarray(1));
//# array holes and extra keys
const a = [1, , 3]; a.k = 'v';
console.log(a, a.length, 1 in a, Object.keys(a));
//# atomics
const shared = new SharedArrayBuffer(8, { maxByteLength: 64 }); const ints = new Int32Array(shared);
console.log(Atomics.add(ints, 0, 5), Atomics.sub(ints, 0, 2), Atomics.or(ints, 0, 8), Atomics.compareExchange(ints, 0, 11, 1), Atomics.exchange(ints, 1, -1), Atomics.load(ints, 0), Atomics.store(ints, 1, 3.7), Atomics.xor(ints, 1, 1), [...ints]);
shared.grow(64); console.log(ints.length, shared.growable, shared.byteLength, Atomics.isLockFree(4), String(Atomics), Atomics.add.length, Atomics.compareExchange.name);
const begin = Date.now(); console.log(Atomics.wait(ints, 0, 1, 30), Date.now() - begin >= 29, Atomics.wait(ints, 0, 2), Atomics.notify(ints, 0));
for (const f of [() => Atomics.add([1], 0, 1), () => Atomics.add(new Float64Array(1), 0, 1), () => Atomics.load(ints, 99), () => Atomics.wait(new Int32Array(4), 0, 0, 1), () => shared.grow(8)]) { try { f(); console.log('ok'); } catch (e) { console.log(e.name); } }
