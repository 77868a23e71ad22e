// Sessions in the origin's private file system (OPFS): a store is a folder, a session is one file in it. While a worker
// has it open, no other can open it.

import { patiently } from './store-patience.js';

/** The folder of all stores. */
const ROOT = 'wasibox';
const ENDING = '.wbj';

/** Whether this page has such files: not in an insecure or, in Firefox, a private one. */
export async function isHere() {
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}

/** The folder of a store, or null if there is none. */
async function folder(store, create = false) {
  try {
    const root = await navigator.storage.getDirectory();
    return await (await root.getDirectoryHandle(ROOT, { create })).getDirectoryHandle(store, { create });
  } catch (error) {
    if (error.name === 'NotFoundError') return null;
    throw error;
  }
}

export async function names(store) {
  const all = [];
  for await (const name of (await folder(store))?.keys() ?? []) {
    if (name.endsWith(ENDING)) all.push(name.slice(0, -ENDING.length));
  }
  return all;
}

export async function remove(store, name) {
  await (await folder(store)).removeEntry(name + ENDING);
}

/** Opens a session, or makes it; what is in it, and what writes it. In a worker: only there bytes are on the disk when a write has returned. */
export async function open(store, name) {
  const file = await (await folder(store, true)).getFileHandle(name + ENDING, { create: true });
  const handle = await patiently(() => file.createSyncAccessHandle());
  let end = handle.getSize();
  const bytes = new Uint8Array(end);
  for (let n = 0; n < end; ) {
    const more = handle.read(bytes.subarray(n), { at: n });
    if (more === 0) throw new Error('the file cannot be read');
    n += more;
  }

  function write(added) {
    for (let done = 0; done < added.length; ) {
      const n = handle.write(added.subarray(done), { at: end + done });
      if (n === 0) throw new Error('there is no room');
      done += n;
    }
    handle.flush();
  }

  return {
    bytes,
    cut(length) {
      handle.truncate(length);
      handle.flush();
      end = length;
    },
    append(added) {
      try {
        write(added);
      } catch (error) {
        // Nothing of it may stay before what is written next.
        handle.truncate(end);
        throw error;
      }
      end += added.length;
    },
    close: () => handle.close(),
  };
}
