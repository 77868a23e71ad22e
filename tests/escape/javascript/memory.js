//: attacks = the memory limit by objects that a script keeps
//: timeout = 10
//: memory = 96M
//: status = any
//: never = survived
const kept = [];
for (let i = 0; ; i++) kept.push(new Uint8Array(1 << 20).fill(i), 'x'.repeat(1 << 16) + i, { i }, [...Array(1000).keys()]);
console.log('survived');
