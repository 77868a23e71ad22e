//: attacks = native functions by proxies and accessors in place of arguments
//: timeout = 10
//: memory = 768M
//: status = 0
//: says = contained
const hostile = new Proxy(function() {}, { get: (t, k) => (k === Symbol.toPrimitive ? () => { throw new Error('x'); } : hostile), apply: () => hostile, construct: () => hostile, has: () => true });
const lying = { get length() { return 2 ** 32 - 1; }, get 0() { throw new Error('y'); } };
const modules = ['fs', 'crypto', 'zlib', 'os', 'buffer', 'url', 'vm', 'path', 'querystring', 'string_decoder'];
for (const name of modules) {
  const exported = require(name);
  for (const key of Object.keys(exported)) {
    if (typeof exported[key] !== 'function') continue;
    for (const value of [hostile, lying, NaN, -1, 2 ** 53, 2 ** 31, -(2 ** 31), '\0', '\ud800', Symbol('s'), null, Infinity, new Uint8Array(0), 1n << 70n]) {
      for (const args of [[value], [value, value], ['/tmp/a', value, value], [new Uint8Array(4), value, value, value], [0, new Uint8Array(4), value, value, value]]) {
        try { exported[key](...args); } catch { /* an error is right */ }
        try { new exported[key](...args); } catch { /* as above */ }
      }
    }
  }
}
process.removeAllListeners('exit');
process.on('uncaughtException', () => {});
console.log('contained');
process.reallyExit(0);
