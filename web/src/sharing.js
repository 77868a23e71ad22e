// Sharing a session: by a file, or by a link that holds it.

import { saveAs } from './page.js';

const byId = (id) => document.getElementById(id);
/** The beginning of a link after the page's address: a fragment, which browsers do not send to servers. */
const KEY = '#session=';
/** Most characters of a link that messengers and mail leave whole. */
const MOST = 30_000;

function encoded(bytes) {
  let text = '';
  for (let n = 0; n < bytes.length; n += 0x8000) text += String.fromCharCode(...bytes.subarray(n, n + 0x8000));
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function decoded(text) {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
}

/** The session that the page's address holds, if it does; the address has it no more. */
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
