'use strict';
// Calls the program's bindings and the modules above them with random values:
// `node --expose-internals javascript.cjs SEED CALLS [trace]`. Any exception is accepted. A trap, a
// panic or a status other than 0 is a finding, which the same seed reproduces. Arguments are those
// of recorded valid calls with some of them changed, or random values.

const { internalBinding } = require('internal/test/binding');
const { native } = internalBinding('host').host;

let state = (Number(process.argv[2]) || 1) >>> 0;
const calls = Number(process.argv[3]) || 10000;
function random(below) {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ state >>> 15, state | 1);
  t ^= t + Math.imul(t ^ t >>> 7, t | 61);
  return ((t ^ t >>> 14) >>> 0) % below;
}
const pick = (list) => list[random(list.length)];

// Bindings that are not called, because they end the process, wait, or replace parts that this
// program itself needs.
const SKIPPED = new Set(['exit', 'kill', 'setModuleHooks', 'runJobs', 'libraryNames', 'esmLoader', 'typescript', 'bundle', 'tlsWrap',
                         'poll', 'reap', 'beginClock', 'catchSignals', 'spawn', 'evaluate', 'runModule', 'importModule', 'newRealm', 'evaluateIn', 'pipe']);
// Bindings that take longer with larger numbers, including those in bytes. They get small numbers.
const SLOW = /pbkdf2|scrypt|random|hkdf|prime|rsa|modPow/i;

// --- valid calls, recorded while programs run ---------------------------------------------------

const recorded = new Map();
const MOST = 24;
for (const name of Object.keys(native)) {
  const original = native[name];
  if (typeof original !== 'function') continue;
  const list = [];
  recorded.set(name, { original, list });
  native[name] = function(...args) {
    if (list.length < MOST) list.push(args);
    else if (random(64) === 0) list[random(MOST)] = args;
    return original.apply(this, args);
  };
}

const assert = require('assert');
const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
const querystring = require('querystring');
const { StringDecoder } = require('string_decoder');
const url = require('url');
const util = require('util');
const v8 = require('v8');
const vm = require('vm');
const zlib = require('zlib');

// Calls with random paths and descriptors are safe only in a sandbox.
if (!fs.existsSync('/.box')) {
  console.error('this writes and removes whatever it meets: run it by cargo xtask fuzz javascript');
  process.exit(2);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fuzz-'));
process.chdir(folder);

// Changes up to three bytes, and returns the array.
function spoil(bytes) {
  for (let n = random(4); n > 0; n--) bytes[random(bytes.length)] ^= 1 << random(8);
  return bytes;
}
const attempt = (work) => {
  try {
    return work();
  } catch {
    return undefined;
  }
};

function workWithKeys(text) {
  const data = Buffer.from(text.slice(0, 20));
  for (const [type, options] of [['ec', { namedCurve: pick(['P-256', 'P-384', 'P-521', 'secp256k1']) }], ['ed25519'], ['x25519'], ['rsa', { modulusLength: 512 }]]) {
    const { privateKey, publicKey } = crypto.generateKeyPairSync(type, options);
    const hash = type === 'ed25519' ? null : 'sha256';
    const signature = attempt(() => crypto.sign(hash, data, privateKey));
    if (signature) crypto.verify(hash, data, publicKey, spoil(signature));
    if (type !== 'ed25519' && type !== 'rsa') crypto.diffieHellman({ privateKey, publicKey });
    attempt(() => crypto.createPrivateKey({ key: spoil(privateKey.export({ type: 'pkcs8', format: 'der' })), format: 'der', type: 'pkcs8' }));
    attempt(() => crypto.createPublicKey({ key: spoil(publicKey.export({ type: 'spki', format: 'der' })), format: 'der', type: 'spki' }));
    attempt(() => crypto.privateDecrypt(privateKey, spoil(crypto.publicEncrypt({ key: publicKey, padding: 1 }, data))));
  }
  crypto.checkPrimeSync(crypto.generatePrimeSync(32));
  crypto.getDiffieHellman('modp1').generateKeys();
}

// Imports a function and a memory; exports a function that calls it and reads, a table, a variable.
const MODULE = Buffer.from('0061736d01000000010c0260017f017f60027f7f017f020e020165016600000165016d0200010302010104040170000206060' +
  '17f0141010b070e03026631000101740100016703000907010041000b01010a11010f002000100020012802006a23006a0b', 'hex');
// Has a memory of one to four pages, and a function that writes to it.
const STORE = Buffer.from('0061736d0100000001070160027f7f017f0302010005040101010407090201660000016d02000a0d010b00200020013602' +
  '0020000b', 'hex');

function workWithModules() {
  for (const bytes of [MODULE, STORE]) {
    const damaged = spoil(bytes);
    WebAssembly.validate(damaged);
    attempt(() => {
      const module = new WebAssembly.Module(random(3) === 0 ? bytes : damaged);
      WebAssembly.Module.customSections(module, 'name');
      const memory = new WebAssembly.Memory({ initial: 1, maximum: 2 });
      const { exports } = new WebAssembly.Instance(structuredClone(module), { e: { f: (x) => { attempt(() => memory.grow(1)); return x; }, m: memory } });
      for (const one of Object.values(exports)) {
        if (typeof one === 'function') attempt(() => one(random(70000), random(2 ** 31)));
        else if (one instanceof WebAssembly.Memory) attempt(() => { one.grow(random(3)); new Uint8Array(one.buffer).fill(1, 0, 9); });
        else if (one instanceof WebAssembly.Table) attempt(() => { one.grow(random(9)); one.set(random(9), exports.f1 ?? null); one.get(random(9))?.(1, 2); });
      }
    });
  }
  const table = new WebAssembly.Table({ element: pick(['anyfunc', 'externref']), initial: 2 });
  attempt(() => table.set(random(4), pick([null, {}, attempt])));
}

function workWithScopes(text) {
  const context = vm.createContext({ given: 1 });
  attempt(() => vm.compileFunction(pick(['return given', 'return a', 'let let', '\u{110000}']), ['x'], { parsingContext: context, contextExtensions: [{ a: 1 }, {}] })());
  attempt(() => new vm.Script(pick(['given = 2', 'this', 'throw 1'])).runInContext(context, { timeout: 50 }));
  const { port1, port2 } = new MessageChannel();
  const view = new Uint16Array(random(9));
  attempt(() => port1.postMessage({ view, text, ports: [port2] }, [view.buffer, pick([port1, port2])]));
  port1.close();
  for (const pattern of ['/:a(\\d+)?/*', '{:b}+/c', 'https://*.h/:x', '([a-z]{1,9})', ':' , '{', '\\']) {
    attempt(() => new URLPattern(pick([pattern, { pathname: pattern, hostname: pattern }, { search: spoil(Buffer.from(pattern)).toString('latin1') }]), pick([undefined, 'http://h/a/'])).exec('https://a.h/b/1'));
  }
}

function work() {
  const text = 'a text \u00e4\u20ac\u{1f600} '.repeat(40);
  for (const encoding of ['utf8', 'latin1', 'base64', 'base64url', 'hex', 'utf16le', 'ascii']) {
    const bytes = Buffer.from(text, encoding);
    bytes.toString(encoding, 1, 40);
    new StringDecoder(encoding).write(bytes.subarray(3));
    bytes.indexOf('te', 1, encoding);
  }
  new TextDecoder('utf-8').decode(new TextEncoder().encode(text));
  for (const label of ['shift_jis', 'gb18030', 'big5', 'euc-kr', 'iso-2022-jp', 'utf-16be']) {
    const decoder = new TextDecoder(label, { fatal: random(2) === 0 });
    attempt(() => decoder.decode(spoil(Buffer.from(text)), { stream: random(2) === 0 }));
  }
  const [locale, timeZone] = [pick(['en', 'de', 'ja', 'ar-EG', 'zh-TW', 'hi']), pick(['Europe/Berlin', 'Asia/Kolkata', 'America/New_York'])];
  new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'full', timeStyle: 'full' }).formatRange(random(2 ** 31) * 1000, random(2 ** 31) * 1000);
  new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR', notation: pick(['compact', 'standard']) }).format(random(2 ** 31) / 7);
  text.localeCompare(text.slice(random(9)), locale, { numeric: random(2) === 0, sensitivity: pick(['base', 'accent', 'case', 'variant']) });
  [...new Intl.Segmenter(locale, { granularity: pick(['grapheme', 'word', 'sentence']) }).segment(text)].length;
  for (const name of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256']) {
    crypto.createHash(name).update(text).digest();
    crypto.createHmac(name, 'key').update(text).digest('hex');
  }
  crypto.pbkdf2Sync('a', 'b', 3, 20, 'sha1');
  crypto.scryptSync('a', 'b', 16, { N: 16 });
  crypto.hkdfSync('sha256', 'a', 'b', 'c', 20);
  for (const name of ['aes-128-cbc', 'aes-192-ctr', 'aes-256-gcm', 'aes-128-ecb', 'aes-128-cfb8', 'aes-256-ofb', 'chacha20', 'chacha20-poly1305']) {
    const { keyLength, ivLength = 0 } = crypto.getCipherInfo(name);
    const cipher = crypto.createCipheriv(name, Buffer.alloc(keyLength, 2), ivLength ? Buffer.alloc(ivLength, 1) : null);
    cipher.update(text);
    cipher.final();
  }
  crypto.createCipheriv('id-aes128-wrap', Buffer.alloc(16, 2), Buffer.alloc(8)).update(Buffer.alloc(24));
  workWithKeys(text);
  v8.deserialize(spoil(v8.serialize([text, new Map([[1, { a: [1.5, 2n] }]]), new Set([/a/g]), Buffer.from(text), new Date(), [1, , 3]])));
  for (const [pack, unpack] of [['deflateSync', 'inflateSync'], ['gzipSync', 'gunzipSync'], ['deflateRawSync', 'inflateRawSync']]) {
    zlib[unpack](zlib[pack](text, { level: random(10) }));
  }
  fs.mkdirSync('d', { recursive: true });
  fs.writeFileSync('d/f', text);
  fs.appendFileSync('d/f', text);
  const fd = fs.openSync('d/f', 'r+');
  fs.readSync(fd, Buffer.alloc(20), 0, 20, 3);
  fs.writeSync(fd, 'xyz', 4);
  fs.fstatSync(fd);
  fs.ftruncateSync(fd, 50);
  fs.futimesSync(fd, 1, 2);
  fs.closeSync(fd);
  fs.copyFileSync('d/f', 'd/g');
  fs.renameSync('d/g', 'd/h');
  fs.symlinkSync('f', 'd/l');
  fs.linkSync('d/f', 'd/m');
  fs.chmodSync('d/f', 0o600);
  fs.accessSync('d/f');
  [fs.readlinkSync('d/l'), fs.realpathSync('d/l'), fs.readdirSync('d', { withFileTypes: true }), fs.lstatSync('d/l')].length;
  fs.rmSync('d', { recursive: true });
  new URL('http://user:pw@example.com:81/a/../b?c=d#e', 'http://x.y/').searchParams.append('a', 'b');
  url.domainToASCII('m\u00fcnchen.de');
  querystring.parse('a=b&c=%20');
  util.inspect(new Proxy(new Map([[1, Promise.resolve(2)]]), {}), { showProxy: true });
  util.inspect(new Error(text));
  structuredClone(new Map([[new Date(), [1n, /a/g]]]));
  assert.throws(() => assert.deepStrictEqual({ a: 1 }, { a: 2 }));
  vm.runInNewContext('a + 1', { a: 1 });
  workWithModules();
  workWithScopes(text);
  assert.throws(() => new vm.Script('let let'));
  fs.writeFileSync('t.ts', 'enum A { B = 1 } export const c: number = A.B; namespace N { export let x = 1 }');
  require(path.join(folder, 't.ts'));
}

// --- random values ------------------------------------------------------------------------------

const NUMBERS = [0, -0, 1, -1, 2, 3, 7, 16, 32, 255, 256, 4096, 65535, 65536, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 32 - 1, 2 ** 53, -(2 ** 53),
                 NaN, Infinity, -Infinity, 0.5, -0.5, 1e-7, 1e21, Number.MAX_VALUE];
const TEXTS = ['', 'a', '.', '..', 'd/f', 'f', 'no/such', '\0', 'a\0b', '\ud800', '\udfff\ud800', '\u{10ffff}', '\ufeff', 'utf8', 'hex', 'base64', 'latin1', 'ucs2',
               'sha256', 'md5', 'sha3-512', 'shake128', 'zlib', 'gzip', 'raw', 'http://[::1]/', 'http://a:99999/', 'xn--', '%', '%ff', 'enum A {', '/a.tsx', 'r+', 'w',
               '\u00e4'.repeat(100), 'x'.repeat(70000), '(', '[[', '{"a":', '`${', '__proto__', '-1'];
const pool = [];

const bytes = () => {
  const whole = new ArrayBuffer(pick([0, 1, 2, 15, 16, 17, 64, 1000, 65536]), random(4) === 0 ? { maxByteLength: 70000 } : undefined);
  const view = new Uint8Array(whole);
  for (let i = 0; i < Math.min(view.length, 64); i++) view[i] = random(256);
  switch (random(9)) {
    case 0: return whole;
    case 1: return view.subarray(random(view.length + 1), random(view.length + 1));
    case 2: return Buffer.from(whole);
    case 3: return new DataView(whole);
    case 4: return new Float64Array(random(9));
    case 5: structuredClone(whole, { transfer: [whole] }); return view;
    case 6: if (whole.resizable) whole.resize(random(2) === 0 ? 0 : 70000); return view;
    default: return view;
  }
};

// Returns a value whose conversion or properties run code that detaches a buffer.
const active = () => {
  const victim = bytes();
  const act = () => {
    const buffer = victim.buffer ?? victim;
    try {
      structuredClone(buffer, { transfer: [buffer] });
    } catch {
      // It was already detached.
    }
    return pick([1, 'a', {}]);
  };
  pool.push(victim);
  return pick([() => ({ valueOf: act, toString: act, [Symbol.toPrimitive]: act }), () => ({ get length() { return act(); }, 0: 1 }),
               () => new Proxy([], { get: act }), () => act, () => { throw new Error('thrown'); },
               () => Object.defineProperty([1, 2], 0, { get: act })])();
};

function value(depth = 0) {
  switch (random(depth > 3 ? 8 : 14)) {
    case 0: case 1: return pick(NUMBERS);
    case 2: return random(1 << 30) - (1 << 29);
    case 3: case 4: return pick(TEXTS);
    case 5: return pick([null, undefined, true, false, Symbol('s'), 1n << 70n, -1n, 5n]);
    case 6: case 7: return bytes();
    case 8: return Array.from({ length: random(5) }, () => value(depth + 1));
    case 9: return [random(70000), random(70000)];
    case 10: return { [pick(TEXTS)]: value(depth + 1), type: value(depth + 1), length: value(depth + 1) };
    case 11: return pick([() => value(), class A {}, new Proxy(function() {}, {}), new Map([[1, 2]]), new Date(NaN), /a/y, Promise.resolve(1), new Proxy({}, {})]);
    case 12: return active();
    default: return pool.length > 0 ? pick(pool) : 0;
  }
}

function changed(args) {
  const out = args.slice();
  for (let n = random(3); n > 0; n--) {
    const at = random(out.length + 1);
    if (random(6) === 0) out.splice(at, 1);
    else out[at] = value();
  }
  return out;
}

function small(v) {
  if (typeof v === 'number') return Math.min(Math.max(Math.trunc(v) || 0, -1), 64);
  if (v instanceof Uint8Array && v.length > 128) return v.subarray(0, 128);
  if (v instanceof ArrayBuffer && v.byteLength > 128) return v.slice(0, 128);
  return Array.isArray(v) ? v.map(small) : v;
}
const keep = (result) => {
  if (result === null || (typeof result !== 'object' && typeof result !== 'function')) return;
  if (pool.length < 60) pool.push(result);
  else pool[random(60)] = result;
};

const publicFunctions = [];
for (const [module, names] of [
  [zlib, ['deflateSync', 'inflateSync', 'gunzipSync', 'unzipSync', 'inflateRawSync', 'crc32']],
  [crypto, ['createHash', 'createHmac', 'timingSafeEqual', 'createCipheriv', 'createDecipheriv', 'getCipherInfo', 'hash', 'createSecretKey', 'createPublicKey', 'createPrivateKey',
            'createSign', 'verify', 'publicEncrypt', 'createECDH', 'createDiffieHellman']],
  [v8, ['serialize', 'deserialize']],
  [url, ['parse', 'resolve', 'domainToASCII', 'domainToUnicode', 'fileURLToPath', 'pathToFileURL']],
  [util, ['inspect', 'format', 'isDeepStrictEqual', 'stripVTControlCharacters', 'styleText', 'parseArgs']],
  [Buffer, ['from', 'concat', 'byteLength', 'compare']], [querystring, ['parse', 'escape', 'unescape']],
  [fs, ['statSync', 'readFileSync', 'readdirSync', 'existsSync', 'mkdirSync', 'openSync', 'readSync', 'writeFileSync', 'realpathSync', 'truncateSync']],
  [globalThis, ['structuredClone', 'atob', 'btoa']], [vm, ['compileFunction']],
]) for (const name of names) publicFunctions.push([module, name]);

// With `trace`, the name of each call is printed, so a finding shows the last call.
const isTraced = process.argv[4] === 'trace';
const write = recorded.get('write').original;
function trace(name) {
  if (isTraced) write(2, new TextEncoder().encode(`${name}\n`), 0, name.length + 1, -1);
}

const names = [...recorded.keys()].filter((name) => !SKIPPED.has(name));
const last = fs.openSync(path.join(os.tmpdir(), 'last-call'), 'w');

function call() {
  if (random(4) === 0) {
    const [module, name] = pick(publicFunctions);
    trace(name);
    keep(module[name](...Array.from({ length: random(5) }, () => value())));
    return;
  }
  if (random(5) === 0 && pool.length > 0) {
    // This calls a result of an earlier call, such as the state of a hash or a stream.
    const target = pick(pool);
    if (typeof target === 'function') keep(target(...Array.from({ length: random(5) }, () => value())));
    return;
  }
  const name = pick(names);
  const { original, list } = recorded.get(name);
  let args = list.length > 0 && random(5) !== 0 ? changed(pick(list)) : Array.from({ length: random(6) }, () => value());
  trace(name);
  if (SLOW.test(name)) args = args.map(small);
  // The descriptors up to `last` belong to this program.
  if (/^(?:close|write|truncate|dup|socket|shutdown|read|listen|connect|accept|bind)/i.test(name) && !(args[0] > last)) args[0] = 1000 + random(5);
  keep(original.apply(native, args));
}

work();
let thrown = 0;
for (let n = 0; n < calls; n++) {
  try {
    if (n % 500 === 499) {
      process.chdir(folder);
      work();
    } else {
      call();
    }
  } catch {
    thrown++;
  }
}
console.log(`${calls} calls, of which ${thrown} threw; ${names.length} bindings`);
process.exit(0);
