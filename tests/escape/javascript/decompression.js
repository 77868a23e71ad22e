//: attacks = the memory limit by small data that becomes huge when it is unpacked
//: timeout = 5
//: memory = 96M
//: status = any
//: says = contained
console.log('contained');
const zlib = require('zlib');
const bomb = zlib.gzipSync(Buffer.alloc(1 << 24));
for (const f of [() => zlib.gunzipSync(Buffer.concat(Array(64).fill(bomb))), () => zlib.gunzipSync(bomb, { maxOutputLength: 1000 }), () => zlib.inflateSync(Buffer.alloc(1 << 20, 0x78))]) {
  try { console.log(f().length); } catch (e) { console.log(e.code ?? e.name); }
}
zlib.createGunzip().on('data', () => {}).on('error', () => {}).end(Buffer.concat(Array(64).fill(bomb)));
