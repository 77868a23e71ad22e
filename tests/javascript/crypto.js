// Tests hashes, HMAC, derived keys and ciphers against known results, and the messages of errors.
//# hashes, codes, derived keys
'use strict';
const c = require('crypto');

function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) || made instanceof ArrayBuffer ? Buffer.from(made).toString('hex') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}
const bytes = (n, seed = 0) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7 + seed) & 255));
const key = bytes(32, 1);
const iv = bytes(16, 99);
const text = 'What is written in pieces is as if it were written at once. '.repeat(7);

console.log(c.getHashes().length, c.getHashes().join(' '));
for (const name of c.getHashes()) {
  const hash = c.createHash(name).update(text);
  console.log(name, hash.copy().digest('hex'), hash.update('more').digest('base64'));
}
for (const name of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256', 'blake2b512', 'ripemd160', 'sm3', 'md5-sha1']) {
  show(`hmac ${name}`, () => c.createHmac(name, key).update(text).digest('hex'));
  show(`long key ${name}`, () => c.createHmac(name, bytes(200)).update(text).update('').digest('hex'));
  show(`pbkdf2 ${name}`, () => c.pbkdf2Sync('password', 'salt', 3, 70, name));
  show(`hkdf ${name}`, () => c.hkdfSync(name, key, 'salt', 'info', 70));
}
show('scrypt', () => c.scryptSync('password', 'salt', 40, { N: 64, r: 2, p: 3 }));
show('scrypt, nothing', () => c.scryptSync('a', 'b', 0));
show('scrypt, no power', () => c.scryptSync('a', 'b', 10, { N: 3 }));
show('shake', () => [c.createHash('shake128').digest('hex'), c.createHash('shake256', { outputLength: 5 }).digest('hex')]);
show('shake, nothing', () => c.createHash('shake256', { outputLength: 0 }).digest('hex'));
show('no length', () => c.createHash('sha256', { outputLength: 5 }));
show('its length', () => c.createHash('sha256', { outputLength: 32 }).digest('hex'));
show('once', () => c.hash('sha1', 'a'));
show('once, length', () => c.hash('sha256', 'a', { outputLength: 5 }));
show('no hash', () => c.createHash('xyz'));
show('no hash at once', () => c.hash('xyz', 'a'));
show('no hash of a code', () => c.createHmac('xyz', 'a'));
show('no hash of a key', () => c.pbkdf2Sync('a', 'b', 1, 10, 'xyz'));
show('no code by it', () => c.createHmac('shake128', 'a'));
show('no key by it', () => c.pbkdf2Sync('a', 'b', 1, 10, 'shake128'));
show('too long', () => c.hkdfSync('sha256', 'k', 's', 'i', 255 * 32 + 1));

// This is the last call here, because OpenSSL keeps the error in its list until the next call.
show('scrypt, memory', () => c.scryptSync('a', 'b', 10, { N: 2 ** 20 }));
//# ciphers
'use strict';
const c = require('crypto');

function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) || made instanceof ArrayBuffer ? Buffer.from(made).toString('hex') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}
const bytes = (n, seed = 0) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7 + seed) & 255));
const key = bytes(32, 1);
const iv = bytes(16, 99);
const text = 'What is written in pieces is as if it were written at once. '.repeat(7);

const NAMES = ['aes-128-ecb', 'aes-192-ecb', 'aes-256-ecb', 'aes-128-cbc', 'aes-192-cbc', 'AES256', 'aes-128-ctr', 'aes-192-ctr', 'aes-256-ctr',
  'aes-128-cfb', 'aes-256-cfb8', 'aes-192-ofb', 'aes-128-gcm', 'aes-192-gcm', 'id-aes256-GCM', 'chacha20', 'chacha20-poly1305'];
for (const name of NAMES) {
  const { keyLength, ivLength = 0, mode } = c.getCipherInfo(name);
  const authTagLength = name.endsWith('1305') ? 16 : undefined;
  const isAuthentic = mode === 'gcm' || authTagLength;
  for (const size of [0, 1, 16, 17, 300]) {
    const make = (kind) => c[kind](name, key.subarray(0, keyLength), ivLength ? iv.subarray(0, ivLength) : null, { authTagLength });
    const cipher = make('createCipheriv');
    if (isAuthentic) cipher.setAAD(Buffer.from('in '), { plaintextLength: size }).setAAD(Buffer.from('the clear'));
    const plain = Buffer.from(text.slice(0, size));
    const sealed = Buffer.concat([cipher.update(plain.subarray(0, 5)), cipher.update(plain.subarray(5, 40)), cipher.update(plain.subarray(40)), cipher.final()]);
    const open = make('createDecipheriv');
    if (isAuthentic) open.setAAD(Buffer.from('in the clear')).setAuthTag(cipher.getAuthTag());
    let again = '';
    for (let at = 0; at < sealed.length; at += 23) again += open.update(sealed.subarray(at, at + 23), null, 'utf8');
    again += open.final('utf8');
    console.log(name, size, sealed.toString('base64'), isAuthentic ? cipher.getAuthTag().toString('hex') : '', again === plain.toString());
  }
}
for (const length of [1, 8, 12, 13, 16, 60]) {
  const cipher = c.createCipheriv('aes-256-gcm', key, bytes(length, 3));
  console.log('nonce', length, cipher.update('abc', 'utf8', 'hex') + cipher.final('hex'), cipher.getAuthTag().toString('hex'));
}
const wrapper = () => c.createCipheriv('id-aes256-wrap', key, Buffer.alloc(8, 0xa6));
const unwrapper = () => c.createDecipheriv('id-aes256-wrap', key, Buffer.alloc(8, 0xa6));
show('wrap', () => wrapper().update(bytes(32)));
show('unwrap', () => unwrapper().update(wrapper().update(bytes(32))));
show('not a key', () => wrapper().update(bytes(31)));
show('not wrapped', () => unwrapper().update(bytes(40)));
for (const name of ['aes-256-gcm', 'AES256', 'chacha20-poly1305', 'id-aes256-wrap', 901, 'aes-128-ecb', 'chacha20']) console.log(c.getCipherInfo(name));
console.log(c.getCipherInfo('aes-128-gcm', { ivLength: 7 }), c.getCipherInfo('aes-128-cbc', { ivLength: 7 }), c.getCipherInfo('aes-128-cbc', { keyLength: 7 }));
//# mistakes with ciphers
'use strict';
const c = require('crypto');

function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) || made instanceof ArrayBuffer ? Buffer.from(made).toString('hex') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}
const bytes = (n, seed = 0) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7 + seed) & 255));
const key = bytes(32, 1);
const iv = bytes(16, 99);
const text = 'What is written in pieces is as if it were written at once. '.repeat(7);

const with_ = (kind, name, nonce, options) => c[kind](name, key, nonce, options);
const seal = (name, nonce, options) => with_('createCipheriv', name, nonce, options);
const open = (name, nonce, options) => with_('createDecipheriv', name, nonce, options);
show('unknown', () => seal('aes-1', iv));
show('iv', () => seal('aes-256-cbc', bytes(3)));
show('no iv', () => seal('aes-256-cbc', null));
show('iv of none', () => seal('aes-256-ecb', iv));
show('empty nonce', () => seal('aes-256-gcm', bytes(0)));
show('nonce', () => seal('chacha20-poly1305', bytes(13), { authTagLength: 16 }));
show('tag of 3', () => seal('aes-256-gcm', iv, { authTagLength: 3 }));
show('tag of 17', () => seal('chacha20-poly1305', bytes(12), { authTagLength: 17 }));
show('given tag of 3', () => open('aes-256-gcm', iv).setAuthTag(bytes(3)));
show('another length', () => open('aes-256-gcm', iv, { authTagLength: 8 }).setAuthTag(bytes(16)));
show('tag twice', () => open('aes-256-gcm', iv).setAuthTag(bytes(16)).setAuthTag(bytes(16)));
show('no tag', () => { const d = open('aes-256-gcm', iv); d.update('abc'); d.final(); });
show('wrong tag', () => { const d = open('aes-256-gcm', iv).setAuthTag(bytes(16)); d.update('abc'); d.final(); });
show('wrong tag, too', () => { const d = open('chacha20-poly1305', bytes(12), { authTagLength: 16 }).setAuthTag(bytes(16)); d.update('abc'); d.final(); });
show('late', () => { const e = seal('aes-256-gcm', iv); e.update('abc'); e.setAAD(bytes(1)); });
show('early', () => seal('aes-256-gcm', iv).getAuthTag());
show('none to give', () => seal('aes-256-cbc', iv).setAAD(bytes(1)));
show('none to take', () => open('aes-256-cbc', iv).setAuthTag(bytes(16)));
show('final twice', () => { const e = seal('aes-256-cbc', iv); e.final(); e.final(); });
show('after final', () => { const e = seal('aes-256-cbc', iv); e.final(); e.update('a'); });
show('padding after final', () => { const e = seal('aes-256-cbc', iv); e.final(); e.setAutoPadding(true); });
show('padding', () => { const d = open('aes-256-cbc', iv); d.update(bytes(32)); d.final(); });
show('part of a block', () => { const d = open('aes-256-cbc', iv); d.update(bytes(31)); d.final(); });
show('nothing', () => open('aes-256-cbc', iv).final());
show('not filled', () => { const e = seal('aes-256-cbc', iv).setAutoPadding(false); e.update('abc'); e.final(); });
show('filled by hand', () => seal('aes-256-cbc', iv).setAutoPadding(false).update(bytes(48)));
show('key', () => seal('aes-128-cbc', iv));
//# subtle
'use strict';
const c = require('crypto');

function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) || made instanceof ArrayBuffer ? Buffer.from(made).toString('hex') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}
const bytes = (n, seed = 0) => Buffer.from(Array.from({ length: n }, (_, i) => (i * 7 + seed) & 255));
const key = bytes(32, 1);
const iv = bytes(16, 99);
const text = 'What is written in pieces is as if it were written at once. '.repeat(7);

(async () => {
  const { subtle } = c.webcrypto;
  const hex = (made) => Buffer.from(made).toString('hex');
  for (const [algorithm, length] of [
    [{ name: 'AES-GCM', iv: bytes(12) }, 32], [{ name: 'AES-GCM', iv: bytes(12), tagLength: 96, additionalData: bytes(5) }, 16],
    [{ name: 'AES-CBC', iv }, 24], [{ name: 'AES-CTR', counter: iv, length: 64 }, 32], [{ name: 'AES-CTR', counter: Buffer.alloc(16, 255), length: 5 }, 16],
    [{ name: 'ChaCha20-Poly1305', iv: bytes(12), additionalData: bytes(3) }, 32],
  ]) {
    const raw = algorithm.name.startsWith('AES') ? 'raw' : 'raw-secret';
    const made = await subtle.importKey(raw, key.subarray(0, length), algorithm.name, true, ['encrypt', 'decrypt']);
    const sealed = await subtle.encrypt(algorithm, made, Buffer.from(text.slice(0, 100)));
    console.log(algorithm.name, hex(sealed), Buffer.from(await subtle.decrypt(algorithm, made, sealed)).toString() === text.slice(0, 100));
    await subtle.decrypt(algorithm, made, bytes(10)).then((plain) => console.log('opened', plain.byteLength), (e) => console.log(e.name, e.message));
  }
  const kek = await subtle.importKey('raw', key, 'AES-KW', true, ['wrapKey', 'unwrapKey']);
  const hmac = await subtle.importKey('raw', bytes(32), { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
  console.log(hex(await subtle.wrapKey('raw', hmac, kek, 'AES-KW')), hex(await subtle.sign('HMAC', hmac, Buffer.from(text))));
  console.log(await subtle.verify('HMAC', hmac, await subtle.sign('HMAC', hmac, iv), iv), await subtle.verify('HMAC', hmac, iv, iv));
  console.log(hex(await subtle.digest('SHA-384', iv)), hex(await subtle.digest({ name: 'cSHAKE128', outputLength: 72 }, iv)));
  const base = await subtle.importKey('raw', bytes(9), 'PBKDF2', false, ['deriveBits']);
  console.log(hex(await subtle.deriveBits({ name: 'PBKDF2', salt: iv, iterations: 2, hash: 'SHA-1' }, base, 256)));
})();
