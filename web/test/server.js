// Serves a folder on loopback. With `isolated` it sets the headers that isolate pages; without it,
// it behaves like a host that cannot set headers.

import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};
const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

/** @returns {Promise<{ url: string, close: () => void }>} */
export function serve(folder, { isolated, port = 0 }) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://host');
    const file = join(folder, normalize(pathname.endsWith('/') ? `${pathname}index.html` : pathname));
    const found = statSync(file, { throwIfNoEntry: false });
    if (!found?.isFile()) return response.writeHead(404).end();
    const headers = { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Length': found.size };
    response.writeHead(200, { ...headers, ...(isolated ? ISOLATED : {}) });
    createReadStream(file).pipe(response);
  });
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => {
      const close = () => {
        server.closeAllConnections();
        return new Promise((done) => server.close(done));
      };
      resolve({ url: `http://127.0.0.1:${server.address().port}/`, close });
    });
  });
}
