//# a server and a client of net
const net = require('net');
const s = net.createServer((c) => { c.setEncoding('utf8'); let got = ''; c.on('data', (d) => { got += d; }); c.on('end', () => c.end(got.toUpperCase())); });
s.listen(0, '127.0.0.1', () => { const { port, address, family } = s.address(); console.log(typeof port, address, family);
  const c = net.connect(port, '127.0.0.1', () => { console.log(c.remoteAddress, c.remotePort === port, c.localAddress); c.end('hello'); });
  let all = ''; c.on('data', (d) => { all += d; }); c.on('close', (bad) => { console.log(all, bad); s.close(() => console.log('closed')); }); });
//# connections that nobody takes
const net = require('net');
const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address();
  net.createServer().on('error', (e) => { console.log(e.code, e.syscall); s.close(() => net.connect(port, '127.0.0.1').on('error', (e) => console.log(e.code, e.syscall, e.address, e.port === port)).on('close', (bad) => console.log('close', bad))); }).listen(port, '127.0.0.1'); });
//# much data both ways
const net = require('net'); const { pipeline, Readable } = require('stream');
const s = net.createServer((c) => c.pipe(c)).listen(0, () => { const c = net.connect(s.address().port); let n = 0; let sum = 0;
  c.on('data', (d) => { n += d.length; sum = (sum + d[0] + d[d.length - 1]) % 65536; }); c.on('end', () => { console.log(n); s.close(); });
  pipeline(Readable.from((function* () { for (let i = 0; i < 64; i++) yield Buffer.alloc(65536, i); })()), c, (e) => console.log('sent', e)); });
//# pause, resume and a timeout
const net = require('net');
const s = net.createServer((c) => { c.write('a'); setTimeout(() => c.write('b'), 20); c.on('error', () => {}); }).listen(0, () => { const c = net.connect(s.address().port); const got = [];
  c.once('data', (d) => { got.push(String(d)); c.pause(); setTimeout(() => { got.push('later'); c.resume(); }, 60); }); c.on('data', (d) => { if (String(d) === 'b') got.push('b'); });
  c.setTimeout(200, () => { console.log(got.join(), 'timeout'); c.destroy(); s.close(); }); });
//# names
const dns = require('dns'); const net = require('net');
dns.lookup('localhost', { family: 4 }, (e, a, f) => { console.log(e, a, f); dns.lookup('127.0.0.1', (e, a, f) => { console.log(e, a, f);
  dns.promises.lookup('localhost', { family: 4, all: true }).then((l) => { console.log(l); console.log(net.isIP('::1'), net.isIPv4('1.2.3'), net.isIPv6('::ffff:1.2.3.4')); }); }); });
//# a server and a client of http
const http = require('http');
const s = http.createServer((req, res) => { let body = ''; req.on('data', (d) => { body += d; }); req.on('end', () => { res.writeHead(req.url === '/none' ? 404 : 200, { 'X-Own': 'yes', 'Content-Type': 'text/plain' }); res.end(`${req.method} ${req.url} ${body} ${req.headers['x-a'] ?? '-'} ${req.httpVersion}`); }); });
s.listen(0, () => { const { port } = s.address();
  const ask = (options, body) => new Promise((resolve, reject) => { const req = http.request({ port, agent: false, ...options }, (res) => { let all = ''; res.setEncoding('utf8'); res.on('data', (d) => { all += d; }); res.on('end', () => resolve([res.statusCode, res.statusMessage, res.headers['x-own'], res.headers['transfer-encoding'], res.headers['content-length'], all])); }); req.on('error', reject); req.end(body); });
  (async () => { console.log(await ask({ path: '/a?b=c' })); console.log(await ask({ path: '/p', method: 'POST', headers: { 'X-A': 'b' } }, 'body')); console.log(await ask({ path: '/none', method: 'HEAD' })); console.log(await ask({ path: '/d', method: 'DELETE' }));
    await ask({ path: '/a b' }).catch((e) => console.log(e.code)); s.close(() => console.log('closed')); })(); });
//# several requests of one connection, trailers, and several of a pipeline
const http = require('http'); const net = require('net'); let connections = 0;
const s = http.createServer((req, res) => { res.setHeader('Trailer', 'X-T'); res.write(req.url); res.addTrailers({ 'X-T': 'end' }); res.end(); }).on('connection', () => connections++);
s.listen(0, async () => { const { port } = s.address(); const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (const path of ['/1', '/2', '/3']) await new Promise((done) => http.get({ port, path, agent }, (res) => { let t = ''; res.on('data', (d) => { t += d; }); res.on('end', () => { console.log(t, res.trailers); done(); }); }));
  console.log(connections); agent.destroy();
  const c = net.connect(port); let all = ''; c.write('GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'); c.on('data', (d) => { all += d; }); c.on('end', () => { console.log(all.replace(/Date: .*/g, 'Date: -')); s.close(); }); });
//# what is no request
const http = require('http'); const net = require('net');
const s = http.createServer((req, res) => { res.end('ok'); }).listen(0, async () => { const { port } = s.address();
  for (const text of ['GARBAGE\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET / HTTP/1.1\r\nA b: c\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n', 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', `GET / HTTP/1.1\r\nX: ${'a'.repeat(20000)}\r\n\r\n`, 'GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n'])
    await new Promise((done) => { const codes = []; const note = (e, socket) => { codes.push(e.code); socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'); }; s.on('clientError', note); const c = net.connect(port); c.write(text); let all = ''; c.on('data', (d) => { all += d; if (/200/.test(all)) c.destroy(); }); c.on('error', () => {}); c.on('close', () => { s.off('clientError', note); console.log(codes.join(), all.split('\r\n')[0]); done(); }); });
  s.close(); });
//# what is no response
const http = require('http'); const net = require('net'); let answer;
const s = net.createServer((c) => { c.on('error', () => {}); c.once('data', () => c.end(answer)); }).listen(0, async () => { const { port } = s.address();
  for (answer of ['', 'nonsense', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n', 'HTTP/1.1 20 OK\r\n\r\n', 'HTTP/1.1 200\r\n\r\nuntil the end', 'HTTP/1.0 200 OK\r\n\r\nold', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n'])
    await new Promise((done) => { let text = ''; const req = http.get({ port, agent: false }, (res) => { res.on('data', (d) => { text += d; }); res.on('error', (e) => { text += ` ${e.code}`; }); res.on('close', () => { console.log(res.statusCode, res.statusMessage, text, res.complete); done(); }); }); req.on('error', (e) => { if (req.res === null || req.res === undefined) { console.log(e.code, e.message); done(); } }); });
  s.close(); });
//# upgrade, connect, continue and information
const http = require('http');
const s = http.createServer((req, res) => { res.writeEarlyHints({ link: '</a>; rel=preload' }); res.end('plain'); });
s.on('upgrade', (req, socket) => { socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'); socket.pipe(socket); });
s.on('connect', (req, socket) => { socket.end(`HTTP/1.1 200 OK\r\n\r\n${req.url}`); });
s.on('checkContinue', (req, res) => { res.writeContinue(); let t = ''; req.on('data', (d) => { t += d; }); req.on('end', () => res.end(`got ${t}`)); });
s.listen(0, async () => { const { port } = s.address();
  await new Promise((done) => http.request({ port, headers: { Connection: 'Upgrade', Upgrade: 'echo' } }).on('upgrade', (res, socket) => { console.log(res.statusCode, res.headers.upgrade); socket.write('ping'); socket.once('data', (d) => { console.log(String(d)); socket.end(); done(); }); }).end());
  await new Promise((done) => http.request({ port, method: 'CONNECT', path: 'there:80' }).on('connect', (res, socket, head) => { let t = String(head); socket.on('data', (d) => { t += d; }); socket.on('end', () => { console.log(res.statusCode, t); done(); }); socket.resume(); }).end());
  await new Promise((done) => { const req = http.request({ port, agent: false, method: 'POST', headers: { Expect: '100-continue' } }, (res) => { res.on('data', (d) => console.log(String(d))); res.on('end', done); }); req.on('continue', () => { console.log('continue'); req.end('body'); }); req.flushHeaders(); });
  await new Promise((done) => http.get({ port, agent: false }, (res) => { res.resume(); res.on('end', done); }).on('information', (i) => console.log(i.statusCode, i.headers.link)));
  s.close(() => console.log('closed')); });
//# fetch
const http = require('http'); const zlib = require('zlib');
const s = http.createServer((req, res) => { const to = (path, status) => { res.writeHead(status, { Location: path }); res.end(); };
  if (req.url === '/found') return to('/echo', 302); if (req.url === '/keep') return to('/echo', 307); if (req.url === '/round') return to('/round', 302);
  if (req.url === '/gzip') { res.setHeader('Content-Encoding', 'gzip'); return res.end(zlib.gzipSync('plain '.repeat(3))); }
  if (req.url === '/never') return undefined;
  let body = ''; req.on('data', (d) => { body += d; }); return req.on('end', () => { res.setHeader('Set-Cookie', ['a=1', 'b=2']); res.end(`${req.method} ${req.url} ${req.headers['content-type'] ?? ''} ${body.length > 50 ? body.length : body}`); }); });
s.listen(0, '127.0.0.1', async () => { const base = `http://127.0.0.1:${s.address().port}`; const text = async (r) => [r.status, r.ok, r.redirected, await r.text()];
  console.log(await text(await fetch(`${base}/a?b#c`))); console.log(await text(await fetch(`${base}/p`, { method: 'POST', body: JSON.stringify({ a: 1 }), headers: { 'Content-Type': 'application/json' } })));
  console.log(await text(await fetch(`${base}/found`, { method: 'POST', body: 'x' }))); console.log(await text(await fetch(`${base}/keep`, { method: 'POST', body: 'x' }))); console.log((await fetch(`${base}/found`, { redirect: 'manual' })).status);
  console.log((await fetch(base)).headers.getSetCookie()); console.log(await (await fetch(`${base}/gzip`)).text()); console.log(await text(await fetch(base, { method: 'POST', body: new URLSearchParams({ q: 'é' }) }))); console.log(await text(await fetch(base, { method: 'PUT', body: new Blob(['y'.repeat(200000)]) })));
  console.log(await text(await fetch(base, { method: 'POST', duplex: 'half', body: new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('str')); c.enqueue(new TextEncoder().encode('eam')); c.close(); } }) })));
  for (const f of [() => fetch(`${base}/round`), () => fetch(`${base}/found`, { redirect: 'error' }), () => fetch(`${base}/never`, { signal: AbortSignal.timeout(30) }), () => { const a = new AbortController(); setTimeout(() => a.abort(), 20); return fetch(`${base}/never`, { signal: a.signal }); }, () => fetch('nonsense'), () => fetch(base, { body: 'x' })]) await f().then(() => console.log('no error'), (e) => console.log(e.name, e.message, e.cause?.message));
  const r = await fetch(`${base}/clone`); const c = r.clone(); console.log((await r.text()) === (await c.text()), r.bodyUsed); console.log(await (await fetch('data:application/json,{"a":1}')).json());
  s.closeAllConnections(); s.close(() => console.log('closed')); });
//# headers, requests and forms
const h = new Headers({ A: 'b', 'x-c': 'd' }); h.append('a', 'e'); console.log([...h], h.get('A'), h.has('X-C')); try { h.set('bad name', 'x'); } catch (e) { console.log(e.name); }
const r = new Request('http://x/y', { method: 'post', body: 'z', headers: { q: '1' } }); console.log(r.method, r.url, r.headers.get('content-type'));
(async () => { console.log(await r.text(), await Response.json({ a: [1] }).json(), new Response('t', { status: 201 }).status); const f = new FormData(); f.append('a', 'b'); f.append('f', new File(['data'], 'n.txt', { type: 'text/plain' })); const g = await new Response(f).formData(); console.log(g.get('a'), g.get('f').name, await g.get('f').text()); })();
//# a TLS socket over a stream of the program's own can be made
const tls = require('tls'); const { PassThrough } = require('stream'); const s = new tls.TLSSocket(new PassThrough());
console.log(s._handle._parentWrap.constructor.name, s.encrypted); s.on('close', () => console.log('closed')); s.destroy();
