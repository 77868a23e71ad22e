//# numbers
const bytes = Buffer.from('AGFzbQEAAAABLAhgAn9/AX9gAn5+AX5gAX0BfWACfHwBfGACf34Cfn9gAABgAX4BfmABfwF/AwoJAAECAwQFBgcHBzsJA2kzMgAAA2k2NAABA2YzMgACA2Y2NAADBHN3YXAABARub25lAAUDZmFjAAYEYml0cwAHBHNpbWQACAplCQcAIAAgAWoLBwAgACABfgsFACAAkQsHACAAIAGjCwYAIAEgAAsCAAsVACAAUAR+QgEFIAAgAEIBfRAGfgsLBgAgAMBpCx4AIAD9Ef0MAQAAAAIAAAADAAAABAAAAP21Af0bAgs=', 'base64');
const mod = new WebAssembly.Module(bytes);
console.log(WebAssembly.validate(bytes), WebAssembly.validate(bytes.subarray(0, 40)), WebAssembly.validate(new Uint8Array(8)));
console.log(WebAssembly.Module.exports(mod), WebAssembly.Module.imports(mod), WebAssembly.Module.customSections(mod, 'x'));
const { exports: e } = new WebAssembly.Instance(mod);
console.log(e.i32(2 ** 31, -1), e.i32(1.9, '7'), e.i32(), e.i64(3n, -(2n ** 62n)), e.i64(2n ** 64n + 5n, 1n), e.f32(2), e.f64(1, 0), e.f64('x'), e.swap(1, 2n), e.none(1, 2), e.fac(20n), e.bits(0x1ff), e.simd(5));
for (const f of [() => e.i32(1n), () => e.i64(1), () => e.i64('5'), () => e.i64('x'), () => e.i32(Symbol()), () => new e.i32(1), () => { 'use strict'; e.i32 = 1; }]) try { console.log(f()); } catch (error) { console.log(error.name); }
console.log(typeof e.i32, e.i32.length, Object.isFrozen(e), Object.getPrototypeOf(e), Object.keys(e).join());
//# imports and exports
const bytes = Buffer.from('AGFzbQEAAAABIAZgAn98AX9gAAJ/f2ABfwF/YAABf2ACf38Bf2ACf38AAj0GAWEEY2FsbAAAAWEEcGFpcgABAWEDbWVtAgEBBQFhBXRhYmxlAXAABAFhBWZpeGVkA38AAWEDdmFyA34BAwgHAgIDBAICBQYJAX0BQwAAwD8LB1QLBXR3aWNlAAIEbWFkZQMCA21lbQIABXRhYmxlAQAFYWdhaW4AAAJnbwADBXBhaXJzAAQIaW5kaXJlY3QABQRncm93AAYEbG9hZAAHBXN0b3JlAAgJBwEAQQELAQIKTAcHACAAQQJsCxkAIwFCAXwkASAARAAAAAAAAOA/EAAjAGoLBQAQAWsLCQAgASAAEQIACwYAIABAAAsHACAAKAIACwkAIAAgATYCAAsLDQEAQQgLB3dyaXR0ZW4=', 'base64');
const memory = new WebAssembly.Memory({ initial: 1, maximum: 5 });
const table = new WebAssembly.Table({ element: 'anyfunc', initial: 4 });
const variable = new WebAssembly.Global({ value: 'i64', mutable: true }, 40n);
const seen = [];
const a = { call: (...words) => { seen.push(words); return 30.9; }, pair: () => new Set([9, 4]), mem: memory, table, fixed: 12, var: variable };
const mod = new WebAssembly.Module(bytes);
console.log(WebAssembly.Module.imports(mod).map(({ name, kind }) => `${name} ${kind}`).join(), WebAssembly.Module.exports(mod).map(({ name, kind }) => `${name} ${kind}`).join());
const { exports: e } = new WebAssembly.Instance(mod, { a });
console.log(e.go(5), seen, variable.value, e.pairs(), Buffer.from(memory.buffer, 8, 7).toString(), e.mem === memory, e.table === table);
console.log(e.again(1, 2), e.indirect(1, 21), table.get(1) === e.twice, table.get(0), table.length, e.made.value, e.made instanceof WebAssembly.Global);
e.made.value = 2.25; console.log(e.made.value, +e.made, variable.valueOf());
const old = memory.buffer;
new Uint32Array(old)[25] = 77;
console.log(e.load(100), e.grow(2), old.byteLength, memory.buffer.byteLength, e.load(100), memory.buffer === memory.buffer, e.grow(9));
e.store(0, -1); console.log(new Int32Array(memory.buffer)[0], memory.grow(1), memory.buffer.byteLength, new Int32Array(memory.buffer)[25]);
// A module calls a script that calls the module, and the memory grows in between.
const views = [];
const nested = new WebAssembly.Instance(mod, { a: { ...a, mem: new WebAssembly.Memory({ initial: 1, maximum: 5 }), call: (n) => { if (n === 0) return 100; const inner = nested.exports.go(n - 1); nested.exports.grow(1); views.push(nested.exports.mem.buffer.byteLength); return inner; } } });
console.log(nested.exports.go(3), views);
class Mine extends Error {}
const throwing = new WebAssembly.Instance(mod, { a: { ...a, call: () => { throw new Mine('mine'); } } });
try { throwing.exports.go(1); } catch (error) { console.log(error instanceof Mine, error.message); }
const again = new WebAssembly.Instance(mod, { a: { ...a, call: throwing.exports.again, pair: () => 5 } });
for (const f of [() => again.exports.go(1), () => again.exports.pairs()]) try { f(); } catch (error) { console.log(error.name); }
for (const change of [{ call: 1 }, { call: undefined }, { mem: {} }, { table: [] }, { fixed: 1n }, { fixed: 'x' }, { var: 5n }, { pair: e.twice }, { mem: new WebAssembly.Memory({ initial: 0 }) }]) {
  try { new WebAssembly.Instance(mod, { a: { ...a, ...change } }); console.log('linked'); } catch (error) { console.log(error.name, error instanceof WebAssembly.LinkError); }
}
for (const f of [() => new WebAssembly.Instance(mod), () => new WebAssembly.Instance(mod, 5), () => new WebAssembly.Instance(mod, {}), () => new WebAssembly.Instance({}), () => WebAssembly.Module(bytes), () => new WebAssembly.Module('x'), () => new WebAssembly.Module(new Uint8Array(0)), () => new WebAssembly.Module(new Uint8Array(9))]) try { f(); } catch (error) { console.log(error.name); }
//# functions that run at the start, promises, responses
const bytes = Buffer.from('AGFzbQEAAAABDANgAX8AYAAAYAABfwILAQFtBWJlZ2luAAADAwIBAgUDAQABBw8CA21lbQIABWFmdGVyAAIIAQEKFwIQAEEAQQc2AgBBACgCABAACwQAQQML', 'base64');
(async () => {
  const begun = [];
  const imports = { m: { begin: (n) => begun.push(n) } };
  const { module, instance } = await WebAssembly.instantiate(bytes, imports);
  console.log(begun, module instanceof WebAssembly.Module, instance instanceof WebAssembly.Instance, instance.exports.after(), Object.keys(instance.exports), WebAssembly.Module.exports(module));
  console.log((await WebAssembly.instantiate(module, imports)) instanceof WebAssembly.Instance, (await WebAssembly.compile(bytes)) instanceof WebAssembly.Module, begun);
  const response = (type) => new Response(bytes, { headers: { 'content-type': type } });
  console.log((await WebAssembly.instantiateStreaming(response('application/wasm'), imports)).instance.exports.after());
  for (const promise of [() => WebAssembly.instantiate(bytes), () => WebAssembly.compile(new Uint8Array(3)), () => WebAssembly.compile('x'), () => WebAssembly.instantiate(bytes, { m: { begin() { throw new RangeError('at the start'); } } }), () => WebAssembly.compileStreaming(response('text/plain')), () => WebAssembly.compileStreaming(5), () => WebAssembly.instantiate(bytes, { m: {} })]) {
    await promise().then(() => console.log('no error'), (error) => console.log(error.name, error.code));
  }
  console.log(Object.prototype.toString.call(WebAssembly), String(module), String(instance), WebAssembly);
})();
//# traps
const bytes = Buffer.from('AGFzbQEAAAABEgRgAAF/YAAAYAF/AX9gAXwBfwMKCQEBAgACAwICAQQEAXAAAgUEAQEBAQdFCAt1bnJlYWNoYWJsZQABBHplcm8AAghvdmVyZmxvdwADBGxvYWQABAV0cnVuYwAFBGNhbGwABgRkZWVwAAcEZmlsbAAICQcBAEEBCwEACkoJAgALAwAACwcAQQEgAG0LCwBBgICAgHhBf20LBwAgACgCAAsFACAAqgsHACAAEQAACwkAIAAQB0EBagsNAEH6/wNBAUEK/AsACw==', 'base64');
const { exports: e } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
for (const f of [() => e.unreachable(), () => e.zero(0), () => e.zero(3), () => e.overflow(), () => e.load(65533), () => e.load(-4), () => e.load(65532), () => e.trunc(NaN), () => e.trunc(-1.9), () => e.call(9), () => e.deep(1), () => e.fill()]) {
  try { console.log(f()); } catch (error) { console.log(error.constructor.name, error instanceof WebAssembly.RuntimeError, error instanceof Error, error.message); }
}
for (const i of [0, 1]) try { e.call(i); } catch (error) { console.log(error.name); }
const own = new WebAssembly.CompileError('text', { cause: 1 });
console.log(own.name, own.message, own.cause, String(own), Object.keys(own));
//# references, memories, tables, globals
const bytes = Buffer.from('AGFzbQEAAAABHQZgAW8Bb2ABbwF/YAJ/bwBgAX8Bf2AAAXBgAXAAAwgHAAECAwQFAwQIAm8AAnABAQoHPQkDYW55AQAFZnVuY3MBAQRzYW1lAAAGaXNOdWxsAAEDcHV0AAICaWQAAwNyZWYABAR0YWtlAAUDcnVuAAYJBQEDAAEDCjIHBAAgAAsFACAA0QsIACAAIAEmAAsEACAACwQA0gMLCABBACAAJgELCQAgAEEAEQMBCw==', 'base64');
const { exports: e } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
const object = { an: 'object' };
console.log(e.same(object) === object, e.same(null), e.same(undefined), e.same(5), e.isNull(null), e.isNull(undefined));
e.put(1, object); console.log(e.any.get(1) === object, e.any.get(0), e.any.length, e.ref() === e.id, e.funcs.get(0));
e.take(e.id); console.log(e.run(8), e.funcs.get(0) === e.id, e.funcs.grow(2), e.funcs.length, e.funcs.get(2));
e.funcs.set(1, e.id); e.funcs.set(1); console.log(e.funcs.get(1));
for (const f of [() => e.take(() => 1), () => e.funcs.set(0, () => 1), () => e.funcs.get(99), () => e.funcs.set(99, null), () => e.funcs.grow(99), () => e.funcs.get(-1),
  () => new WebAssembly.Memory(), () => new WebAssembly.Memory({}), () => new WebAssembly.Memory({ initial: 2, maximum: 1 }), () => new WebAssembly.Memory({ initial: 70000 }), () => new WebAssembly.Memory({ initial: 1, maximum: 1 }).grow(1),
  () => new WebAssembly.Table({ initial: 1 }), () => new WebAssembly.Table({ element: 'i32', initial: 1 }), () => new WebAssembly.Global({ value: 'i32' }, 5n), () => new WebAssembly.Global({ value: 'x' }), () => { new WebAssembly.Global({ value: 'i32' }, 5).value = 1; },
  () => WebAssembly.Memory.prototype.grow.call({}, 1), () => WebAssembly.Memory.prototype.buffer, () => new WebAssembly.Memory({ initial: 1 }).buffer.transfer()]) try { console.log(f()); } catch (error) { console.log(error.name); }
const memory = new WebAssembly.Memory({ initial: 0, maximum: 3 });
console.log(memory.buffer.byteLength, memory.grow(2), memory.buffer.byteLength, memory.grow(0), String(memory));
const table = new WebAssembly.Table({ element: 'externref', initial: 2 }, 'first');
console.log(table.get(0), table.get(1), table.grow(1, 'later'), table.get(2), table.grow(1), table.get(3));
for (const [value, first] of [['i32', 7.9], ['i64', 7n], ['f32', 0.1], ['f64', '2'], ['externref', object], ['anyfunc', e.id], ['i32', undefined], ['i64', undefined], ['externref', undefined]]) {
  const made = new WebAssembly.Global({ value, mutable: true }, first);
  console.log(value, made.value === first || made.value);
}
