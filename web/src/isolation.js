// Memory that workers share needs a page that is isolated, which headers say. Where the host cannot set them, a service worker
// does; it also has the page ready without a network.

import { show } from './page.js';

const TRIED = 'isolation-tried';

/** Whether the page is isolated. If not it is loaded again, by the service worker. */
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
    // Not where the page is insecure, or the browser has none in private windows.
    return false;
  }
}
