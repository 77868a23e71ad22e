// Sharing a session, by a file or by a link that contains it.

import { saveAs } from './page.js';

const byId = (id) => document.getElementById(id);
/** The beginning of the link's fragment, which browsers do not send to servers. */
const KEY = '#session=';
/** The maximum length of a link in characters. Messengers and mail programs may cut longer ones. */
const MOST = 30_000;

function encoded(bytes) {
  let text = '';
  for (let n = 0; n < bytes.length; n += 0x8000) text += String.fromCharCode(...bytes.subarray(n, n + 0x8000));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function decoded(text) {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
}

/** Removes the session from the page's address and returns it, or null if there is none. */
export function fromLink() {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(KEY)) return null;
  history.replaceState(null, '', pathname + search);
  try {
    return decoded(hash.slice(KEY.length));
  } catch {
    throw new Error('The link is damaged');
  }
}

export class Sharing {
  /** @param {{ session: () => object, failed: (error: Error) => void }} parts */
  constructor({ session, failed }) {
    const on = (id, act) => byId(id).addEventListener('click', () => Promise.resolve(act()).catch(failed));
    on('share', () => {
      byId('link-note').textContent = '';
      byId('sharing').showModal();
    });
    on('download-session', async () => saveAs(`${session().name}.wbs`, await session().export({ history: true })));
    on('copy-link', async () => {
      const link = location.href.split('#')[0] + KEY + encoded(await session().export());
      const note = byId('link-note');
      if (link.length > MOST) {
        note.textContent = `The session is too large for a link (${Math.round(link.length / 1000)} KB). Share the file.`;
        return;
      }
      await navigator.clipboard.writeText(link);
      note.textContent = `Copied: ${link.length} characters.`;
    });
  }
}
