//: attacks = the collector by finalisers, weak references and generators that revive objects
//: timeout = 5
//: memory = 96M
//: status = any
//: says = contained
const kept = [];
const registry = new FinalizationRegistry((f) => { kept.push(new Uint8Array(100)); registry.register({}, f); f(); });
function* g() { try { yield this; } finally { kept.length = 0; for (let i = 0; i < 10; i++) registry.register(g(), () => g().next()); } }
for (let i = 0; i < 5e4; i++) {
  const it = g();
  it.next();
  registry.register(it, () => it.return());
  registry.register({}, () => {});
  const cycle = { it };
  cycle.self = new WeakRef(cycle);
  if (i % 100 === 0) it.return();
}
console.log('contained');
