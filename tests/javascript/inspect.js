//# nested depth
console.log({ a: { b: { c: { d: 1 } } } }, [[[[1]]]]);
//# long arrays and objects
console.log(Array.from({ length: 120 }, (_, i) => i), Object.fromEntries(Array.from({ length: 30 }, (_, i) => ['key' + i, i])));
//# strings and quotes
console.log(["it's", 'a"b', `a'b"c`, 'new\nline'], 'plain');
//# classes and instances
class Foo { constructor() { this.a = 1; } } class Bar extends Foo {}
console.log(new Foo(), new Bar(), Foo, Bar, Object.create(null), Object.create(Foo.prototype));
//# functions
console.log(function named() {}, () => {}, async () => {}, function* g() {}, class {}, Math.max);
//# maps sets and iterators
console.log(new Map([[{ a: 1 }, 'b']]), new Set(['a', [1]]), new WeakMap(), [1].values());
//# errors
const e = new RangeError('bad'); e.code = 'E_BAD';
console.log(require('util').inspect(e).split('\n')[0], Object.keys(e), `${e}`);
//# circular
const o = { name: 'o' }; o.self = o; o.list = [o];
console.log(o);
//# getters and setters
console.log({ get a() { return 1; }, set a(v) {}, get b() { return 2; }, set c(v) {} });
//# symbols as keys
console.log({ [Symbol('s')]: 1, [Symbol.toStringTag]: 'Tag' });
//# dates regexps boxed
console.log(new Date(0), /a/gi, Object('s'), Object(1), Object(true), Object(1n), Object(Symbol('q')));
//# typed arrays and buffers
console.log(Buffer.from('abc'), new Uint16Array(3), new ArrayBuffer(4), new DataView(new ArrayBuffer(2)));
//# promises
console.log(Promise.resolve(1), Promise.reject(2).catch(() => {}) && new Promise(() => {}));
//# proxies
console.log(new Proxy({ a: 1 }, {}), require('util').inspect(new Proxy([1], {}), { showProxy: true }));
//# format
const util = require('util');
console.log(util.format('%s %d %i %f %j %o %O %c%%', 'a', 1.5, 1.9, '2.5', { a: 1 }, [1], { b: 2 }, 'css'), util.format('a', 'b', { c: 1 }), util.format('%s', null, undefined, 1n, Symbol('a'), () => 1));
//# options
const util = require('util');
console.log(util.inspect({ a: { b: { c: 1 } } }, { depth: 0 }), util.inspect({ b: 1, a: 2 }, { sorted: true, compact: false }), util.inspect('x'.repeat(200), { maxStringLength: 10 }), util.inspect([1, 2, 3], { maxArrayLength: 1 }), util.inspect({ a: 1, b: 'x' }, { colors: true }));
//# custom
const util = require('util');
class P { [util.inspect.custom](depth, opts) { return 'P<' + depth + '>'; } }
console.log(new P(), [new P()], { toString() { return 'x'; } });
//# console table
console.table([{ a: 1, b: 'x' }, { a: 2, c: true }]); console.table([[1, 2], [3, 4]]); console.table([1, 2, 3]); console.table([{ a: 1, b: 2 }], ['b']); console.table(new Map([['k', 'v']]));
//# console group count and assert
console.group('G'); console.log('in\nside'); console.group(); console.info('deeper'); console.groupEnd(); console.groupEnd(); console.count(); console.count('x'); console.countReset(); console.count(); console.log('%s is %d', 'x', 42); console.dir({ a: { b: { c: {} } } }, { depth: 0 });
//# numbers and minus zero
console.log(-0, [-0, NaN, Infinity], 1e100, 0.1, [1.0, 2.5], 123456789.123);
//# util types and misc
const util = require('util');
console.log(util.types.isPromise(Promise.resolve()), util.types.isRegExp(/a/), util.types.isDate(new Date()), util.types.isGeneratorFunction(function* () {}), util.types.isAsyncFunction(async () => {}), util.types.isProxy(new Proxy({}, {})), util.types.isMap(new Map()), util.types.isTypedArray(new Uint8Array()), util.types.isBoxedPrimitive(Object(1)), util.types.isArgumentsObject((function() { return arguments; })()));
//# isDeepStrictEqual
const util = require('util');
console.log(util.isDeepStrictEqual({ a: [1, new Map([[1, { b: 2 }]])] }, { a: [1, new Map([[1, { b: 2 }]])] }), util.isDeepStrictEqual([1], ['1']), util.isDeepStrictEqual(new Set([1]), new Set([2])));
//# promisify callbackify
const util = require('util');
const f = util.promisify((a, cb) => cb(null, a + 1));
f(1).then(console.log); util.callbackify(async (x) => x * 2)(4, (e, v) => console.log(e, v));
util.promisify((cb) => cb(new Error('no')))().catch((e) => console.log(e.message));
//# parseArgs
const { parseArgs } = require('util');
console.log(parseArgs({ args: ['-f', '--bar', 'b', 'pos', '--no-color'], options: { foo: { type: 'boolean', short: 'f' }, bar: { type: 'string' }, color: { type: 'boolean' } }, allowPositionals: true, allowNegative: true }));
try { parseArgs({ args: ['--x'], options: {} }); } catch (e) { console.log(e.code); }
//# styleText stripVTControlCharacters
const util = require('util');
console.log(JSON.stringify(util.styleText('red', 'x', { validateStream: false })), util.stripVTControlCharacters('\u001b[31mr\u001b[0m'), util.toUSVString('a\ud800'));
//# inherits deprecate debuglog
const util = require('util'), EE = require('events');
function S() { EE.call(this); } util.inherits(S, EE);
console.log(new S() instanceof EE, S.super_ === EE, util.inspect(new S()).slice(0, 3));
