// Tests keys, signatures and encrypted texts that another Node has made, and new key pairs.
//# keys of another Node
'use strict';
const c = require('crypto');
function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) ? made.toString('base64') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}
const made = {
  rsa: 'MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAM+QOrr8FhNOwQRG2BHYjGDtzExmEC46Q8xG1vhdNtzAsbEOGaSZ83llCyu/o26lQjBOYavEALV1WZ4Y0xfkRMJqOPgcfa/OkCiZgo14ErI7HWtaQw9A0GZJ/ommQhtJmp2SZUVc69NAdSdHfBy6NvA/sxj8lzDsunsHAnYrJrvFAgMBAAECgYEAh6g7SlRR1UKmkjX/KALBFOS2nsQiFSSNhShTfbXmknb6a77McbEQ2Sl6GJjCpyEpVksUON/8mpxc+yA8byQI713MNfcws0HNOkbwn3ogGV41yWxu7w21QkmOVUnhoU0TK16C3xDFNdoFjCoROPUAr1um6CUFuf+lWINwaPOfjM0CQQD3c4D8c+ar7+jq37DUL50SNVCbbSOB2pgk8ff2lNCfHw/iNKw5uybTR+gEZU/EP4VtILu5GuNqDv1TMutzQkRfAkEA1rvzq9RKoqlz0OCWNM5+9qXNGEfhtpQ3vHcQF5gjl5BFpBp/tvfnMzA7/r/JI+3von/itLDlyd5GKw1kdI5SWwJBAL34HZkyPW/YQd83FeEAILze02BPXEgPkmginzPdsX/HcAFAYMv9YuQnOvdM8/z8qylJTPThsJ82nMKnv9x/jk8CQCBEbgFMDUsUG4svtGKLBRkbIQ6c/pXo/9caLRjei7qiu1RFhxt/dQaEIP/O4fK8Nl48yVxNmLoU5IZjpMy+9jECQQDTw8SP7qbJXQlQ4VlOXGmQ5Cb7TusZTIkHCFV+gAdJbZtrv+VMNWMuaOyi+Ux4cSSSuH5E7zNv8nS6nakRkhPO',
  rsaPssSig: 'ybYwuUBDNgfRRM7n5w9hVaAY2sOgfaz3vQqlXFVDzFnESqAF81YUTay9PEUyFDR63p4XIfRA1oDM6SBEBpu8BZxMARp3oNXvRUQxFA0Fhwc6qCYAk+uYKpJleK3NbHARD6B/lA2khX9dZbJS3CPSnDHxOA17HcdzWyG3Xi2etqU=',
  oaep: 'MbBrBDs+SdFk770zXxwhHoGkChtzJAwkfZ0Ws8+gJ74d8/y/8erEKXDVl5eJw04GvieySJB1DL4dFftDsJbA8zeHaol2r3yWHmt88YcT8gNzzccVau0BFc8BcFO2M+HEu9lQPn7prZotSwZGICFQ0lLd9Hi1BfLCxMmHWVCSJtw=',
  pkcs1: 'k6UgPgLfKNkr9u/q60GJrxQz3Z1t/HXNZVNFps3h+sCASiiVAhMfsLxIyOLMX7Rsd9NYnZxkwv1CfsIKyo3vV+wnh5FdSWaSSSoQxGePtEYSmDqFXZLVl5QQWaiSul8HuGzjcIyon4gFJYzzBnuFhMmRFYl70g0H3atHeFqm+oc=',
  sealed: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIC5TBfBgkqhkiG9w0BBQ0wUjAxBgkqhkiG9w0BBQwwJAQQ8SmsrqB2U6jqUVmM\nXgPHIAICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEECdm6n7aQzF4hIv6\nTbgJBQYEggKAZ4m/M6270MrtWGXW06Cx+N7XPhd9cO0fwUvrvePaJ/zZ5TzemC0c\n4Wg0f7IickS6tuN7vF0vokrH7QevooDfIDKDjbrxasA+xqsI+zXtK0q39sTQudEX\n43j+XbhWMnsmUVJo4XvQLQc1WIsm2Dv38hjiRAKWC/WqFG/fggyZwLOc+BlHu5Wa\nSHUE8PCpSNqiWLufzmiXx4K9Trz8sKMZej3eQXxKix67RXugpu59UBUq54lcjwmp\nZ9nWus5Swmf0RMaP8SDrgU1GBf7XE3e+aBcfhS1df2ZjMmOAvThWIarObgzCrQRW\nEJIliVXJee6n8TKNaaRjKTd27deWX8xfFAC+ne1AK1AWCz8MnxUbtnEK4ddIp+Q1\nBY6kTu0o7J5r+PuDaqA0xWsdExYz/NMFQXFU8Yke8XGKd6HF9xnqAWJg9X5A0Jjj\nVAaoK4T4XlR2etwo6YH5b19cfVVDloRPySzJnlDtuylfmqOkmoqWE5WUKQqOH10V\n+6T7qtqkvlsr8N88AKOsf8g5Kg+nacw81b4y8EW+ID3/WXw9yy4EgKM4DiG8ZWGo\nRIbtppN3S7fpGFZYbOtEicmHRFqQpMqoTwV4WmnZkVIdirxvpcGjtasU0X5versJ\nL6etRMEvwExlAvinyGZ01e7DPZcZvkeblAIe3NrLf6hVoHr8xOqzV0kG27JuOAuU\nO5B0E393UAenjYD+VILRivuRNIvqioveI89po9zE/B+7bHT0Ky/fFplKTnXAnZwG\n46Y5Q16NjlTEVjcl/NlqXSCBVHnM3mY/XbXaVH6HJeAheS2nfzRZKgDu6ww2Raib\nmjdNrwZeIuTLoarYCpqJIXI+02P3wPDKbw==\n-----END ENCRYPTED PRIVATE KEY-----\n',
  sealedOld: '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,69F59F7ECC77944ABF953175FD787509\n\nTh45VG4aI8UCk+UXPmTMHagJAE1ExRokwDJGgx/bTrktOsN003pWSc7zeIgE+Foy\n82LMb/BJlLnZ9gDfWXTXtIlEDmXt25O2HReG6HLek7TRaUM549IVfHmH2ve5Y3Cq\niMZe8QG4z641X+VXufZ1qL6TvkG4stQ4CIh4Zt7C+w6urOwqKgReEi/Jl4qLI9QJ\nR+Kfd/xpMdl8ugmNI+Y/6Tdn23weEVsoMpwHfWIDG3wVbRgvvaPpCQ003D/3Z6u+\nlunXWEmqNlAEpJxZpvHfYoenuKU1p1O6YRXYQRBHfWdAfwl889JU5y7CE6WNg0cz\n6UrewzV/VrVsLYAr9MkkrdecyhMsO4ZifPJLS3lj0buy4EMhpkcLV6IsKDRDXnbQ\nLeHzBEgXJheLIoEyBVJnQNZUPds+05nCBPwVzAEG0xI//ZuQhRLpnmXUPFaTyXgk\nP4+SWaSmTGMxqnSvZTOMJlIv1ozO3eyiTdHwOH8Anpm9PZMh3lMbIhn3zxtz18if\nGJbbueKOg87YVsCdDjHl+0xGXGS1LlSjuhyy8wGTjyUAPyRkcTyInSx4CZRqyf/F\nNbZXimPHZD/zVAH3hr+oPyUd+8GTVp8JB0AX6wKaQIRxKw8KkJxTxGkkE/O/oDQP\nmbx5J4R9MQKpn5sVzLTJ56T4qLNjlkQPwYhsKLaxGyNYo3pWfm5Z5hvRwYgsI7UJ\nwykmlMgj3cZM3q9J9KxuoRJRoBpIAuuN4KXoGnrYgoU8BZvQ22dESRDlG4P9BxlN\nLqsFYdHl9abaS/uWtRH46PBeVC3p3TnEciCdndSy9cfMpUDRX0OkHH6A8mFaXaO1\n-----END RSA PRIVATE KEY-----\n',
  pss: 'MIICjQIBADAjBgkqhkiG9w0BAQowFqAPMA0GCWCGSAFlAwQCAQUAogMCARAEggJhMIICXQIBAAKBgQCtEL6npbGQpeP/FToV1xDGZAVv5i/UXGOtemOI+cV8ZLZ9nBMKyNAblt0MXb8t86XJlwVIUFRzrV3ftoMlH3IPDaTuddc6DcT8eJ+lI4/Oe+EKLLqQi7Kh/v8Evd91JKTzCdiBXxnkyM7m4Lw3Sin2n1Zigie8c1EKpNUcISdBxQIDAQABAoGAcGUJjNMdCHXUJltgx8JOkKlwpoV11pLR4V40ukaMLQczRUxRSZW1IdXOZTOU74Dm0I8VzSruTdnvt1ROw5MyfOXams59sKkvnOgjRcFjhAkmWHQyyE3LzoUmnx8FggUC9L/lZzZK/wveq80h3fpah4/MwS9CGWNY12nlP447JsECQQDlJvnUFn2I5o1Ngsas2iwt6ept9AoOX7LATjGdWsdqzikDXc/Hfg4DP1WnknTlxUBSWU6o6lGdeoCw+lyYWkS9AkEAwVeKmN9Cp6Hs3cMOrIvDQuuBgXpKlEBlKhbekbllz3ZTcf+EU7aDKVK/gIMbnRwHwzmILIMyVgXrJYU1qtP1qQJBAMHFVZisc/bhzjbvEQV1b8pbdOsJY7+H2OWYuYewDdUZA8FfAKZWx46jbdDHnaX2SE/aSRO5IM6jmlMNQmNqYZkCQAFoPrUAIv8PWab/jXLKDaDGEAo+Np6/nTziL7qFy+znopHY10C4ulmppYUs7x2En7XXDFuulMY1gtGiF5LnugkCQQCYOaNxBJgdjZ5kWRX24WsvO1zlpkyQuDM5A5KakZvASTX45KAxQmO4KQi44zYxbr5Suru5/a6Bcp/MCg2pbNiA',
  pssSig: 'SR/+vLq+50mpVuTNcthMh5LFscJiEid+OnMnnUssM2MswVYO9OmqMpHkK+JUzBBA0Trn7fQg+vfcCvoGmpagEUc4axA66aHDiBlYbjHfRXWcJhlw37SQ6SGNwLeC7g+pxn7e3neV/Ay6PdaNjB62Q/QbG5iwST3/asDi8J7Opbc=',
  p256: 'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgtS+7BSDT4KKmVZWtVXkiFOD0tjFoW63jXaGaHCpz7HGhRANCAARltUIS+z6qSgngSn6Wniy++gDuFCs1q0epwJR8T1SfDtQNKWZ4HPKmkaX6reio+ulBwDqe0LWAuQXM/YwjqBOg',
  p256Sig: 'MEYCIQDhiNm9A3ovRd4VbXXl1Pe6lZW9Rb8zeo/Qvts3ljKX5gIhAI1JdDOzs2b4pzdoPmOsBlAeRKqr349bP4cXlrz+uadh',
  p256Sig1: 'MEUCIQD9M8AEZwWGJdFV/GdbZKGRbm5yatrt6f+u2O32fqacSgIgCdtmkj4EOE5imKfPFBkA+WMeSBd4awycIzRmnadUiw8=',
  p384: 'MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDBICtlRNKfdX/7FaMrhGQnu/ycYFpb0WFPcyr+R7aF974f/hcGj/pnb4j9PwxVtskuhZANiAAT1Ky/iP6pWLgwtW7fxtnObrXr0QOWquKBbDdyTjK3LQ1UHusokEGWaSqw+nV0eMVcypwpovKvhXU9bHe1Szi43JYthv5sUp1OuqQ/3XHT/EQwAxZrFDK6Y8/xcCio0aGs=',
  p384Sig: 'MGQCMBANg8vTD3Ia5cYIy6G/FDoEssN9fznZpKiJlE/8aT7qWfC/FHSYnTJ7lBhxNlzCyAIwJtmltzZaGqetxsdcI7S033zDy9GNBWjfspk0Ennupo2VaMW7VOZOfexqiO1TKrPR',
  p384Sig1: 'MGUCMQCtAuM2Frww/9JMBW+FXEpujmLDz23g9Np6Z96m+TH2uZVshIcV/l5169FGGVx+GQUCMFJeVIzEp+QhBdFQxxEenSV2Q5k8B4Fznlwn2ytKq/fK4sSPI082h+Yx/MPjfJnlkA==',
  p521: 'MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIBePG0JRzglYjnk7iDHtQe391fAK7NbSggXCNSStmehixHRJ/kFhBz4KhbGw6xhy9cPidWxDvbpmOOjfpmvCwkIYihgYkDgYYABAHLXJOdbqnHyxxk1OlkxDwhlmf3rfChPEljWRDcnT6/jU3kBRhagNfxtba46z/waNC525gDl5CWeCB8K5Z8ej2LOAFnogXpthk5HuRlb8dBIjTfE1mG9z0H+HNO2iGjjCvqenm1R01fHggle7Gpz7pHy1FWtRJlwz2aySQzcZtSbCC0LA==',
  p521Sig: 'MIGIAkIA1CdbNQhlHoRoVIP48ILJx4DWE2l7GtZU6rx7JLY2PnLrZ9U0hmW4n1JUvvumyY1okTrEf/gWOwbTe1nUZHTplKsCQgEZzw+ShQSvpRO/gaRTnzehaTCqUfVrIXzptpQhRJn9FUwvipZNUifUnKSMxnJjcPNDas6jzRxcyv7rOgvc0HLG9A==',
  p521Sig1: 'MIGIAkIBM7sBPZewMtNkkzEcNFcgqRmTPXe5B6N0eVYUh7CAa+jTBPV1wvfdSYhDbTwmBTuRNWkFG/WyWTKHmOYoP1G/gbkCQgCNrXx3qrn+uigKL545hwh+Y7L5kevzmLQeXVsfZJg2hOrjqp7e2RVeFlFNBvV4znP5gUx+aprjC2j9X0rsY8rgGg==',
  k256: 'MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgdOlrhHX4jAJ17Z9fZEbd86wSuPfGht06WTf9ACoARrGhRANCAASJcP5CBOnhBh7XJWp5Py7aDPn/QS6jdU2REZz/kuBCD1oam9WubhuR52fPxvI8B/Ph//QJg2pvFhTxkk15EPXH',
  k256Sig: 'MEYCIQD88D+y0eylcHWShwdArDVBs0WdT2r8gE5j6/2QAIOgUAIhAPIpzUM384nbsrutbQXGiRqJ49Dvmz23U/bS/LF133Fb',
  k256Sig1: 'MEQCIENKke9jHqT1Npl4WP095gfwAkmoum6+YU1PE/senNRjAiAzYsdCPGBQp+ArxP6UmP98NuHnZk1wZuaAhpmA/ouuGQ==',
  ed: 'MC4CAQAwBQYDK2VwBCIEIPXOnARrowI+6xxiSrVjyeV0DcpH62e41eKTcTo9A/KM',
  x: 'MC4CAQAwBQYDK2VuBCIEIHjDT+8uEG+8FehnZBLbR4JmMk7+ZebwhMBusR/Illdh',
};
const data = Buffer.from('signed by another Node');
const base64 = (text) => Buffer.from(text, 'base64');
const key = (name) => c.createPrivateKey({ key: base64(made[name]), format: 'der', type: 'pkcs8' });

for (const name of ['rsa', 'pss', 'p256', 'p384', 'p521', 'k256', 'ed', 'x']) {
  const secret = key(name);
  const open = c.createPublicKey(secret);
  console.log(name, secret, open, secret.asymmetricKeyType, secret.asymmetricKeyDetails, open.equals(c.createPublicKey(open.export({ type: 'spki', format: 'pem' }))));
  show('pkcs8', () => secret.export({ type: 'pkcs8', format: 'der' }).toString('base64') === made[name]);
  show('pem', () => secret.export({ type: 'pkcs8', format: 'pem' }));
  show('spki', () => open.export({ type: 'spki', format: 'pem' }));
  show('jwk', () => secret.export({ format: 'jwk' }));
  show('open jwk', () => open.export({ format: 'jwk' }));
  show('back', () => c.createPrivateKey({ key: secret.export({ format: 'jwk' }), format: 'jwk' }).equals(secret));
  for (const type of ['pkcs1', 'sec1']) {
    show(type, () => secret.export({ type, format: 'pem' }));
    show(`${type} back`, () => c.createPrivateKey(secret.export({ type, format: 'pem' })).equals(secret));
  }
  show('pkcs1 open', () => c.createPublicKey(open.export({ type: 'pkcs1', format: 'pem' })).equals(open));
  show('raw', () => secret.export({ format: 'raw-private' }));
  show('raw open', () => open.export({ format: 'raw-public' }));
  show('raw short', () => open.export({ format: 'raw-public', type: 'compressed' }));
  for (const type of ['pkcs8', 'pkcs1', 'sec1']) {
    show(`sealed ${type}`, () => c.createPrivateKey({ key: secret.export({ type, format: 'pem', cipher: 'aes-192-cbc', passphrase: 'p' }), passphrase: 'p' }).equals(secret));
  }
}
show('sealed', () => c.createPrivateKey({ key: made.sealed, passphrase: 'open' }).equals(key('rsa')));
show('sealed as of old', () => c.createPrivateKey({ key: made.sealedOld, passphrase: 'open' }).equals(key('rsa')));
show('no passphrase', () => c.createPrivateKey(made.sealed));
show('wrong one', () => c.createPrivateKey({ key: made.sealed, passphrase: 'shut' }));

// --- signatures and encrypted texts of the other Node
const open = (name) => c.createPublicKey(key(name));
for (const name of ['p256', 'p384', 'p521', 'k256']) {
  const [signature, sha1] = [base64(made[`${name}Sig`]), base64(made[`${name}Sig1`])];
  show(name, () => [c.verify('sha256', data, open(name), signature), c.verify('sha1', data, open(name), sha1), c.verify('sha256', data, open(name), sha1),
                    c.createVerify('RSA-SHA256').update(data).verify(open(name), signature), c.verify('sha256', iv(3), open(name), signature)]);
}
function iv(n) { return Buffer.alloc(n, 7); }
show('pss', () => [c.verify('sha256', data, open('pss'), base64(made.pssSig)), c.verify('sha256', iv(1), open('pss'), base64(made.pssSig))]);
const how = (saltLength) => ({ key: open('rsa'), padding: c.constants.RSA_PKCS1_PSS_PADDING, saltLength });
show('salt', () => [20, 21, undefined, c.constants.RSA_PSS_SALTLEN_AUTO, c.constants.RSA_PSS_SALTLEN_DIGEST].map((n) => c.verify('sha512', data, how(n), base64(made.rsaPssSig))));
show('oaep', () => c.privateDecrypt({ key: key('rsa'), oaepHash: 'sha256', oaepLabel: Buffer.from('label') }, base64(made.oaep)).toString());
show('another label', () => c.privateDecrypt({ key: key('rsa'), oaepHash: 'sha256' }, base64(made.oaep)));
show('pkcs1', () => c.privateDecrypt({ key: key('rsa'), padding: 1 }, base64(made.pkcs1)).toString());
show('not sealed', () => c.privateDecrypt({ key: key('rsa'), padding: 1 }, Buffer.alloc(128, 1)));
show('not sealed, either', () => c.privateDecrypt({ key: key('rsa'), padding: 1 }, Buffer.alloc(128, 2)));

// --- deterministic results
show('ed25519', () => c.sign(null, data, key('ed')));
show('rsa', () => c.sign('sha256', data, key('rsa')));
for (const hash of ['md5', 'sha1', 'sha384', 'sha512', 'sha3-256', 'ripemd160', 'RSA-SHA512/256']) show(hash, () => c.createSign(hash).update(data).sign(key('rsa'), 'base64'));
show('private', () => c.privateEncrypt(key('rsa'), data));
show('public again', () => c.publicDecrypt(open('rsa'), c.privateEncrypt(key('rsa'), data)).toString());
show('no padding', () => c.publicEncrypt({ key: open('rsa'), padding: c.constants.RSA_NO_PADDING }, Buffer.alloc(128, 3)));
show('no salt', () => c.sign('sha256', data, { key: key('rsa'), padding: 6, saltLength: 0 }));
const other = c.createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: '3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08' }, format: 'jwk' });
show('x25519', () => c.diffieHellman({ privateKey: key('x'), publicKey: other }));
//# pairs made here
'use strict';
const c = require('crypto');
function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) ? made.toString('base64') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}

const data = Buffer.from('some text');
for (const [type, options] of [['rsa', { modulusLength: 1024 }], ['rsa', { modulusLength: 1025, publicExponent: 3 }], ['rsa-pss', { modulusLength: 1024, hashAlgorithm: 'sha384' }],
  ['ec', { namedCurve: 'prime256v1' }], ['ec', { namedCurve: 'P-384' }], ['ec', { namedCurve: 'P-521' }], ['ec', { namedCurve: 'secp256k1' }], ['ed25519']]) {
  const { publicKey, privateKey } = c.generateKeyPairSync(type, options);
  const hash = type === 'ed25519' ? null : type === 'rsa-pss' ? 'sha384' : 'sha256';
  const signature = c.sign(hash, data, privateKey);
  console.log(type, publicKey.asymmetricKeyDetails, c.verify(hash, data, publicKey, signature), c.verify(hash, Buffer.from('some texT'), publicKey, signature));
  signature[signature.length - 5] ^= 1;
  console.log(c.verify(hash, data, publicKey, signature), c.verify(hash, data, publicKey, Buffer.alloc(4)));
  if (type === 'ec') {
    const raw = c.sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' });
    console.log(raw.length, c.verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw), c.verify('sha256', data, { key: publicKey, dsaEncoding: 'ieee-p1363' }, raw.subarray(1)));
    const again = c.generateKeyPairSync(type, options);
    const shared = [c.diffieHellman({ privateKey, publicKey: again.publicKey }), c.diffieHellman({ privateKey: again.privateKey, publicKey })];
    console.log(shared[0].length, shared[0].equals(shared[1]));
  }
}
const { publicKey, privateKey } = c.generateKeyPairSync('rsa', { modulusLength: 1024, publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'top secret' } });
console.log(publicKey.split('\n')[0], privateKey.split('\n')[0]);
for (const padding of [1, 4]) {
  const sealed = c.publicEncrypt({ key: publicKey, padding }, data);
  console.log(sealed.length, c.privateDecrypt({ key: privateKey, passphrase: 'top secret', padding }, sealed).toString());
}
c.generateKeyPair('ec', { namedCurve: 'P-256', publicKeyEncoding: { format: 'jwk' }, privateKeyEncoding: { type: 'sec1', format: 'der' } }, (error, open, secret) => {
  console.log(error, Object.keys(open), open.crv, secret.length);
});
const [alice, bob] = [c.createECDH('secp256k1'), c.createECDH('secp256k1')];
alice.generateKeys();
bob.setPrivateKey('cafebabe'.repeat(8), 'hex');
console.log(bob.getPublicKey('hex'), bob.getPublicKey('hex', 'compressed'), bob.getPublicKey('hex', 'hybrid'));
console.log(alice.computeSecret(bob.getPublicKey()).equals(bob.computeSecret(alice.getPublicKey(null, 'compressed'))));
console.log(c.ECDH.convertKey(bob.getPublicKey('hex', 'hybrid'), 'secp256k1', 'hex', 'hex', 'compressed'));
for (const name of ['modp1', 'modp2', 'modp5', 'modp14', 'modp15', 'modp16', 'modp17', 'modp18']) console.log(name, c.createHash('sha256').update(c.getDiffieHellman(name).getPrime()).digest('hex'));
const [one, two] = [c.getDiffieHellman('modp14'), c.createDiffieHellman(c.getDiffieHellman('modp14').getPrime())];
one.generateKeys();
two.generateKeys();
console.log(one.computeSecret(two.getPublicKey()).equals(two.computeSecret(one.getPublicKey())), one.verifyError);
console.log(c.checkPrimeSync(2n ** 127n - 1n), c.checkPrimeSync(2n ** 127n + 1n), c.checkPrimeSync(561n), c.checkPrimeSync(2n), c.checkPrimeSync(0n));
const prime = c.generatePrimeSync(64, { safe: true, bigint: true });
console.log(prime.toString(2).length, c.checkPrimeSync(prime), c.checkPrimeSync(prime >> 1n), c.generatePrimeSync(40, { add: 12n, rem: 5n, bigint: true }) % 12n);
//# mistakes with keys
'use strict';
const c = require('crypto');
function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) ? made.toString('base64') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}

const rsa = c.generateKeyPairSync('rsa', { modulusLength: 1024 });
const ec = c.generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = c.generateKeyPairSync('ed25519');
const x = c.generateKeyPairSync('x25519');
const pss = c.generateKeyPairSync('rsa-pss', { modulusLength: 1024, hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 20 });
const a = Buffer.from('a');
show('no key', () => c.createPrivateKey('no key'));
show('public for private', () => c.createPrivateKey(rsa.publicKey.export({ type: 'spki', format: 'pem' })));
show('jwk', () => c.createPrivateKey({ key: { kty: 'RSA', n: 'a' }, format: 'jwk' }));
show('jwk of no kind', () => c.createPublicKey({ key: { kty: 'XX' }, format: 'jwk' }));
show('jwk of no curve', () => c.createPublicKey({ key: { kty: 'EC', crv: 'xx', x: 'a', y: 'b' }, format: 'jwk' }));
show('no point', () => c.createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' }, format: 'jwk' }));
show('short', () => c.createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: 'AA' }, format: 'jwk' }));
show('jwk of pss', () => pss.publicKey.export({ format: 'jwk' }));
show('hash', () => c.createSign('xyz'));
show('hash at once', () => c.sign('xyz', a, rsa.privateKey));
show('ed by a hash', () => c.createSign('sha256').update('a').sign(ed.privateKey));
show('ed with a hash', () => c.sign('sha256', a, ed.privateKey));
show('x signs', () => c.sign(null, a, x.privateKey));
show('public signs', () => c.sign('sha256', a, rsa.publicKey));
show('too long', () => c.publicEncrypt(rsa.publicKey, Buffer.alloc(200)));
show('too short', () => c.publicEncrypt({ key: rsa.publicKey, padding: 3 }, Buffer.alloc(20)));
show('too large', () => c.publicEncrypt({ key: rsa.publicKey, padding: 3 }, Buffer.alloc(128, 255)));
show('padding', () => c.publicEncrypt({ key: rsa.publicKey, padding: 9 }, a));
show('oaep hash', () => c.publicEncrypt({ key: rsa.publicKey, oaepHash: 'xyz' }, a));
show('not sealed', () => c.privateDecrypt(rsa.privateKey, Buffer.alloc(128)));
show('curve seals', () => c.publicEncrypt(ec.publicKey, a));
show('another hash', () => c.sign('sha1', a, pss.privateKey));
show('salt', () => c.sign('sha256', a, { key: pss.privateKey, saltLength: 10 }));
show('no pss', () => c.sign('sha256', a, { key: pss.privateKey, padding: 1 }));
show('long salt', () => c.sign('sha256', a, { key: rsa.privateKey, padding: 6, saltLength: 1000 }));
show('signing', () => c.sign('sha256', a, { key: rsa.privateKey, padding: 9 }));
show('curve', () => c.generateKeyPairSync('ec', { namedCurve: 'xyz' }));
show('bits', () => c.generateKeyPairSync('rsa', { modulusLength: 511 }));
show('exponent', () => c.generateKeyPairSync('rsa', { modulusLength: 1024, publicExponent: 2 }));
const agreed = c.createECDH('prime256v1');
show('no private', () => agreed.getPrivateKey());
show('no public', () => agreed.getPublicKey());
agreed.generateKeys();
show('no other', () => agreed.computeSecret(Buffer.from('abc')));
show('private', () => agreed.setPrivateKey(Buffer.alloc(32)));
show('no curve', () => c.createECDH('xyz'));
show('kinds', () => c.diffieHellman({ privateKey: ec.privateKey, publicKey: x.publicKey }));
show('zero', () => c.diffieHellman({ privateKey: x.privateKey, publicKey: c.createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: 'A'.repeat(43) }, format: 'jwk' }) }));
show('raw rsa', () => rsa.publicKey.export({ format: 'raw-public' }));
show('group', () => c.getDiffieHellman('modp99'));
show('generator', () => c.createDiffieHellman(Buffer.from('ab'), 1));
//# keys of subtle
'use strict';
const c = require('crypto');
function show(name, work) {
  try {
    const made = work();
    console.log(name, Buffer.isBuffer(made) ? made.toString('base64') : made);
  } catch (e) {
    console.log(name, e.name, e.code, JSON.stringify(e.message), e.library, e.reason);
  }
}

(async () => {
  const { subtle } = c.webcrypto;
  const data = Buffer.from('some text');
  const bits = { modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
  for (const [algorithm, how] of [[{ name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-256' }], [{ name: 'ECDSA', namedCurve: 'P-521' }, { name: 'ECDSA', hash: 'SHA-1' }],
    [{ name: 'Ed25519' }, 'Ed25519'], [{ name: 'RSASSA-PKCS1-v1_5', ...bits }, 'RSASSA-PKCS1-v1_5'], [{ name: 'RSA-PSS', ...bits }, { name: 'RSA-PSS', saltLength: 8 }]]) {
    const { publicKey, privateKey } = await subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const signature = await subtle.sign(how, privateKey, data);
    console.log(publicKey, privateKey.usages, await subtle.verify(how, publicKey, signature, data), await subtle.verify(how, publicKey, signature, Buffer.alloc(3)));
    for (const format of ['spki', 'jwk', 'raw']) {
      await subtle.exportKey(format, publicKey).then((key) => subtle.importKey(format, key, algorithm, true, ['verify'])).then(
        async (key) => console.log(format, await subtle.verify(how, key, signature, data)), (e) => console.log(format, e.name, e.message));
    }
    const again = await subtle.importKey('pkcs8', await subtle.exportKey('pkcs8', privateKey), algorithm, false, ['sign']);
    console.log(await subtle.verify(how, publicKey, await subtle.sign(how, again, data), data));
  }
  for (const algorithm of [{ name: 'ECDH', namedCurve: 'P-384' }, { name: 'X25519' }]) {
    const [one, two] = [await subtle.generateKey(algorithm, true, ['deriveBits']), await subtle.generateKey(algorithm, true, ['deriveBits'])];
    const bits = await Promise.all([[one, two], [two, one]].map(([mine, other]) => subtle.deriveBits({ name: algorithm.name, public: other.publicKey }, mine.privateKey, 256)));
    console.log(algorithm.name, Buffer.from(bits[0]).equals(Buffer.from(bits[1])), bits[0].byteLength);
  }
  const oaep = await subtle.generateKey({ name: 'RSA-OAEP', ...bits }, false, ['encrypt', 'decrypt']);
  const sealed = await subtle.encrypt({ name: 'RSA-OAEP', label: data }, oaep.publicKey, data);
  console.log(sealed.byteLength, Buffer.from(await subtle.decrypt({ name: 'RSA-OAEP', label: data }, oaep.privateKey, sealed)).toString());
  await subtle.decrypt({ name: 'RSA-OAEP' }, oaep.privateKey, sealed).catch((e) => console.log(e.name, e.message));
  await subtle.exportKey('pkcs8', oaep.privateKey).catch((e) => console.log(e.name, e.message));
})();
