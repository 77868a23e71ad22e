//# messages both ways
const { Worker, isMainThread, parentPort, workerData, threadId } = require('worker_threads');
const w = new Worker(`
  const { parentPort, workerData, isMainThread, threadId, resourceLimits } = require('worker_threads');
  parentPort.postMessage([workerData, isMainThread, threadId, typeof resourceLimits.stackSizeMb]);
  parentPort.on('message', (m) => { if (m === 'end') parentPort.close(); else parentPort.postMessage({ got: m }); });
`, { eval: true, workerData: { a: 1n, d: new Date(0), m: new Map([[1, new Set([2])]]), r: /x/gi, b: Buffer.from('hi'), n: [undefined, null, NaN, -0] } });
w.on('online', () => console.log('online', w.threadId));
w.on('message', (m) => {
  console.log(m);
  if (m.got === undefined) { w.postMessage('one'); w.postMessage({ two: [2, { x: new Float64Array([1, 2]) }] }); w.postMessage('end'); }
});
w.on('exit', (code) => console.log('exit', code, w.threadId));
console.log(isMainThread, parentPort, workerData, threadId);
//# errors, exits and what a worker prints
const { Worker } = require('worker_threads');
const { once } = require('events');
const run = (code, options) => new Promise((resolve) => {
  const seen = [];
  const w = new Worker(code, { eval: true, ...options });
  w.on('error', (e) => seen.push('error', e instanceof Error ? [e.name, e.message, e.code, e.extra] : e));
  w.on('messageerror', () => seen.push('messageerror'));
  w.on('message', (m) => seen.push(m));
  w.on('exit', (code) => { seen.push(`exit ${code}`); resolve(seen); });
});
(async () => {
  console.log(await run('throw Object.assign(new TypeError("bad"), { code: "E_X", extra: 5 })'));
  console.log(await run('Promise.reject(new RangeError("later"))'));
  console.log(await run('throw "text"'));
  console.log((await run('nonsense('))[1][0]);
  console.log(await run('process.exit(7)'));
  console.log(await run('process.exitCode = 3; process.on("exit", (c) => require("worker_threads").parentPort.postMessage(c))'));
  console.log(await run('setTimeout(() => process.exit(), 1); process.on("exit", () => {}); require("worker_threads").parentPort.postMessage("x".repeat(300000).length)'));
  console.log(await run('try { process.chdir("/") } catch (e) { require("worker_threads").parentPort.postMessage([e.code, e.message]) }'));
  console.log(await run('require("worker_threads").parentPort.postMessage([process.argv.slice(2), process.execArgv, process.env.A, process.env.HOME === undefined])', { argv: ['x', 1], execArgv: ['--no-warnings'], env: { A: 'b' } }));
  const w = new Worker('process.stdin.on("data", (d) => process.stdout.write(String(d).toUpperCase())); console.error("to stderr")', { eval: true, stdin: true, stdout: true, stderr: true });
  w.stdin.end('typed');
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) w[name].on('data', (d) => { texts[name] += d; });
  await once(w, 'exit');
  console.log(texts);
  new Worker('console.log("a line of a worker")', { eval: true });
})();
//# a worker is ended
const { Worker } = require('worker_threads');
(async () => {
  const w = new Worker('for (;;) ;', { eval: true });
  await new Promise((resolve) => w.on('online', resolve));
  console.log(await w.terminate(), w.threadId);
  console.log(await w.terminate());
  w.postMessage('nobody');
  const idle = new Worker('require("worker_threads").parentPort.on("message", () => {})', { eval: true });
  idle.unref();
  await using other = new Worker('setInterval(() => {}, 1000)', { eval: true });
  const spins = new Worker('for (;;) ;', { eval: true });
  spins.unref();
})();
//# what cannot be a worker
const { Worker } = require('worker_threads');
for (const make of [() => new Worker('x.js'), () => new Worker(5), () => new Worker('./x.js', { env: 5 }), () => new Worker(new URL('http://a/b'), {}), () => new Worker('./x.js', { argv: 5 }), () => new Worker(new URL('file:///x'), { eval: true })]) {
  try { make(); } catch (e) { console.log(e.name, e.code, e.message); }
}
const w = new Worker('./absent.js');
w.on('error', (e) => console.log(e.code, e.message.split('\n')[0].replace(/'.*'/, 'X')));
w.on('exit', (code) => console.log(code));
const holds = new Worker('1', { eval: true });
for (const value of [() => 1, Symbol('s'), { f() {} }, Promise.resolve(), new WeakMap()]) {
  try { holds.postMessage(value); } catch (e) { console.log(e.name, e.code, e.message); }
}
//# ports are passed on
const { Worker, MessageChannel } = require('worker_threads');
const answers = `
  const { parentPort } = require('worker_threads');
  parentPort.once('message', ({ inbox }) => {
    inbox.on('message', (m) => {
      // A port that another worker has made.
      if (m.port) m.port.on('message', (n) => m.port.postMessage(n + 1));
      else if (m === 'end') inbox.close();
      else inbox.postMessage({ echo: m });
    });
  });`;
const asks = `
  const { parentPort, MessageChannel } = require('worker_threads');
  parentPort.once('message', ({ other }) => {
    const lines = [];
    other.on('message', (m) => lines.push(m));
    other.postMessage('hello');
    const { port1, port2 } = new MessageChannel();
    port1.postMessage(1);
    other.postMessage({ port: port2 }, [port2]);
    port1.on('message', (n) => { lines.push(n); if (n < 5) port1.postMessage(n); else port1.close(); });
    port1.on('close', () => { other.postMessage('end'); });
    other.on('close', () => { parentPort.postMessage(lines); });
  });`;
const [a, b] = [new Worker(asks, { eval: true }), new Worker(answers, { eval: true })];
const { port1, port2 } = new MessageChannel();
port1.postMessage('waits in the port');
a.postMessage({ other: port1 }, [port1]);
b.postMessage({ inbox: port2 }, [port2]);
const found = {};
a.on('message', (lines) => { found.a = lines; });
// A port of this thread and a worker.
const one = new MessageChannel();
const c = new Worker(answers, { eval: true });
c.postMessage({ inbox: one.port2 }, [one.port2]);
one.port1.on('message', (m) => { found.c = m; one.port1.postMessage('end'); });
one.port1.postMessage([1, 2]);
one.port1.on('close', () => { found.closed = true; });
let left = 3;
for (const w of [a, b, c]) w.on('exit', () => { if (--left === 0) console.log(found.a, found.c, found.closed); });
//# what is transferred is gone, and objects keep their classes
const { Worker, MessageChannel } = require('worker_threads');
const { createSecretKey, KeyObject } = require('crypto');
const w = new Worker(`
  const { parentPort } = require('worker_threads');
  const { KeyObject } = require('crypto');
  parentPort.once('message', async (m) => {
    parentPort.postMessage([m.bytes.byteLength, m.view[2], m.same === m.bytes, m.key instanceof KeyObject, m.key.export().toString(), m.blob instanceof Blob, await m.blob.text(), m.url instanceof URL, m.loop.loop === m.loop]);
    let text = '';
    for await (const piece of m.stream) text += piece;
    parentPort.postMessage(text);
  });`, { eval: true });
const bytes = new ArrayBuffer(1 << 20);
const view = new Uint8Array(bytes);
view[2] = 9;
const loop = {};
loop.loop = loop;
const stream = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close(); } });
w.postMessage({ bytes, view, same: bytes, key: createSecretKey(Buffer.from('key')), blob: new Blob(['blob']), url: {}, loop, stream }, [bytes, stream]);
console.log(bytes.detached, view.length, stream.locked);
w.on('message', (m) => console.log(m));
const { port1 } = new MessageChannel();
const fail = (list, value = 1) => { try { w.postMessage(value, list); } catch (e) { console.log(e.name, e.code, e.message); } };
fail([bytes]); fail([port1, port1]); fail([{}]); fail(undefined, port1); fail(5);
//# a message is received without the loop
const { Worker, MessageChannel, receiveMessageOnPort } = require('worker_threads');
const { port1, port2 } = new MessageChannel();
const flag = new Int32Array(new SharedArrayBuffer(4));
new Worker(`
  const { workerData: { port, flag } } = require('worker_threads');
  port.on('message', async (m) => {
    await null;
    port.postMessage(m * 2);
    Atomics.add(flag, 0, 1);
    Atomics.notify(flag, 0);
  });`, { eval: true, workerData: { port: port2, flag }, transferList: [port2] }).unref();
// As packages do that wait for a worker.
for (const n of [1, 21]) {
  const before = Atomics.load(flag, 0);
  port1.postMessage(n);
  console.log(Atomics.wait(flag, 0, before, 5000) !== 'timed-out', receiveMessageOnPort(port1));
}
console.log(receiveMessageOnPort(port1), flag[0]);
//# memory is shared
const { Worker } = require('worker_threads');
const buffer = new SharedArrayBuffer(1 << 16);
const words = new Int32Array(buffer);
const WORKERS = 3;
const code = `
  const { parentPort, workerData: { buffer, n } } = require('worker_threads');
  const words = new Int32Array(buffer);
  // Each takes numbers from a counter, as a queue of work does.
  for (let i = Atomics.add(words, 0, 1); i < 90; i = Atomics.add(words, 0, 1)) words[100 + i] = i * i;
  words[1000 + n] = n + 1;
  for (let i = 0; i < 20; i++) {
    while (Atomics.compareExchange(words, 1, 0, 1) !== 0) Atomics.wait(words, 1, 1, 5);
    words[2]++;
    Atomics.store(words, 1, 0);
    Atomics.notify(words, 1, 1);
  }
  parentPort.postMessage(buffer.byteLength);`;
let left = WORKERS;
for (let n = 0; n < WORKERS; n++) {
  new Worker(code, { eval: true, workerData: { buffer, n } }).on('message', (size) => {
    if (--left > 0) return;
    const squares = Array.from({ length: 90 }, (_, i) => words[100 + i] === i * i);
    console.log(size, squares.every(Boolean), [...words.slice(1000, 1000 + WORKERS)], words[0], words[2]);
  });
}
//# channels by name
const { Worker, BroadcastChannel } = require('worker_threads');
const channel = new BroadcastChannel('news');
const code = `
  const { BroadcastChannel, threadId } = require('worker_threads');
  const channel = new BroadcastChannel('news');
  channel.onmessage = ({ data }) => { if (data === 'go') { channel.postMessage('from ' + threadId); } else if (data === 'end') channel.close(); };
  channel.postMessage('ready');`;
const seen = [];
channel.onmessage = ({ data }) => {
  seen.push(data);
  if (data === 'ready' && seen.length === 2) channel.postMessage('go');
  if (seen.length === 4) { console.log(seen.sort()); channel.postMessage('end'); channel.close(); other.close(); }
};
for (let i = 0; i < 2; i++) new Worker(code, { eval: true });
const mine = new BroadcastChannel('mine');
const other = new BroadcastChannel('mine');
other.onmessage = ({ data }) => console.log(data);
mine.postMessage({ here: true });
mine.close();
try { mine.postMessage(1); } catch (e) { console.log(e.name, e.message); }
//# workers of workers, data for all, files and modules
const { Worker, setEnvironmentData } = require('worker_threads');
const fs = require('fs');
setEnvironmentData('key', { deep: [1] });
fs.writeFileSync('inner.js', `const { parentPort, getEnvironmentData, workerData } = require('worker_threads'); parentPort.postMessage([__filename.split('/').at(-1), getEnvironmentData('key'), workerData]);`);
fs.writeFileSync('outer.mjs', `
  import { Worker, parentPort, threadId } from 'node:worker_threads';
  const inner = new Worker(new URL('./inner.js', import.meta.url), { workerData: 'from outer' });
  const m = await new Promise((resolve) => inner.on('message', resolve));
  parentPort.postMessage([import.meta.url.split('/').at(-1), m]);`);
const w = new Worker('./outer.mjs');
w.on('message', (m) => console.log(m));
w.on('error', (e) => console.log(e));
w.on('exit', () => {
  const data = new Worker(new URL('data:text/javascript,import { parentPort } from "node:worker_threads"; parentPort.postMessage("data")'));
  data.on('message', (m) => console.log(m));
});
//# an asynchronous store and a worker
const { Worker } = require('worker_threads');
const { AsyncLocalStorage } = require('async_hooks');
const als = new AsyncLocalStorage();
als.run('store', () => {
  const w = new Worker('require("worker_threads").parentPort.postMessage(1)', { eval: true });
  w.on('message', () => console.log(als.getStore()));
  w.on('exit', () => console.log(als.getStore()));
});
//# a port that is closed delivers what it was sent
const { MessageChannel, receiveMessageOnPort } = require('worker_threads');
const { port1, port2 } = new MessageChannel();
port2.on('message', (m) => console.log(m));
port2.on('close', () => console.log('closed'));
port1.postMessage('one'); port1.postMessage('two'); port1.close();
const c = new MessageChannel();
c.port1.postMessage(1); c.port1.close();
console.log(receiveMessageOnPort(c.port2), receiveMessageOnPort(c.port2));
//# waiting without blocking
const view = new Int32Array(new SharedArrayBuffer(16));
const { Worker } = require('worker_threads');
console.log(Atomics.waitAsync(view, 0, 1), Atomics.waitAsync(view, 0, 0, 0));
const first = Atomics.waitAsync(view, 0, 0, 5000);
const second = Atomics.waitAsync(view, 0, 0);
const other = Atomics.waitAsync(view, 1, 0, 10);
console.log(first.async, first.value instanceof Promise, Atomics.notify(view, 0, 1), Atomics.notify(view, 0), Atomics.notify(view, 0));
setTimeout(() => {}, 60);
Promise.all([first.value, second.value, other.value]).then((all) => {
  console.log(all);
  const w = new Worker('const { workerData: view } = require("worker_threads"); setTimeout(() => { Atomics.store(view, 2, 7); Atomics.notify(view, 2); }, 20);', { eval: true, workerData: view });
  const third = Atomics.waitAsync(view, 2, 0);
  third.value.then((how) => console.log(how, Atomics.load(view, 2)));
});
for (const f of [() => Atomics.waitAsync(new Int32Array(4), 0, 0), () => Atomics.waitAsync(new Int16Array(4), 0, 0), () => Atomics.waitAsync(view, 9, 0)]) try { f(); } catch (e) { console.log(e.name); }
