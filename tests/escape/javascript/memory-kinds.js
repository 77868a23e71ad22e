//: attacks = the memory limit by one huge value of each kind
//: timeout = 5
//: memory = 96M
//: status = any
//: says = contained
const tries = [
  () => new ArrayBuffer(2 ** 53 - 1), () => new ArrayBuffer(2 ** 31), () => new Uint8Array(2 ** 32), () => Buffer.alloc(2 ** 30), () => 'x'.repeat(2 ** 29),
  () => 'x'.repeat(2 ** 53), () => 'x'.padEnd(2 ** 30), () => new Array(2 ** 32 - 1).fill(0), () => Array.from({ length: 2 ** 32 }), () => 2n ** (2n ** 40n),
  () => [].concat(...Array(100).fill(Array(1e6))), () => new DataView(new ArrayBuffer(2 ** 30)), () => Array(2 ** 28).join('xx'),
  () => { let s = 'x'; for (;;) s += s; }, () => JSON.stringify({ length: 1 }, null, 'x').repeat(2 ** 28), () => new ArrayBuffer(8, { maxByteLength: 2 ** 31 }).resize(2 ** 31),
  () => 'a'.repeat(2 ** 22).replaceAll('a', 'b'.repeat(2 ** 10)), () => new SharedArrayBuffer(2 ** 31), () => String.fromCharCode(...Array(1e7)),
];
console.log('contained');
for (const f of tries) {
  try {
    f();
  } catch (e) {
    console.log(e.name);
  }
}
