//# a store follows promises
const { AsyncLocalStorage } = require('node:async_hooks');
const util = require('node:util');
const als = new AsyncLocalStorage();
const lines = [];
const say = (what, value = als.getStore()) => { lines.push(`${what}: ${util.inspect(value)}`); };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const inside = (name, way) => als.run(name, way);
(async () => {
  await inside('await', async () => { await 0; say('await of a value'); await null; say('a second await'); });
  await inside('pending', async () => { await sleep(2); say('await of a pending promise'); });
  await inside('then', () => Promise.resolve(1).then(() => say('then')));
  await inside('catch', () => Promise.reject(new Error('x')).catch(() => say('catch')));
  await inside('finally', () => Promise.resolve(1).finally(() => say('finally')));
  await inside('all', async () => { await Promise.all([1, sleep(1), Promise.resolve()]); say('Promise.all'); });
  await inside('any', async () => { await Promise.any([Promise.reject(new Error('n')), sleep(1)]); say('Promise.any'); });
  await inside('thenable', async () => { await { then(resolve) { say('thenable'); resolve(); } }; say('after a thenable'); });
  await inside('throw', async () => {
    try { await Promise.reject(new Error('x')); } catch { say('catch of await'); }
    try { await (async () => { await 1; throw new Error('y'); })(); } catch { say('catch of a function'); } finally { say('finally of await'); }
  });
  // The frame is that of `then`, not that of `resolve`.
  let resolve;
  const later = inside('maker', () => new Promise((r) => { resolve = r; }));
  const seen = inside('waiter', () => later.then(() => say('who waits')));
  const other = inside('second', async () => { await later; say('a second one'); });
  inside('resolver', () => resolve());
  await Promise.all([seen, other]);
  const { promise, resolve: settle } = Promise.withResolvers();
  const waits = inside('withResolvers', async () => { await promise; say('withResolvers'); });
  inside('nobody', () => setTimeout(settle, 1));
  await waits;
  say('outside');
  console.log(lines.join('\n'));
})();
//# a store follows asynchronous generators
const { AsyncLocalStorage } = require('node:async_hooks');
const util = require('node:util');
const als = new AsyncLocalStorage();
const lines = [];
const say = (what, value = als.getStore()) => { lines.push(`${what}: ${util.inspect(value)}`); };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const inside = (name, way) => als.run(name, way);
(async () => {
  async function* numbers() { for (let i = 0; i < 2; i++) { await 0; say(`generator ${i}`); yield i; } }
  await inside('for await', async () => { for await (const n of numbers()) say(`loop ${n}`); });
  // A generator runs in the frame of each call of `next`.
  const it = inside('made here', numbers);
  await inside('next', () => it.next());
  await inside('next 2', () => it.next());
  await inside('return', () => it.return());
  await inside('fromAsync', async () => { await Array.fromAsync([1, sleep(1)]); say('Array.fromAsync'); });
  await inside('disposal', async () => {
    { await using _ = { async [Symbol.asyncDispose]() { await 0; say('asyncDispose'); } }; }
    say('after disposal');
  }).catch((e) => say('disposal', e.message));
  console.log(lines.join('\n'));
})();
//# a store follows callbacks
const { AsyncLocalStorage } = require('node:async_hooks');
const { EventEmitter, once, on } = require('node:events');
const { exec } = require('node:child_process');
const fs = require('node:fs');
const timers = require('node:timers/promises');
const { pipeline } = require('node:stream/promises');
const { Readable, Transform } = require('node:stream');
const util = require('node:util');
const zlib = require('node:zlib');
const als = new AsyncLocalStorage();
const lines = [];
const say = (what, value = als.getStore()) => { lines.push(`${what}: ${util.inspect(value)}`); };

const inside = (name, way) => als.run(name, way);
(async () => {
  const wait = (start) => new Promise((resolve) => start(resolve));
  await inside('timeout', () => wait((done) => setTimeout(() => { say('setTimeout'); done(); }, 1)));
  await inside('interval', () => wait((done) => { const t = setInterval(() => { say('setInterval'); clearInterval(t); done(); }, 1); }));
  await inside('immediate', () => wait((done) => setImmediate(() => { say('setImmediate'); done(); })));
  await inside('tick', () => wait((done) => process.nextTick(() => { say('nextTick'); done(); })));
  await inside('microtask', () => wait((done) => queueMicrotask(() => { say('queueMicrotask'); done(); })));
  await inside('promised', async () => { await timers.setTimeout(1); say('timers/promises'); await timers.setImmediate(); say('setImmediate'); });
  await inside('nested', () => wait((done) => setTimeout(() => als.run('deeper', () => setTimeout(() => {
    say('nested timers');
    done();
  }, 1)), 1)));
  await inside('readFile', () => wait((done) => fs.readFile(__filename, () => { say('fs.readFile'); done(); })));
  await inside('fs', async () => { await fs.promises.stat('.'); say('fs.promises'); });
  await inside('stream', async () => {
    await pipeline(Readable.from(['a']), new Transform({ transform(c, _, next) { say('transform'); next(null, c); } }), async (from) => {
      for await (const _ of from) say('reader of a pipeline');
    });
    say('after a pipeline');
  });
  await inside('gzip', async () => { await util.promisify(zlib.gzip)('text'); say('zlib'); });
  await inside('exec', () => wait((done) => exec('echo hi', (_, out) => { say(`exec ${out.trim()}`); done(); })));
  await inside('once', async () => { const e = new EventEmitter(); setTimeout(() => e.emit('x'), 1); await once(e, 'x'); say('events.once'); });
  await inside('on', async () => {
    const e = new EventEmitter();
    setTimeout(() => { e.emit('x', 1); e.emit('x', 2); }, 1);
    let n = 0;
    for await (const [value] of on(e, 'x')) { say(`events.on ${value}`); if (++n === 2) break; }
  });
  // A listener runs in the frame of `emit`.
  const emitter = new EventEmitter();
  inside('adds', () => emitter.on('x', () => say('a listener')));
  inside('emits', () => emitter.emit('x'));
  await inside('abort', () => wait((done) => {
    const c = new AbortController();
    c.signal.addEventListener('abort', () => { say('abort'); done(); });
    als.run('aborts', () => c.abort());
  }));
  await inside('channel', () => wait((done) => {
    const { port1, port2 } = new MessageChannel();
    port2.onmessage = () => { say('MessageChannel'); port2.close(); done(); };
    port1.postMessage(1);
  }));
  console.log(lines.join('\n'));
})();
//# the interfaces of AsyncLocalStorage and AsyncResource
const { AsyncLocalStorage, AsyncResource, executionAsyncId } = require('node:async_hooks');
const util = require('node:util');
const als = new AsyncLocalStorage();
const other = new AsyncLocalStorage({ defaultValue: 'default' });
const lines = [];
const say = (what, value = als.getStore()) => { lines.push(`${what}: ${util.inspect(value)}`); };

const inside = (name, way) => als.run(name, way);
(async () => {
  als.run('outer', () => {
    als.run('inner', () => say('run in run'));
    say('after run');
    als.exit(() => say('exit'));
    try { als.run('thrown', () => { throw new Error('x'); }); } catch { say('after a throw'); }
    say('arguments', als.run('args', (a, b) => [als.getStore(), a, b], 1, 2));
    other.run('both', () => say('two storages', [als.getStore(), other.getStore()]));
    say('default', other.getStore());
  });
  await inside('function', async () => {
    als.enterWith('entered');
    await 0;
    say('enterWith');
  });
  say('after enterWith in a function');
  const bound = inside('bind', () => AsyncLocalStorage.bind((x) => { say(`bind ${x}`); return x; }));
  say('result of bind', inside('caller', () => bound(7)));
  const snapshot = inside('snapshot', () => AsyncLocalStorage.snapshot());
  inside('caller', () => snapshot(() => say('snapshot')));
  const resource = inside('resource', () => new AsyncResource('Thing'));
  inside('caller', () => resource.runInAsyncScope((x) => say(`runInAsyncScope ${x}`), null, 8));
  const attached = inside('attached', () => AsyncResource.bind(() => say('AsyncResource.bind')));
  inside('caller', () => attached());
  await inside('disabled', async () => { await 0; say('before disable'); });
  const short = new AsyncLocalStorage();
  await short.run(1, async () => { short.disable(); say('disabled', short.getStore()); await 0; say('disabled later', short.getStore()); });
  say('ids', typeof executionAsyncId());
  console.log(lines.join('\n'));
})();
//# a handler of rejections has the store of the rejection
const { AsyncLocalStorage } = require('node:async_hooks');
const { once } = require('node:events');
const util = require('node:util');
const als = new AsyncLocalStorage();
const lines = [];
const say = (what, value = als.getStore()) => { lines.push(`${what}: ${util.inspect(value)}`); };

const inside = (name, way) => als.run(name, way);
(async () => {
  const seen = new Promise((resolve) => process.once('unhandledRejection', (e) => { say(`unhandledRejection ${e.message}`); resolve(); }));
  inside('rejected', () => { Promise.reject(new Error('no one')); });
  await seen;
  console.log(lines.join('\n'));
})();
//# each request of a server has its own store
const { AsyncLocalStorage } = require('node:async_hooks');
const { on } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const net = require('node:net');
const util = require('node:util');
const als = new AsyncLocalStorage();
const lines = [];
const say = (what, value = als.getStore()) => { lines.push(`${what}: ${util.inspect(value)}`); };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const inside = (name, way) => als.run(name, way);
(async () => {
  // Each request has a store of its own, though requests overlap and share connections.
  const server = http.createServer((req, res) => als.run(req.url, async () => {
    const id = als.getStore();
    let body = '';
    for await (const piece of req) body += piece;
    await sleep(id === '/0' ? 8 : 1);
    await fs.promises.stat('.');
    res.on('finish', () => say(`finish ${id}`));
    res.end(`${als.getStore()} ${body}`);
  }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 2 });
  const ask = (n) => inside(`client ${n}`, () => new Promise((resolve) => {
    const req = http.request({ port, agent, path: `/${n}`, method: 'POST' }, (res) => {
      const at = als.getStore();
      let text = '';
      res.on('data', (piece) => { text += piece; });
      res.on('end', () => resolve(`${at} got ${text} in ${als.getStore()}`));
    });
    req.end(`body ${n}`);
  }));
  const before = lines.length;
  const got = await Promise.all([0, 1, 2, 3, 4].map(ask));
  const finished = lines.splice(before).sort();
  got.forEach((text) => say('http', text));
  lines.push(...finished);
  say('fetch', await inside('fetch', async () => { const text = await (await fetch(`http://127.0.0.1:${port}/f`, { method: 'POST', body: 'b' })).text(); return [text, als.getStore()]; }));
  agent.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));

  const echo = net.createServer((socket) => { socket.on('data', (d) => socket.end(d)); });
  await new Promise((resolve) => echo.listen(0, '127.0.0.1', resolve));
  await inside('socket', () => new Promise((resolve) => {
    const socket = net.connect(echo.address().port, '127.0.0.1', () => { say('connect'); als.run('write', () => socket.write('x', () => say('written'))); });
    socket.on('data', (d) => say(`data ${d}`));
    socket.on('close', () => { say('close'); resolve(); });
  }));
  await new Promise((resolve) => echo.close(resolve));
  console.log(lines.join('\n'));
})();
