//# path
const p = require('path');
console.log(p.join('/a', '..', 'b', './c'), p.resolve('/x', 'y', '../z'), p.relative('/a/b/c', '/a/d'), p.basename('/q/w.txt', '.txt'), p.extname('a.b.c'), p.parse('/home/u/f.tar.gz'), p.format({ dir: '/d', name: 'n', ext: '.e' }), p.normalize('/a//b/../c/.'), p.isAbsolute('a'), p.sep, p.win32.join('a', 'b'), p.dirname('/a/b'), p.matchesGlob?.('a/b.js', 'a/*.js'));
//# events
const EE = require('events');
const e = new EE();
e.on('a', (...x) => console.log('a', ...x)); e.once('a', () => console.log('once')); e.prependListener('a', () => console.log('first'));
console.log(e.emit('a', 1, 2), e.emit('a'), e.emit('none'), e.listenerCount('a'), e.eventNames());
try { e.emit('error', new Error('unheard')); } catch (x) { console.log(x.message); }
try { e.emit('error', 5); } catch (x) { console.log(x.code, x.message); }
//# events once and on
const { once, on, EventEmitter } = require('events');
const e = new EventEmitter();
once(e, 'x').then((v) => console.log('once', v)); e.emit('x', 1, 2);
(async () => { setTimeout(() => { e.emit('y', 1); e.emit('y', 2); e.emit('end'); }, 1); for await (const [v] of on(e, 'y', { close: ['end'] })) console.log(v); console.log('done'); })();
//# event target and abort
const t = new EventTarget(); t.addEventListener('go', (ev) => console.log(ev.type, ev instanceof Event), { once: true });
t.dispatchEvent(new Event('go')); t.dispatchEvent(new Event('go'));
const ac = new AbortController(); ac.signal.addEventListener('abort', () => console.log('aborted', ac.signal.reason.name)); ac.abort();
console.log(ac.signal.aborted, AbortSignal.abort('r').reason);
//# buffer basics
const b = Buffer.from('héllo wörld');
console.log(b.length, b.toString('hex'), b.toString('base64'), b.toString('latin1'), b.slice(0, 3), b.indexOf('w'), b.includes('llo'), Buffer.concat([b, Buffer.from([33])]).toString(), Buffer.byteLength('é'), Buffer.alloc(3, 'ab'), b.equals(Buffer.from('héllo wörld')), Buffer.compare(Buffer.from('a'), Buffer.from('b')));
//# buffer numbers
const b = Buffer.alloc(16);
b.writeUInt32BE(0xdeadbeef, 0); b.writeInt16LE(-2, 4); b.writeDoubleLE(1.5, 6); b.writeUInt8(255, 14);
console.log(b, b.readUInt32BE(0), b.readInt16LE(4), b.readDoubleLE(6), b.readUIntBE(0, 3), b.readInt8(14), b.readBigUInt64LE(0));
try { b.readUInt32LE(20); } catch (e) { console.log(e.code, e.message); }
//# buffer encodings
console.log(Buffer.from('ff00zz', 'hex'), Buffer.from('aGk_-w', 'base64url'), Buffer.from('ab', 'utf16le'), Buffer.from([0xe2, 0x82]).toString(), Buffer.from('\ud83d').toString('hex'), Buffer.from('abc').toJSON(), Buffer.from('é').toString('ascii'), Buffer.from('YWJj', 'base64').toString());
//# buffer write fill swap
const b = Buffer.alloc(8);
console.log(b.write('héy', 1), b.write('zzz', 6), b, b.fill('xy', 2, 5), b.swap16(), b.lastIndexOf('x'), b.indexOf(0), b.copy(Buffer.alloc(2), 0, 0, 9), b.subarray(-2), [...b.entries()][0], b.toString('utf8', 1, 3));
//# atob btoa and blob
console.log(btoa('hi!'), atob('aGkh'));
try { atob('*'); } catch (e) { console.log(e.name, e.code); }
new Blob(['ab', new Uint8Array([99])], { type: 'text/plain' }).text().then((t) => console.log(t));
//# string decoder
const { StringDecoder } = require('string_decoder');
const d = new StringDecoder('utf8');
console.log([d.write(Buffer.from([0xe2, 0x82])), d.write(Buffer.from([0xac, 0x41])), d.end(Buffer.from([0xf0, 0x9f]))]);
const u = new StringDecoder('utf16le'); console.log([u.write(Buffer.from([0x61])), u.write(Buffer.from([0, 0x3d, 0xd8])), u.end(Buffer.from([0, 0xde]))]);
const b = new StringDecoder('base64'); console.log([b.write(Buffer.from('ab')), b.end(Buffer.from('c'))]);
//# text encoder decoder
console.log(new TextEncoder().encode('é'), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff])), new TextEncoder().encodeInto('héé', new Uint8Array(4)));
try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])); } catch (e) { console.log(e.code, e.name); }
//# url
const u = new URL('https://user:pa%20ss@example.com:8080/p/a/t/h?query=string&a=1#hash');
console.log(u, u.origin, u.host, [...u.searchParams]);
u.searchParams.append('b', 'x y'); u.pathname = '/ü'; u.port = '443'; u.hash = ''; u.hostname = 'EXAMPLE.org';
console.log(u.href, new URL('../x?y#z', 'http://h/a/b/c').href, URL.canParse('nope'), new URL('file:///C:/a b').href);
try { new URL('nope'); } catch (e) { console.log(e.code, e.input, e.message); }
//# url search params
const s = new URLSearchParams({ a: '1', b: '2 3' }); s.append('a', 'é&='); s.delete('b'); s.sort();
console.log(String(s), s.getAll('a'), s.has('b'), new URLSearchParams('?x=1&x=2&y=%20+').get('y'), s, s.size);
//# url legacy and file urls
const url = require('url');
console.log(url.parse('http://a.com:80/p?q=1#h').query, url.format({ protocol: 'http', host: 'x.y', pathname: '/z', query: { a: 1 } }), url.resolve('http://a/b/c', '../d'), url.fileURLToPath('file:///a%20b/c'), url.pathToFileURL('/a b#?').href, url.domainToASCII('español.com'), url.domainToUnicode('xn--espaol-zwa.com'), url.urlToHttpOptions(new URL('http://a:b@c/d?e')).path);
//# querystring
const q = require('querystring');
console.log(q.parse('a=1&b=2&a=3&c=%20x'), q.stringify({ a: [1, 2], b: 'x y', c: true }), q.escape('a b&'), q.unescape('%41'));
//# os
const os = require('os');
console.log(os.EOL === '\n', os.platform(), typeof os.cpus().length, os.tmpdir().startsWith('/'), typeof os.homedir(), os.constants.signals.SIGINT, os.endianness(), os.type(), os.devNull);
//# assert
const assert = require('assert');
assert.strictEqual(1, 1); assert.deepStrictEqual({ a: [1] }, { a: [1] }); assert.ok(true); assert.throws(() => { throw new TypeError('x'); }, TypeError); assert.match('abc', /b/);
for (const f of [() => assert.strictEqual(1, 2), () => assert.deepStrictEqual({ a: 1, b: [1, 2] }, { a: 1, b: [1, 3] }), () => assert.equal(1, 2, 'mine'), () => assert.throws(() => {}), () => assert.notStrictEqual(1, 1), () => assert.deepEqual([1, 2, 3], [1, 2, 4]), () => assert.fail('boom'), () => assert.rejects]) { try { f(); } catch (e) { console.log(e.name, e.code, e.message, e.operator); } }
assert.rejects(Promise.reject(new Error('r')), /r/).then(() => console.log('rejects ok'));
//# timers order
setTimeout(() => console.log('timeout 0'), 0);
setTimeout(() => { setImmediate(() => console.log('immediate in timer')); process.nextTick(() => console.log('tick in timer')); Promise.resolve().then(() => console.log('micro in timer')); }, 1);
process.nextTick(() => console.log('tick')); Promise.resolve().then(() => { console.log('micro'); process.nextTick(() => console.log('tick from micro')); }); queueMicrotask(() => console.log('queued')); console.log('sync');
//# timers clear and refs
const t = setInterval(() => { console.log('i'); if (++n === 3) clearInterval(t); }, 1); let n = 0;
const u = setTimeout(() => console.log('never'), 100000); u.unref(); console.log(u.hasRef(), typeof t[Symbol.toPrimitive]());
clearTimeout(setTimeout(() => console.log('cleared'), 1)); clearImmediate(setImmediate(() => console.log('cleared')));
//# timers promises
const { setTimeout: sleep, setImmediate: imm, setInterval: every } = require('timers/promises');
(async () => { console.log(await sleep(2, 'v'), await imm('w')); let i = 0; for await (const v of every(1, 'x')) { console.log(v); if (++i === 2) break; } const ac = new AbortController(); const p = sleep(1000, 0, { signal: ac.signal }); ac.abort(); await p.catch((e) => console.log(e.name, e.code)); })();
//# structured clone
const o = { d: new Date(0), r: /x/g, m: new Map([[1, new Set([2])]]), b: new Uint8Array([1, 2]), n: [undefined, null, 1n], e: new TypeError('t') }; o.self = o;
const c = structuredClone(o); console.log(c.d, c.r, c.m, c.b, c.n, c.e.message, c.e instanceof TypeError, c.self === c, c !== o);
try { structuredClone(() => {}); } catch (e) { console.log(e.name, e.code, e.message); }
//# performance
const { performance, PerformanceObserver } = require('perf_hooks');
const a = performance.now(); performance.mark('m'); console.log(typeof a, performance.now() >= a, performance.getEntriesByName('m').length, performance.measure('x', 'm').duration >= 0, typeof performance.timeOrigin);
//# global names
console.log(['Buffer', 'process', 'URL', 'TextEncoder', 'fetch', 'AbortController', 'structuredClone', 'queueMicrotask', 'setImmediate', 'performance', 'crypto', 'Blob', 'ReadableStream', 'MessageChannel', 'Event', 'btoa', 'navigator', 'WeakRef', 'FormData', 'Headers'].map((n) => [n, typeof globalThis[n]].join(':')).join(' '));
//# message channel
const { port1, port2 } = new MessageChannel();
port2.on('message', (m) => { console.log('got', m); port1.close(); }); port1.postMessage({ a: new Map([[1, 2]]) });
//# async local storage
const { AsyncLocalStorage } = require('async_hooks');
const als = new AsyncLocalStorage();
als.run({ id: 1 }, () => { console.log(als.getStore()); setTimeout(() => console.log('timer', als.getStore()), 1); process.nextTick(() => console.log('tick', als.getStore())); });
console.log(als.getStore());
//# diagnostics channel and module
const dc = require('diagnostics_channel'); const ch = dc.channel('c'); ch.subscribe((m, n) => console.log(m, n)); ch.publish({ x: 1 }); console.log(ch.hasSubscribers);
const m = require('module'); console.log(m.builtinModules.includes('fs'), m.isBuiltin('node:path'), typeof m.createRequire, require('node:path') === require('path'));
//# url.format of a URL
const { format } = require('url');
const u = new URL('http://user:pass@xn--lck1c3crb1723bpq4a.com/a?a=b#c');
console.log(format(u), format(u, { unicode: true }), format(u, { auth: false, fragment: false, search: false }));
//# symbols are no text of a URL
const list = new URLSearchParams('a=1');
for (const f of [() => list.append(Symbol('s'), 1), () => list.get(Symbol('s')), () => list.set('a', Symbol('s')), () => new URLSearchParams(Symbol('s'))]) {
  try { f(); } catch (e) { console.log(e.name, e.message); }
}
list.append(1, null);
console.log(`${list}`);
//# zero bytes in scripts
const vm = require('vm');
console.log(vm.runInThisContext('"a\0b".length'), eval('"a\0b".length'), new vm.Script('/\0/.test("\0")').runInThisContext(), vm.runInNewContext('`\0`.length'));
for (const text of ['1 \0 2', '\0', 'a\0']) try { new vm.Script(text, { filename: 'named.js' }); console.log('?'); } catch (e) { console.log(e.name); }
