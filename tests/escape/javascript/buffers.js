//: attacks = memory beyond a buffer, by detaching and resizing the buffer while it is used
//: timeout = 5
//: status = 0
//: says = contained
const fs = require('fs');
const detach = (b) => structuredClone(b, { transfer: [b] });
fs.writeFileSync('/tmp/x', Buffer.alloc(1 << 16, 7));
const fd = fs.openSync('/tmp/x', 'r+');
for (let i = 0; i < 200; i++) {
  const buffer = new ArrayBuffer(1 << 16, { maxByteLength: 1 << 20 });
  const view = new Uint8Array(buffer);
  const evil = { valueOf() { try { if (i % 2) detach(buffer); else buffer.resize(0); } catch {} return 1 << 15; } };
  for (const f of [
    () => fs.readSync(fd, view, evil, 100, 0), () => fs.writeSync(fd, view, evil, 100, 0), () => view.fill(1, evil, 1 << 16), () => view.set([1, 2, 3], evil),
    () => view.copyWithin(evil, 0), () => view.slice(evil), () => view.subarray(evil).fill(3), () => view.sort(() => evil - 1), () => new DataView(buffer).setInt8(evil, evil),
    () => Buffer.from(buffer).write('abc', evil), () => Buffer.from(buffer, evil, evil), () => view.indexOf(1, evil), () => Atomics.store(view, evil, evil),
    () => require('zlib').deflateSync(view), () => require('crypto').createHash('md5').update(view).digest(),
  ]) {
    try { f(); } catch { /* an error is right */ }
  }
}
console.log('contained');
