// Workers can share memory only if the page is isolated by headers of its response. If the host
// cannot set these headers, a service worker does. It also serves the page without a network.

import { show } from './page.js';

const TRIED = 'isolation-tried';

/**
 * Returns whether the page is isolated. If it is not, loads it again through the service worker,
 * or shows an error.
 */
export async function isolated() {
  const ready = 'serviceWorker' in navigator ? await register() : false;
  if (crossOriginIsolated) {
    sessionStorage.removeItem(TRIED);
    return true;
  }
  if (ready && !sessionStorage.getItem(TRIED)) {
    sessionStorage.setItem(TRIED, 'yes');
    location.reload();
    return false;
  }
  show('This page is not isolated from others, which it must be. Serve it with the headers that its README names.', true);
  return false;
}

async function register() {
  try {
    await navigator.serviceWorker.register('sw.js');
    await navigator.serviceWorker.ready;
    return true;
  } catch {
    // Insecure pages have no service workers, and in some browsers private windows have none.
    return false;
  }
}
