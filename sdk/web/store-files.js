// Sessions in the origin's private file system (OPFS). A store is a folder, and a session is one
// file in it. While a worker has the file open, no other worker can open it.

import { patiently } from './store-patience.js';

/** The folder of all stores. */
const ROOT = 'wasibox';
const ENDING = '.wbj';

/**
 * Returns whether this page has private files. Insecure pages and Firefox's private windows do not.
 */
export async function isHere() {
  try {
    await navigator.storage.getDirectory();
    return true;
  } catch {
    return false;
  }
}

/** Returns the folder of a store, or null if there is none and `create` is not set. */
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

/**
 * Opens a session, or makes it. Returns its bytes and the functions that write it. This works only
 * in a worker, where bytes are on the disk when a write has returned.
 */
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
        // No part of `added` may remain before the bytes that are written next.
        handle.truncate(end);
        throw error;
      }
      end += added.length;
    },
    close: () => handle.close(),
  };
}
