//# a process has the environment that it is given
const { execFileSync, execSync } = require('child_process');
console.log(execFileSync(process.execPath, ['-p', '[process.env.A, process.env.NOT, Object.keys(process.env).includes("A")]'], { env: { A: '1', PATH: process.env.PATH }, encoding: 'utf8' }));
console.log(execSync('B=2 node -p process.env.B', { encoding: 'utf8' }), execSync('export TMPDIR=/t/; node -p "os.tmpdir()"', { encoding: 'utf8' }));
//# what is not there is removed by force
const fs = require('fs');
fs.rmSync('no/such', { force: true, recursive: true }); fs.rmSync('no', { force: true });
try { fs.rmSync('no', { recursive: true }); } catch (e) { console.log(e.code, e.syscall); }
fs.rm('no', { force: true }, (e) => console.log(e)); fs.promises.rm('no').catch((e) => console.log(e.code));
//# lists are loosely equal
const assert = require('assert');
assert.deepEqual([4], ['4']); assert.deepEqual([1, NaN], [1, NaN]); assert.deepEqual([1, , 3], [1, , 3]); assert.notDeepEqual([1], [2]);
const a = [1]; a[Symbol('s')] = 1; assert.deepEqual(a, [1]); assert.throws(() => assert.deepStrictEqual(a, [1])); console.log('done');
//# what is asserted is shown
const assert = require('assert');
const f = (x) => x;
for (const g of [() => assert.ok(false), () => assert(f(0)), () => { assert.ok(typeof 123 === 'string'); }, () => { const a = 1; assert.ok(a === 2 && (f(1))); f(2); }, () => assert.ok()]) try { g(); } catch (e) { console.log(e.code, e.message); }
//# scripts for a time
const vm = require('vm');
for (const g of [() => vm.runInNewContext('for (;;) ;', {}, { timeout: 20 }), () => vm.runInThisContext('try { for (;;) ; } finally { for (;;) ; }', { timeout: 20 }), () => new vm.Script('n = 1; while (true) n++').runInContext(vm.createContext({}), { timeout: 10 })]) try { g(); } catch (e) { console.log(e.code, e.message); }
console.log(vm.runInNewContext('1 + 1', {}, { timeout: 1000 }));
//# an error keeps where it was made
setTimeout(() => { try { (() => { try { null.x; } finally { Math.abs(1); } })(); } catch (e) { console.log(/process.js|case.js:1/.test(e.stack.split('\n')[1])); } }, 1);
//# process.env takes data that can be changed
for (const descriptor of [{ value: 'a' }, { get() { return 1; } }, { configurable: false }, { value: 5, configurable: true, writable: true, enumerable: true }]) {
  try {
    Object.defineProperty(process.env, 'DEFINED', descriptor);
    console.log(typeof process.env.DEFINED, process.env.DEFINED);
  } catch (e) {
    console.log(e.name, e.code, e.message);
  }
}
//# what is closed keeps the loop for a turn
const net = require('net');
process.once('beforeExit', () => {
  net.createServer().listen(0).on('listening', function() {
    this.close();
    process.once('beforeExit', () => console.log('again'));
  });
});
//# the process object
const proto = Object.getPrototypeOf(process);
console.log(Object.getOwnPropertyDescriptor(proto, 'constructor').value === process.constructor, process instanceof require('events'));

//# what is active, by kinds and as objects
const fs = require('fs');
const net = require('net');
const counts = (list) => list.filter((kind) => !/^(TTY|Pipe|File|Connect)/.test(kind)).sort().join();
fs.stat('.', () => console.log('told', counts(process.getActiveResourcesInfo())));
console.log(process._getActiveRequests().length, counts(process.getActiveResourcesInfo()));
const timer = setTimeout(() => {}, 1e6);
const server = net.createServer((socket) => {
  const handles = process._getActiveHandles();
  console.log(handles.includes(server), handles.includes(socket), handles.includes(client));
  console.log(counts(process.getActiveResourcesInfo()));
  clearTimeout(timer);
  socket.destroy();
  client.destroy();
  server.close();
});
let client;
server.listen(0, () => { client = net.connect(server.address().port, '127.0.0.1'); });

//# signals that there are not
for (const signal of [65, 987, -1, 'SIGNONE']) {
  try {
    process.kill(process.pid, signal);
  } catch (error) {
    console.log(error.code, error.message);
  }
}

//# variables that stand for options, and values of variables that are no texts
const { spawnSync } = require('child_process');
const { join } = require('path');
const file = join(require('fs').mkdtempSync(join(require('os').tmpdir(), 'warnings-')), 'w.txt');
const script = 'process.env.A = {}; process.env.B = null; process.emitWarning("careful")';
const done = spawnSync(process.execPath, ['-e', script], {
  env: { ...process.env, NODE_PENDING_DEPRECATION: '1', NODE_REDIRECT_WARNINGS: file },
});
console.log(done.status, String(done.stderr));
console.log(require('fs').readFileSync(file, 'utf8').replace(/\(node:\d+\)/g, '(node)'));
console.log(structuredClone(process.env).PATH === process.env.PATH);

//# frames of the library, and the calls that failed assertions name
const assert = require('assert');
new Promise((resolve) => process.nextTick(resolve)).then(() => {});
process.nextTick(() => console.log(/at process\.processTicksAndRejections \(/.test(new Error('x').stack)));
const value = { isSet: () => true };
value.isSet(1); try { value.isSet(); assert.ok(''); } catch (error) { console.log(error.message); }
//# histograms
const { createHistogram, monitorEventLoopDelay } = require('perf_hooks');
const random = (s) => () => (s = (s * 1103515245 + 12345) % 2147483648) / 2147483648;
for (const options of [undefined, { lowest: 1, highest: 1000, figures: 2 }, { lowest: 10, highest: 1e9, figures: 1 }, { lowest: 1, highest: 1e12, figures: 5 }]) {
  const h = createHistogram(options);
  console.log(h, h.minBigInt, h.percentilesBigInt);
  const next = random(7);
  for (let i = 0; i < 1000; i++) h.record(1 + Math.floor(next() ** 4 * 100000));
  console.log(JSON.stringify(h), h.maxBigInt, h.countBigInt, h.percentile(50), h.percentile(99.9), h.percentile(0.001));
  const g = createHistogram(options);
  g.record(5);
  g.add(h);
  const copy = structuredClone(g);
  console.log(g.count, g.min, g.max, g.mean, copy.count, copy.mean, copy.constructor.name);
  g.reset();
  console.log(g.count, g.min);
}
const deltas = createHistogram();
deltas.recordDelta(); deltas.recordDelta();
console.log(deltas.count, deltas.min > 0);
const delays = monitorEventLoopDelay({ resolution: 5 });
delays.enable();
setTimeout(() => { delays.disable(); console.log(delays.count > 2, delays.min > 1e6); }, 60);
//# children with values of V8's format as messages
const { fork } = require('child_process');
require('fs').writeFileSync('child.js', `process.on('message', (m) => { process.send({ back: m, isBuffer: Buffer.isBuffer(m.buffer) }); if (m.last) process.disconnect(); });`);
const child = fork('./child.js', { serialization: 'advanced' });
child.on('message', ({ back, isBuffer }) => console.log(back, isBuffer));
child.on('exit', (code) => console.log(code));
const loop = { n: 10n, d: new Date(0), m: new Map([[1, new Set(['x'])]]), r: /x/g, buffer: Buffer.from('ü'), view: new Float32Array([1.5]), nothing: undefined, wide: '☃'.repeat(3) };
loop.self = loop;
child.send(loop);
child.send({ long: 'x'.repeat(100000).length, last: true });
//# NODE_OPTIONS may have quotes
const { spawnSync } = require('child_process');
require('fs').writeFileSync('a file.js', 'console.log("loaded")');
const run = (NODE_OPTIONS) => { const { status, stdout, stderr } = spawnSync(process.execPath, ['-p', '1'], { env: { ...process.env, NODE_OPTIONS }, encoding: 'utf8' }); console.log(status, stdout, stderr.replace(/^\S+: /, '').trim()); };
run('-r "./a file.js"  --no-warnings'); run('--require "./a\\ file.js"'); run('-r "./a'); run('"-r" ./"a file".js');
//# code of the command line may be TypeScript
const { spawnSync } = require('child_process');
const run = (...args) => { const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', ...args], { encoding: 'utf8' }); console.log(status, stdout, (/^\w*Error/m.exec(stderr) ?? [''])[0]); };
run('-e', 'interface A { x: number } const a: A = { x: 1 }; console.log(a.x)');
run('-p', '(5 as number) + 1');
run('-e', 'let x: = 5');
run('-e', 'nonsense(');
run('-e', 'const f = (x: string): void => { throw new TypeError(x) }; f("a")');
