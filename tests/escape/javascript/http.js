//: attacks = the HTTP parser and the session's sockets by random messages, whole and in pieces
//: timeout = 30
//: memory = 192M
//: status = 0
//: says = contained
const http = require('http');
const net = require('net');
let seed = 7;
const random = (n) => { seed = Math.imul(seed, 1103515245) + 12345 >>> 0; return (seed >>> 8) % n; };
const parts = ['GET / HTTP/1.1\r\n', 'POST /x HTTP/1.0\r\n', 'Host: a\r\n', 'Content-Length: 5\r\n', 'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n', 'Transfer-Encoding: gzip, chunked\r\n', 'Connection: upgrade\r\nUpgrade: x\r\n', '\r\n', '5\r\nhello\r\n', '0\r\n\r\n', 'fffffffffffffffff\r\n',
  '\0\xff\x80', '\r', '\n', ' : \r\n', `X: ${'y'.repeat(3000)}\r\n`, 'HTTP/1.1 200 OK\r\n', 'CONNECT a:1 HTTP/1.1\r\n', '5;a=b\r\n'];
const make = () => Buffer.from(Array.from({ length: 1 + random(8) }, () => parts[random(parts.length)]).join(''), 'latin1');
const server = http.createServer((req, res) => { req.resume(); req.on('error', () => {}); res.end('ok'); });
server.on('upgrade', (req, socket) => socket.destroy());
server.on('connect', (req, socket) => socket.destroy());
const liar = net.createServer((socket) => { socket.on('error', () => {}); socket.end(make()); });
const hit = (port) => new Promise((done) => {
  const socket = net.connect(port, '127.0.0.1');
  const message = make();
  for (let at = 0; at < message.length;) { const n = 1 + random(message.length); socket.write(message.subarray(at, at + n)); at += n; }
  socket.end();
  socket.on('error', () => {}).on('close', done).resume();
  setTimeout(() => socket.destroy(), 200).unref();
});
const ask = (port) => new Promise((done) => {
  const req = http.get({ port, agent: false, timeout: 200 }, (res) => { res.on('error', () => {}).on('close', done).resume(); });
  req.on('error', done).on('upgrade', (res, socket) => { socket.destroy(); done(); }).on('timeout', () => req.destroy());
});
server.listen(0, '127.0.0.1', () => liar.listen(0, '127.0.0.1', async () => {
  for (let i = 0; i < 300; i++) await Promise.all([hit(server.address().port), ask(liar.address().port)]);
  const answer = await new Promise((done) => http.get({ port: server.address().port, agent: false }, (res) => { res.setEncoding('utf8').on('data', done); }));
  server.closeAllConnections();
  server.close();
  liar.close();
  if (answer === 'ok') console.log('contained');
}));
