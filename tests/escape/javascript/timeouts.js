//: attacks = the deadline of vm scripts by handlers, generators, promises and getters that would catch its error
//: timeout = 20
//: memory = 128M
//: status = 0
//: says = contained
const vm = require('vm');
const bodies = [
  'try { for (;;) ; } catch { for (;;) ; } finally { for (;;) ; }',
  'for (const x of { *[Symbol.iterator]() { try { for (;;) yield 1; } finally { for (;;) ; } } }) ;',
  '(async () => { try { for (;;) ; } catch { for (;;) ; } })(); for (;;) ;',
  'const o = { get a() { try { for (;;) ; } finally { return 1; } } }; o.a; for (;;) ;',
  'new Proxy({}, { get() { try { for (;;) ; } catch { return 1; } } }).x',
  'JSON.stringify({ toJSON() { for (;;) ; } })',
  '[3, 2, 1].sort(() => { for (;;) ; })',
  'Object.defineProperty(Error, "prepareStackTrace", { value() { for (;;) ; } }); null.x',
  '"a".replace(/a/, () => { for (;;) ; })',
  'class A { static { for (;;) ; } }',
];
let ended = 0;
for (const body of bodies) {
  for (const run of [() => vm.runInNewContext(body, {}, { timeout: 20 }), () => vm.runInThisContext(`(() => { ${body} })()`, { timeout: 20 })]) {
    try { run(); ended++; } catch { ended++; }
  }
}
// Of two nested timeouts, the earlier one ends both runs.
try {
  vm.runInThisContext('inner()', { timeout: 20, importModuleDynamically: undefined });
} catch { ended++; }
globalThis.inner = () => { try { vm.runInThisContext('for (;;) ;', { timeout: 10000 }); } finally { for (;;) ; } };
const begun = Date.now();
try { vm.runInThisContext('inner()', { timeout: 30 }); } catch (e) { if (e.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') ended++; }
if (ended === 2 * bodies.length + 2 && Date.now() - begun < 5000 && [1, 2].map((n) => n + 1)[1] === 3) console.log('contained');
