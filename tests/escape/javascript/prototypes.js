//: attacks = the bindings and the library by prototypes that a script has changed
//: timeout = 5
//: status = any
//: says = begin
console.log('begin');
const fs = require('fs');
const crypto = require('crypto');
for (const name of ['then', 'length', 'get', 'set', 'value', 'cwd', 'env', 'flag', 'mode', 'stdio', 'fd', 'uid', 'shell', 'recursive', 'toString', 'constructor']) {
  try {
    Object.defineProperty(Object.prototype, name, { get() { return -1; }, set() {}, configurable: true });
    fs.readFileSync('/etc/passwd');
    crypto.createHash('sha256').update('x').digest('hex');
    require('child_process').spawnSync('echo', ['x']);
    Buffer.from('abc').toString('base64');
  } catch {
    // Any exception is allowed.
  } finally {
    delete Object.prototype[name];
  }
}
for (const type of [Array, String, Map, Promise, Uint8Array, ArrayBuffer, Function, RegExp]) {
  for (const key of Reflect.ownKeys(type.prototype)) {
    try { type.prototype[key] = () => { throw new Error(); }; } catch { /* some are fixed */ }
  }
}
fs.writeFileSync('/tmp/x', new Uint8Array(9));
