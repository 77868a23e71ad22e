// The page's service worker. It sets the headers that isolate the page, and keeps the page's files
// for visits without a network. The package itself keeps the parts of the image
// (`sdk/web/parts.js`).

const CACHE = 'wasibox-page';

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

function isolating(response) {
  // The headers of an opaque response cannot be read.
  if (response.status === 0 || response.type === 'opaque') return response;
  const headers = new Headers(response.headers);
  headers.set('Cross-Origin-Opener-Policy', 'same-origin');
  headers.set('Cross-Origin-Embedder-Policy', 'require-corp');
  headers.set('Cross-Origin-Resource-Policy', 'same-origin');
  const { status, statusText } = response;
  return new Response([101, 204, 205, 304].includes(status) ? null : response.body, { status, statusText, headers });
}

async function answer(request) {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return isolating(response);
  } catch (error) {
    const kept = await cache.match(request, { ignoreSearch: true });
    if (kept === undefined) throw error;
    return isolating(kept);
  }
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const isOurs = url.origin === location.origin && request.method === 'GET';
  if (isOurs && !url.pathname.includes('/image/')) event.respondWith(answer(request));
});
