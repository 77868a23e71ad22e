//: attacks = the time limit by numbers whose computation does not end
//: timeout = 3
//: status = 124
//: limit = timeout
//: says = begin
const crypto = require('crypto');
console.log('begin');
const tries = [
  // Keys in DER with false lengths.
  () => crypto.createPrivateKey({ key: Buffer.from('308400ffffff02010030', 'hex'), format: 'der', type: 'pkcs8' }),
  () => crypto.createPublicKey({ key: Buffer.from('30'.repeat(100000), 'hex'), format: 'der', type: 'spki' }),
  () => crypto.createPublicKey(`-----BEGIN PUBLIC KEY-----\n${'M'.repeat(1e6)}\n-----END PUBLIC KEY-----`),
  // Huge moduli, exponents and lengths.
  () => crypto.publicEncrypt(crypto.createPublicKey({ key: { kty: 'RSA', n: '_'.repeat(1e6), e: '_'.repeat(1e6) }, format: 'jwk' }), Buffer.alloc(1)),
  () => crypto.createDiffieHellman(Buffer.alloc(1e6, 255)).generateKeys(),
  () => crypto.generatePrimeSync(64, { add: 2n ** 20n, rem: 2n }),
  () => crypto.generateKeyPairSync('rsa', { modulusLength: 16384 }),
];
for (const attempt of tries) {
  try { attempt(); } catch { /* any error is right */ }
}
while (true) crypto.generatePrimeSync(2048, { safe: true });
