//# read and write files
const fs = require('fs');
fs.mkdirSync('d/e', { recursive: true }); fs.writeFileSync('d/a.txt', 'one\n'); fs.appendFileSync('d/a.txt', 'two'); fs.copyFileSync('d/a.txt', 'd/e/b.txt'); fs.renameSync('d/e/b.txt', 'd/c.txt');
console.log(fs.readFileSync('d/a.txt', 'utf8'), fs.readdirSync('d'), fs.existsSync('d/zz'), fs.statSync('d/a.txt').size, fs.statSync('d').isDirectory(), fs.readdirSync('d', { withFileTypes: true }).map((e) => [e.name, e.isFile(), e.parentPath]));
fs.rmSync('d', { recursive: true }); console.log(fs.existsSync('d'));
//# errors of fs
const fs = require('fs');
for (const f of [() => fs.readFileSync('no'), () => fs.mkdirSync('.'), () => fs.rmdirSync('no'), () => fs.readdirSync('no'), () => fs.openSync('no/x', 'w'), () => fs.unlinkSync('no'), () => fs.renameSync('no', 'x'), () => fs.readlinkSync('no'), () => fs.readFileSync('.'), () => fs.statSync('no'), () => fs.accessSync('no'), () => fs.closeSync(999), () => fs.copyFileSync('no', 'x'), () => fs.writeFileSync('.', 'x'), () => fs.readFileSync(5.5)]) { try { f(); console.log('ok'); } catch (e) { console.log(e.code, e.syscall, e.errno, e.message); } }
console.log(fs.statSync('no', { throwIfNoEntry: false }));
fs.readFile('no', (e, d) => console.log(e.code, d)); fs.promises.stat('no').catch((e) => console.log(e.message));
//# descriptors
const fs = require('fs');
const fd = fs.openSync('f', 'w+'); console.log(fs.writeSync(fd, 'hello'), fs.writeSync(fd, Buffer.from('XY'), 0, 2, 1));
const b = Buffer.alloc(5); console.log(fs.readSync(fd, b, 0, 5, 0), b.toString(), fs.fstatSync(fd).size); fs.ftruncateSync(fd, 2); fs.closeSync(fd); console.log(fs.readFileSync('f', 'latin1'));
fs.writeFileSync('f', 'abc', { flag: 'a' }); console.log(fs.readFileSync('f').length); fs.truncateSync('f', 1); console.log(fs.readFileSync('f', { encoding: 'hex' }));
try { fs.openSync('f', 'wx'); } catch (e) { console.log(e.message); }
//# links and modes
const fs = require('fs');
fs.writeFileSync('t', 'x', { mode: 0o600 }); fs.symlinkSync('t', 'l'); fs.linkSync('t', 'h');
console.log(fs.readlinkSync('l'), fs.lstatSync('l').isSymbolicLink(), fs.statSync('h').nlink, (fs.statSync('t').mode & 0o777).toString(8)); fs.chmodSync('t', 0o755); console.log((fs.statSync('t').mode & 0o777).toString(8), fs.realpathSync('l') === fs.realpathSync('t')); fs.utimesSync('t', 1, 2); console.log(fs.statSync('t').mtimeMs, fs.statSync('t').atime.toISOString(), fs.statSync('t', { bigint: true }).mtimeNs);
//# promises of fs
const fs = require('fs/promises');
(async () => { await fs.mkdir('p'); await fs.writeFile('p/x', 'data'); const h = await fs.open('p/x', 'r+'); console.log((await h.read(Buffer.alloc(4), 0, 4, 0)).bytesRead, (await h.stat()).size, await h.readFile('utf8')); await h.close(); for await (const line of (await fs.open('p/x')).readLines()) console.log(line); console.log(await fs.readdir('p'), await fs.access('p/x')); await fs.rm('p', { recursive: true, force: true }); await fs.cp('nope', 'y').catch((e) => console.log(e.code)); })();
//# callbacks of fs
const fs = require('fs');
fs.writeFile('cb', 'q', (e) => { console.log(e); fs.stat('cb', (e, s) => { console.log(e, s.isFile()); fs.readdir('.', (e, l) => { console.log(l.includes('cb')); fs.unlink('cb', (e) => { console.log(e); fs.access('cb', (e) => console.log(e.code)); }); }); }); });
//# streams of fs
const fs = require('fs'); const { pipeline } = require('stream/promises');
fs.writeFileSync('big', 'abc\n'.repeat(50000));
(async () => { let n = 0; for await (const c of fs.createReadStream('big', { highWaterMark: 1000 })) n += c.length; console.log(n); await pipeline(fs.createReadStream('big', { start: 4, end: 11 }), fs.createWriteStream('small')); console.log(JSON.stringify(fs.readFileSync('small', 'utf8'))); })();
const w = fs.createWriteStream('w'); w.write('1'); w.end('2', () => console.log(fs.readFileSync('w', 'utf8'), w.bytesWritten));
fs.createReadStream('nope').on('error', (e) => console.log(e.code));
//# opendir and temporary folders
const fs = require('fs');
const t = fs.mkdtempSync('tmp-'); fs.writeFileSync(t + '/a', ''); fs.mkdirSync(t + '/b'); const d = fs.opendirSync(t); const names = []; let e; while ((e = d.readSync())) names.push(e.name); d.closeSync(); console.log(t.length, names.sort());
fs.cpSync(t, 'copy', { recursive: true }); console.log(fs.readdirSync('copy', { recursive: true }).sort()); console.log(fs.globSync?.('copy/*').sort());
//# process
console.log(process.argv.length, typeof process.pid, process.cwd() === require('path').resolve('.'), process.platform, typeof process.uptime(), process.env.NOPE, process.exitCode, process.title.length > 0, process.release.name, Array.isArray(process.hrtime()), typeof process.hrtime.bigint(), Object.keys(process.memoryUsage()), process.execArgv, process.version.split('.')[0]);
process.env.X = 1; console.log(process.env.X, 'X' in process.env, delete process.env.X, process.env.X);
process.on('exit', (c) => console.log('exit', c)); process.exitCode = 4;
//# process exit and handlers
process.on('beforeExit', () => { if (!globalThis.z) { globalThis.z = 1; console.log('before'); setTimeout(() => console.log('again'), 1); } });
process.on('exit', (c) => { console.log('bye', c); });
//# process exit now
process.on('exit', () => { process.exitCode = 9; console.log('e'); }); setTimeout(() => console.log('never'), 10); process.exit(3);
//# uncaught handlers
process.on('uncaughtException', (e, origin) => console.log('caught', e.message, origin)); process.on('unhandledRejection', (r) => console.log('rejected', r)); setTimeout(() => { throw new Error('late'); }, 1); Promise.reject('why'); setTimeout(() => console.log('on'), 5); throw new Error('now');
//# exit status of an error
console.log('out'); null.x;
//# exit status of a rejection
Promise.reject(new Error('x')); setTimeout(() => console.log('never'), 100);
//# syntax error
console.log('never'); let a = ;
//# chdir and umask
const fs = require('fs'); fs.mkdirSync('cd'); process.chdir('cd'); fs.writeFileSync('in', ''); process.chdir('..'); console.log(fs.existsSync('cd/in'), process.umask(0o22) >= 0); try { process.chdir('nope'); } catch (e) { console.log(e.code, e.syscall); }
//# warnings
process.on('warning', (w) => console.log(w.name, w.message)); process.emitWarning('careful', 'MyWarning');
//# child exec
const { exec, execSync, execFileSync } = require('child_process');
console.log(execSync('echo hi', { encoding: 'utf8' }), execSync('cat', { input: 'in' }).toString(), execFileSync('printf', ['%s-', 'a', 'b']).toString());
try { execSync('exit 3', { stdio: 'pipe' }); } catch (e) { console.log(e.status, e.message); }
try { execSync('echo err >&2; exit 1', { stdio: 'pipe' }); } catch (e) { console.log(String(e.stderr)); }
exec('echo a; echo b >&2; exit 2', (e, o, r) => console.log(e.code, o, r)); exec('echo $V', { env: { V: 'val', PATH: process.env.PATH } }, (e, o) => setTimeout(() => console.log(e, o), 50));
//# child spawn
const { spawn, spawnSync } = require('child_process');
const c = spawn('cat'); let got = 0; c.stdout.on('data', (d) => { got += d.length; }); c.on('exit', (code, sig) => console.log('exit', code, sig)); c.on('close', () => console.log('close', got)); c.stdin.write('x'.repeat(200000)); c.stdin.end('end');
spawn('no-such-program').on('error', (e) => console.log(e.code, e.syscall, e.path));
const r = spawnSync('sh', ['-c', 'echo out; echo err >&2; exit 5']); console.log(r.status, r.signal, String(r.stdout), String(r.stderr)); console.log(spawnSync('nope').error.code);
//# child killed
const { spawn, spawnSync } = require('child_process');
const c = spawn('sleep', ['100']); c.on('exit', (code, sig) => console.log(code, sig, c.killed)); setTimeout(() => console.log(c.kill()), 20);
const r = spawnSync('sleep', ['100'], { timeout: 50 }); console.log(r.signal, r.error.code);
//# child promise and stdio
const { promisify } = require('util'); const cp = require('child_process');
(async () => { console.log(await promisify(cp.exec)('echo p')); await new Promise((r) => cp.spawn('echo', ['inherited'], { stdio: 'inherit' }).on('close', r)); console.log((await promisify(cp.execFile)('node', ['-p', '6*7'])).stdout); })();
//# streams readable and transform
const { Readable, Transform, Writable, pipeline, PassThrough } = require('stream');
const up = new Transform({ transform(c, e, cb) { cb(null, String(c).toUpperCase()); } }); const out = [];
pipeline(Readable.from(['a', 'b', 'c']), up, new Writable({ write(c, e, cb) { out.push(String(c)); cb(); } }), (e) => console.log(e, out));
pipeline(Readable.from(['x']), new Transform({ transform(c, e, cb) { cb(new Error('broken')); } }), new PassThrough(), (e) => console.log(e.message));
//# streams helpers
const { Readable, finished, compose } = require('stream');
(async () => { console.log(await Readable.from([1, 2, 3, 4]).filter((x) => x % 2).map((x) => x * 10).toArray(), await Readable.from([1, 2, 3]).reduce((a, b) => a + b, 0)); const r = Readable.from(['a']); finished(r, (e) => console.log('finished', e)); r.resume(); })();
//# streams backpressure and objects
const { Writable, Readable } = require('stream');
const w = new Writable({ highWaterMark: 3, write(c, e, cb) { setImmediate(cb); } }); console.log(w.write('ab'), w.write('cd'), w.writableLength); w.on('drain', () => console.log('drain')); w.end(() => console.log('end', w.writableFinished));
const r = new Readable({ objectMode: true, read() {} }); r.push({ a: 1 }); r.push(null); r.on('data', (d) => console.log(d)).on('end', () => console.log('ended'));
//# web streams
(async () => { const rs = new ReadableStream({ start(c) { c.enqueue('a'); c.enqueue('b'); c.close(); } }); const out = []; for await (const v of rs.pipeThrough(new TransformStream({ transform(v, c) { c.enqueue(v + v); } }))) out.push(v); console.log(out); const { Readable } = require('stream'); for await (const v of Readable.toWeb(Readable.from(['q']))) console.log(v); })();
//# readline
const readline = require('readline'); const { Readable } = require('stream');
(async () => { for await (const l of readline.createInterface({ input: Readable.from(['one\ntw', 'o\r\nthree']) })) console.log(JSON.stringify(l)); })();
//# crypto hashes
const c = require('crypto');
for (const h of ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-256', 'sha3-256', 'ripemd160', 'blake2b512']) console.log(h, c.createHash(h).update('abc').digest('hex'));
const h = c.createHash('sha256').update('a'); const k = h.copy(); console.log(h.update('b').digest('base64'), k.digest('base64url'), c.hash?.('sha1', 'x'));
try { c.createHash('nope'); } catch (e) { console.log(e.message); } try { h.update('x'); } catch (e) { console.log(e.code); }
//# crypto hmac and derivation
const c = require('crypto');
console.log(c.createHmac('sha256', 'key').update('data').digest('hex'), c.pbkdf2Sync('pw', 'salt', 100, 32, 'sha512').toString('hex'), c.scryptSync('pw', 'salt', 32, { N: 1024 }).toString('hex'), Buffer.from(c.hkdfSync('sha256', 'key', 'salt', 'info', 16)).toString('hex'), c.timingSafeEqual(Buffer.from('a'), Buffer.from('a')));
c.pbkdf2('pw', 's', 1, 8, 'sha1', (e, k) => console.log(e, k)); c.randomBytes(4, (e, b) => console.log(e, b.length)); console.log(/^[0-9a-f-]{36}$/.test(c.randomUUID()), c.randomInt(5) < 5, c.getHashes().includes('sha256'));
//# crypto ciphers
const c = require('crypto'); const k = Buffer.alloc(32, 7), iv = Buffer.alloc(16, 9);
for (const n of ['aes-256-cbc', 'aes-256-ctr']) { const e = c.createCipheriv(n, k, iv); const x = e.update('some plain text that is long', 'utf8', 'hex') + e.final('hex'); const d = c.createDecipheriv(n, k, iv); console.log(n, x, d.update(x, 'hex', 'utf8') + d.final('utf8')); }
const g = c.createCipheriv('aes-128-gcm', k.subarray(16), iv.subarray(4)); g.setAAD(Buffer.from('aad')); const ct = Buffer.concat([g.update('gcm text'), g.final()]); const tag = g.getAuthTag(); console.log(ct, tag); const d = c.createDecipheriv('aes-128-gcm', k.subarray(16), iv.subarray(4)); d.setAAD(Buffer.from('bad')); d.setAuthTag(tag); d.update(ct); try { d.final(); } catch (e) { console.log(e.message); }
try { c.createCipheriv('aes-256-cbc', 'short', iv); } catch (e) { console.log(e.code, e.message); }
//# crypto subtle
const { subtle } = crypto; const t = new TextEncoder();
(async () => { console.log(Buffer.from(await subtle.digest('SHA-256', t.encode('abc'))).toString('hex')); const k = await subtle.importKey('raw', t.encode('secret'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']); const s = await subtle.sign('HMAC', k, t.encode('m')); console.log(Buffer.from(s).toString('hex'), await subtle.verify('HMAC', k, s, t.encode('m')), k.algorithm.name, k.extractable); const a = await subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', true, ['encrypt', 'decrypt']); const e = await subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, a, t.encode('x')); console.log(Buffer.from(e).toString('hex'), new TextDecoder().decode(await subtle.decrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, a, e))); })();
//# zlib
const z = require('zlib'); const data = Buffer.from('hello hello hello '.repeat(500));
console.log(z.gunzipSync(z.gzipSync(data)).equals(data), z.inflateSync(z.deflateSync(data, { level: 9 })).length, z.inflateRawSync(z.deflateRawSync('raw')).toString(), z.unzipSync(Buffer.from('eJzLSM3JyQcABiwCFQ==', 'base64')).toString(), z.crc32('hello'));
for (const f of [() => z.gunzipSync('not gzip'), () => z.inflateSync(z.deflateSync(data).subarray(0, 20))]) try { f(); } catch (e) { console.log(e.code, e.errno, e.message); }
z.deflate('async', (e, b) => z.inflate(b, (e, r) => console.log(e, String(r)))); const { Readable } = require('stream'); (async () => { let n = 0; for await (const c of Readable.from([data, data]).pipe(z.createGzip()).pipe(z.createGunzip())) n += c.length; console.log(n); })();
//# vm
const vm = require('vm');
const ctx = vm.createContext({ x: 2, console }); console.log(vm.runInContext('x * 21; ', ctx), vm.runInContext('var y = x + 1; y', ctx), ctx.y, vm.isContext(ctx), vm.runInNewContext('typeof require + a', { a: 1 }), new vm.Script('1 + 1').runInThisContext(), vm.runInThisContext('typeof globalThis'), vm.runInContext('[] instanceof Array', ctx), vm.runInContext('[]', ctx) instanceof Array);
try { new vm.Script('a b', { filename: 'bad.js' }); } catch (e) { console.log(e.name); }
//# json modules and cycles
const fs = require('fs'); fs.writeFileSync('a.js', "exports.n = 'a'; exports.b = require('./b').n;"); fs.writeFileSync('b.js', "exports.n = 'b' + require('./a').n;"); fs.writeFileSync('c.json', '{"v":[1]}'); fs.mkdirSync('dir'); fs.writeFileSync('dir/index.js', 'module.exports = __filename.split("/").pop() + module.children.length');
console.log(require('./a'), require('./c'), require('./dir'), require.resolve('./c.json').endsWith('/c.json'), Object.keys(require.cache).length, module.id, require.main === module);
try { require('./nope'); } catch (e) { console.log(e.code, e.message.split('\n')[0]); } try { require('nope'); } catch (e) { console.log(e.code); }
//# packages
const fs = require('fs'); fs.mkdirSync('node_modules/pkg/lib', { recursive: true }); fs.writeFileSync('node_modules/pkg/package.json', JSON.stringify({ name: 'pkg', version: '1.2.3', exports: { '.': { import: './lib/m.mjs', require: './lib/c.cjs' }, './sub/*': './lib/*.cjs', './package.json': './package.json' }, imports: { '#own': './lib/own.cjs' } })); fs.writeFileSync('node_modules/pkg/lib/c.cjs', "module.exports = 'cjs ' + require('#own');"); fs.writeFileSync('node_modules/pkg/lib/own.cjs', "module.exports = 'own';"); fs.writeFileSync('node_modules/pkg/lib/m.mjs', "export default 'esm'; export const named = 1;");
console.log(require('pkg'), require('pkg/sub/own'), require('pkg/package.json').version); try { require('pkg/lib/c.cjs'); } catch (e) { console.log(e.code); } import('pkg').then((m) => console.log(m.default, m.named, Object.keys(m), m));
//# import from commonjs
const fs = require('fs'); fs.writeFileSync('m.mjs', "import d, { x } from './c.cjs'; import data from './d.json' with { type: 'json' }; export { x, data }; export default d.x + 1; export let live = 1; export const up = () => live++;"); fs.writeFileSync('c.cjs', 'exports.x = 41; exports.y = 2;'); fs.writeFileSync('d.json', '[1,2]');
import('./m.mjs').then((m) => { console.log(m.default, m.x, m.data, m.live, m.up(), m.live); return import('./nope.mjs'); }).catch((e) => console.log(e.code)).then(() => import('data:text/javascript,export default 5')).then((m) => console.log(m.default));
//# node test
const write = process.stdout.write; process.stdout.write = () => true;
const test = require('node:test'); const assert = require('assert'); const seen = [];
test('passes', () => { seen.push('passes'); assert.ok(1); }); test('suite', async (t) => { await t.test('inner', () => { seen.push('inner'); }); seen.push('suite'); }); test('skipped', { skip: true }, () => seen.push('never'));
test('fails', () => assert.strictEqual(1, 2)); test.after(() => seen.push('after')); process.on('exit', (c) => { process.stdout.write = write; console.log(c, seen); });
//# a script of its own between the shell and Python
const fs = require('fs'); const { execSync } = require('child_process');
fs.writeFileSync('double', '#!/usr/bin/env node\nfor (const line of require("fs").readFileSync(0, "utf8").trim().split("\\n")) console.log(2 * line);\n', { mode: 0o755 });
console.log(execSync(`printf '1\\n2\\n' | ./double | python3 -c 'import sys; [print(int(l) + 1) for l in sys.stdin]' | node -p 'fs.readFileSync(0, "utf8").trim().split("\\n").join()'`, { encoding: 'utf8' }));
//# many children at once
const { spawn } = require('child_process'); const ended = [];
for (const n of [3, 1, 2]) spawn('sh', ['-c', `sleep 0.${n}; exit ${n}`], { stdio: 'ignore' }).on('exit', (code) => { ended.push(code); if (ended.length === 3) console.log(ended); });
//# fork and its messages
const { fork } = require('child_process');
if (process.argv[2] === 'child') {
  process.on('message', (m) => process.send({ got: m, connected: process.connected }, () => { if (m === 'end') process.disconnect(); }));
} else {
  console.log(process.send, process.connected, process.channel);
  const child = fork(__filename, ['child']); const seen = [];
  child.on('message', (m) => { seen.push(JSON.stringify(m).length); if (m.got === 'end') console.log(seen, m); });
  child.on('disconnect', () => console.log('disconnect', child.connected)); child.on('exit', (code, signal) => { console.log('exit', code, signal); child.send('late', (e) => console.log(e.code)); });
  console.log(child.send({ a: [1, null, 'x'] }), child.connected); child.send('x'.repeat(300000)); child.send(7); child.send(true); child.send('end');
}
//# channels of other children
const { spawn } = require('child_process');
const child = spawn(process.execPath, ['-e', 'process.once("message", (m) => { console.log("child", m); process.send(m + 1); })'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'] });
child.on('message', (m) => console.log('parent', m)); child.on('close', (code) => console.log('close', code)); child.send(41);
try { child.send(undefined); } catch (e) { console.log(e.code); }
//# brotli and zstd
const z = require('zlib'); const { promisify } = require('util'); const data = Buffer.from('some text, '.repeat(5000) + 'its end');
const zstd = Buffer.from('KLUv/SAFKQAAaGVsbG8=', 'base64');
console.log(z.zstdDecompressSync(zstd).toString());
for (const [pack, unpack] of [['brotliCompressSync', 'brotliDecompressSync'], ['zstdCompressSync', 'zstdDecompressSync']]) {
  const packed = z[pack](data); console.log(pack, packed.length < 500, z[unpack](packed).equals(data), z[unpack](z[pack]('')).length, z[unpack](z[pack](Buffer.alloc(300000, 7))).length);
  try { z[unpack](packed.subarray(0, 10)); } catch (e) { console.log(e.code, e.errno, e.message); }
}
try { z.zstdDecompressSync(Buffer.from('garbage!')); } catch (e) { console.log(e.code, e.errno, e.message); }
for (const make of [() => z.createZstdCompress({ params: { [z.constants.ZSTD_c_strategy]: 130 } }), () => z.createBrotliCompress({ params: { 10000: 0 } })]) { try { make(); } catch (e) { console.log(e.code, e.message); } }
(async () => {
  for (const pack of ['brotliCompress', 'zstdCompress']) console.log(pack, z[pack.replace('Compress', 'DecompressSync')](await promisify(z[pack])(data)).equals(data));
  for (const [pack, unpack] of [[z.createBrotliCompress(), z.createBrotliDecompress()], [z.createZstdCompress(), z.createZstdDecompress()]]) {
    const seen = []; pack.pipe(unpack).on('data', (part) => seen.push(String(part)));
    pack.write('first'); await new Promise((resolve) => pack.flush(resolve)); await new Promise((resolve) => setTimeout(resolve, 50)); console.log(seen.join(''));
    pack.end('second'); for await (const part of unpack) seen.push(String(part)); console.log(seen.join(''));
  }
})();
//# the empty path names nothing
const fs = require('fs');
for (const f of [() => fs.readdirSync(''), () => fs.readFileSync(''), () => fs.statSync(''), () => fs.lstatSync(''), () => fs.accessSync(''), () => fs.mkdirSync(''), () => fs.rmdirSync(''), () => fs.unlinkSync(''), () => fs.renameSync('', 'x'), () => fs.copyFileSync('', 'x'), () => fs.chmodSync('', 0o700), () => fs.utimesSync('', 1, 1), () => fs.readlinkSync(''), () => fs.symlinkSync('x', ''), () => fs.writeFileSync('', 'x')]) { try { f(); console.log('ok'); } catch (e) { console.log(e.code, e.syscall, e.message); } }
console.log(fs.existsSync(''), fs.realpathSync('') === process.cwd());
