//: attacks = the sandbox's memory, stack and time by modules of WebAssembly
//: timeout = 20
//: memory = 96M
//: status = any
//: says = contained
console.log('contained');
const attempt = (f) => { try { return f(); } catch (e) { console.log(e.name); return undefined; } };
const number = (n) => { const out = []; for (; n >= 128; n = Math.floor(n / 128)) out.push(n % 128 + 128); return [...out, n]; };
const section = (kind, bytes) => [kind, ...number(bytes.length), ...bytes];
const make = (...sections) => new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, ...sections.flat()]);
const TYPE = section(1, [1, 0x60, 1, 0x7f, 1, 0x7f]);
const FUNCTION = section(3, [1, 0]);
const EXPORT = section(7, [1, 1, 102, 0, 0]);
const func = (body) => { const inner = [0, ...body, 0x0b]; return make(TYPE, FUNCTION, EXPORT, section(10, [1, ...number(inner.length), ...inner])); };
// Memories, tables and numbers that are as large as can be.
for (let i = 0; i < 20; i++) attempt(() => new WebAssembly.Memory({ initial: 65536 }));
attempt(() => new WebAssembly.Table({ element: 'anyfunc', initial: 2 ** 32 - 1 }));
attempt(() => { const memory = new WebAssembly.Memory({ initial: 1 }); for (;;) memory.grow(256); });
attempt(() => { const table = new WebAssembly.Table({ element: 'externref', initial: 1 }); for (;;) table.grow(1e6, {}); });
// Recursion, also through a script, and nesting.
attempt(() => new WebAssembly.Instance(new WebAssembly.Module(func([0x20, 0, 0x10, 0]))).exports.f(1));
attempt(() => { const { f } = new WebAssembly.Instance(new WebAssembly.Module(make(TYPE, section(2, [1, 1, 101, 1, 102, 0, 0]), FUNCTION, section(7, [1, 1, 102, 0, 1]), section(10, [1, 6, 0, 0x20, 0, 0x10, 0, 0x0b]))), { e: { f: (x) => f(x) } }).exports; return f(1); });
attempt(() => new WebAssembly.Module(func([...Array(100000).fill(0).flatMap(() => [0x02, 0x40]), ...Array(100000).fill(0x0b), 0x41, 0])));
// A buffer while its memory grows, and counts that the text does not have.
attempt(() => { const memory = new WebAssembly.Memory({ initial: 1, maximum: 3 }); const view = new Uint8Array(memory.buffer); view.set([1], { valueOf() { memory.grow(1); return 65535; } }); view[0] = 1; structuredClone(memory.buffer, { transfer: [memory.buffer] }); });
for (const kind of [1, 2, 3, 4, 5, 6, 7, 9, 10, 11]) attempt(() => new WebAssembly.Module(make(section(kind, number(2 ** 32 - 1)))));
for (let i = 0; i < 1000; i++) attempt(() => new WebAssembly.Module(func([0x20, 0])));
// It computes until the time is over.
attempt(() => new WebAssembly.Instance(new WebAssembly.Module(func([0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 0]))).exports.f(1));
