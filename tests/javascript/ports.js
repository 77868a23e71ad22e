//# a port closes after what was sent, and then has no state
const { MessageChannel } = require('worker_threads'); const { inspect } = require('util');
const { port1, port2 } = new MessageChannel(); const got = [];
port1.on('message', (value) => { got.push(value); port1.close(); }); port1.on('close', () => console.log(got, port1.hasRef()));
port2.postMessage('a'); port2.postMessage('b'); console.log(port1.hasRef(), /active: (\w+)/.exec(inspect(port1))[1]);
//# what was marked, and what was taken
const { MessageChannel, markAsUncloneable, markAsUntransferable, isMarkedAsUntransferable, receiveMessageOnPort } = require('worker_threads');
const attempt = (run) => { try { console.log(run()); } catch (error) { console.log(error.name, error.code, error.message); } };
const { port1, port2 } = new MessageChannel();
attempt(() => { const object = {}; markAsUncloneable(object); port1.postMessage([object]); }); attempt(() => { const list = [1]; markAsUncloneable(list); return structuredClone(list); }); attempt(() => { const blob = new Blob([]); markAsUncloneable(blob); structuredClone(blob); });
attempt(() => { const buffer = new ArrayBuffer(1); markAsUntransferable(buffer); port1.postMessage(buffer, [buffer]); }); attempt(() => { const { port1: own } = new MessageChannel(); markAsUntransferable(own); port1.postMessage(own, [own]); });
console.log(isMarkedAsUntransferable({}), isMarkedAsUntransferable(1));
const view = new Uint16Array([1, 2, 3]); port1.postMessage({ view, part: view.subarray(1) }, [view.buffer]); console.log(receiveMessageOnPort(port2), view.length); attempt(() => port1.postMessage(view, [view.buffer]));
console.log(structuredClone(new DataView(new ArrayBuffer(8), 2, 4), {}).byteLength);
//# constructors, receivers and lists that are not valid
const { MessageChannel, MessagePort } = require('worker_threads');
const attempt = (run) => { try { console.log(run()); } catch (error) { console.log(error.name, error.code, error.message); } };
const { port1 } = new MessageChannel();
attempt(() => MessagePort()); attempt(() => new MessagePort()); attempt(() => MessageChannel()); attempt(() => MessagePort.prototype.hasRef.call({})); attempt(() => MessagePort.prototype.postMessage.call({}, 1));
for (const transfer of [null, 0, {}, { [Symbol.iterator]() { return {}; } }, { [Symbol.iterator]() { return { next: 42 }; } }]) attempt(() => port1.postMessage(1, { transfer }));
console.log(Object.getOwnPropertyNames(MessagePort.prototype).sort().join(' '));
//# an object of a class that is not known arrives as an error
const { once } = require('events'); const fs = require('fs').promises;
(async () => {
  const file = await fs.open(__filename); const [transfer] = Object.getOwnPropertySymbols(Object.getPrototypeOf(file)).filter((one) => one.description === 'messaging_transfer_symbol');
  file[transfer] = () => ({ data: 1, deserializeInfo: 'net:Socket' });
  const { port1, port2 } = new MessageChannel(); port1.postMessage(file, [file]); port2.on('message', () => {}); const [error] = await once(port2, 'messageerror'); console.log(error.message); port2.close();
})();
//# hooks see ports and workers
const { MessageChannel, Worker } = require('worker_threads'); const { createHook } = require('async_hooks');
const seen = []; const hook = createHook({ init(id, type, trigger, resource) { if (['MESSAGEPORT', 'WORKER'].includes(type)) seen.push([type, resource]); } }).enable();
const { port1 } = new MessageChannel(); console.log(seen.map(([type]) => type), seen[0][1] === port1); hook.disable(); hook.enable();
const worker = new Worker('', { eval: true }); const handle = seen.find(([type]) => type === 'WORKER')[1]; console.log(handle.hasRef()); worker.unref(); console.log(handle.hasRef()); worker.ref();
worker.on('exit', () => { console.log(handle.hasRef()); setTimeout(() => console.log(handle.hasRef()), 0); });
//# messages go in the order in which channels were made
const events = []; const [a, b, c] = ['x', 'x', 'x'].map((name) => new BroadcastChannel(name));
[a, b, c].forEach((channel, i) => { channel.onmessage = ({ data }) => { events.push(`${i}:${data}`); if (events.length === 6) { console.log(events); a.close(); b.close(); c.close(); } }; });
a.postMessage('a'); c.postMessage('c'); b.postMessage('b');
//# a port that is sent to its own other end
const { port1, port2 } = new MessageChannel(); process.on('warning', (warning) => console.log(warning.name, warning.message));
const buffer = new ArrayBuffer(3); port2.onmessage = () => console.log('no'); port2.postMessage(null, [port1, buffer]); console.log(buffer.byteLength);
//# options that a worker cannot have
const { Worker } = require('worker_threads');
const attempt = (options) => { try { new Worker('0', { eval: true, ...options }); console.log('ok'); } catch (error) { console.log(error.code, error.message); } };
for (const execArgv of [['--foo'], ['--title=x'], ['--redirect-warnings'], ['--foo', '--bar', '--version'], ['--expose-gc'], ['--no-warnings', 'x'], ['--input-type=module'], ['-e', '1'], ['--enable-source-maps', '--require']]) attempt({ execArgv });
for (const NODE_OPTIONS of ['--nonexistent', '--title=x', '--no-warnings']) attempt({ env: { NODE_OPTIONS } });
//# the directory, a shared environment, the processor time and modules of WebAssembly
const { Worker, SHARE_ENV } = require('worker_threads'); const { once } = require('events');
(async () => {
  process.env.BEFORE = 'a'; process.chdir('/');
  const worker = new Worker(`const { parentPort } = require('worker_threads'); process.env.INSIDE = 'b'; delete process.env.GONE;
    parentPort.on('message', ({ module }) => { parentPort.postMessage([process.cwd(), process.env.BEFORE, process.env.AFTER, module && new WebAssembly.Instance(module).exports.f()]); if (module) parentPort.close(); })`, { eval: true, env: SHARE_ENV });
  const ended = once(worker, 'exit'); process.env.GONE = 'x'; process.env.AFTER = 'c'; process.chdir('/tmp'); worker.postMessage({}); console.log((await once(worker, 'message'))[0]);
  const { user, system } = await worker.cpuUsage(); console.log(user >= 0, system >= 0);
  const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11]));
  console.log(structuredClone(module) instanceof WebAssembly.Module, WebAssembly.Module.exports(structuredClone(module)));
  worker.postMessage({ module }); console.log((await once(worker, 'message'))[0]); await ended; console.log(process.env.INSIDE);
  await worker.cpuUsage().catch((error) => console.log(error.code));
})();
//# watchers of files
const fs = require('fs'); fs.writeFileSync('a', 'x'); fs.mkdirSync('d');
fs.watchFile('a', { interval: 10 }, (now, before) => { console.log(now.size, before.size); fs.unwatchFile('a'); });
fs.watchFile('none', { interval: 10 }, (now) => { console.log(now.size, now.mtimeMs); fs.unwatchFile('none'); });
setTimeout(() => fs.writeFileSync('a', 'xyz'), 100);
const watcher = fs.watch('d', (kind, name) => { console.log(kind, name); watcher.close(); }); watcher.on('close', () => console.log('closed'));
setTimeout(() => fs.writeFileSync('d/f', 'x'), 200);
try { fs.watch('nowhere'); } catch (error) { console.log(error.code, error.message, error.syscall); }
//# the configuration names locale data
console.log(process.config.variables.v8_enable_i18n_support, process.versions.icu, process.versions.unicode, process.versions.cldr, process.versions.tz);
