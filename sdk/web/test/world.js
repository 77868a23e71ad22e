// The servers that guests reach in the tests: one that every page may ask (CORS), and one that no
// page may ask.

import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const OPEN = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT',
  'Access-Control-Allow-Headers': 'X-Asked, Content-Type',
  'Access-Control-Expose-Headers': 'X-Told',
};
const BIG = 5_000_000;

function body(request, then) {
  const parts = [];
  request.on('data', (part) => parts.push(part)).on('end', () => then(Buffer.concat(parts)));
}

const PATHS = {
  '/hello': (_, response) => response.setHeader('X-Told', 'something').end('hello\n'),
  '/echo': (request, response) =>
    body(request, (bytes) => response.end(`${request.method} ${request.headers['x-asked']} ${bytes}`)),
  '/cookies': (request, response) => response.end(`${request.headers.cookie} ${request.headers.referer}`),
  '/big': (_, response) => response.end(Uint8Array.from({ length: BIG }, (_, n) => n % 251)),
  '/packed': (_, response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('packed\n'.repeat(1000))),
  '/moved': (_, response) => response.writeHead(302, { Location: '/hello' }).end(),
  '/hidden': (_, response) => response.writeHead(302, { Location: '/secret' }).end(),
  '/secret': (_, response) => response.end('secret\n'),
  // The server never answers this.
  '/slow': () => {},
};

function serve(headers) {
  return createServer((request, response) => {
    response.setHeaders(new Map(Object.entries(headers)));
    const act = PATHS[request.url];
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else if (act) act(request, response);
    else response.writeHead(404).end('nothing\n');
  });
}

/** Starts both servers. Returns their URLs, `open` and `closed`, and `end`, which stops them. */
export async function begin() {
  const servers = [serve(OPEN), serve({})];
  const urls = await Promise.all(
    servers.map(
      (server) =>
        new Promise((resolve) =>
          server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`)),
        ),
    ),
  );
  const end = () =>
    servers.forEach((server) => {
      server.close();
      server.closeAllConnections();
    });
  return { open: urls[0], closed: urls[1], end };
}
