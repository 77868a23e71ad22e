// Sessions in IndexedDB, for pages that have no private files. One database has the records of all
// sessions. A record contains the bytes of one append, and its key consists of the store, the
// session's name and the offset of the first byte. A Web Lock is held while a session is open.

import { PATIENCE } from './store-patience.js';

const DATABASE = 'wasibox';
const RECORDS = 'records';
/** The offset in the key of the empty record that a session has before bytes are added. */
const BEFORE = -1;

/** Returns whether this page has a database, and locks. */
export const isHere = () => globalThis.indexedDB !== undefined && navigator.locks !== undefined;

const result = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });

let opened;
function database() {
  return (opened ??= (() => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(RECORDS);
    const made = result(request);
    made.catch(() => (opened = undefined));
    return made;
  })());
}

/**
 * Runs `act` on the records in one transaction, of which all or nothing takes effect. What is
 * written is on the disk when the promise resolves.
 */
async function transact(mode, act) {
  const transaction = (await database()).transaction(RECORDS, mode, { durability: 'strict' });
  const done = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error ?? new Error('there is no room'));
  });
  const [value] = await Promise.all([act(transaction.objectStore(RECORDS)), done]);
  return value;
}

/**
 * Returns the range of the keys that begin with `begin`, from `from` on. IndexedDB sorts arrays
 * after all strings and numbers, so an array ends the range.
 */
const keys = (begin, ...from) => IDBKeyRange.bound([...begin, ...from], [...begin, []]);
const lockOf = (store, name) => `wasibox/${store}/${name}`;

export async function names(store) {
  const all = await transact('readonly', (records) => result(records.getAllKeys(keys([store]))));
  return [...new Set(all.map(([, name]) => name))];
}

export async function remove(store, name) {
  await navigator.locks.request(lockOf(store, name), { ifAvailable: true }, async (lock) => {
    if (lock === null) throw new DOMException('it is open', 'NoModificationAllowedError');
    await transact('readwrite', (records) => result(records.delete(keys([store, name]))));
  });
}

/**
 * Takes the lock of a session, and returns the function that releases it. Throws an error if the
 * lock is not free within `PATIENCE`.
 */
function locked(store, name) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const held = () => new Promise((letGo) => resolve(letGo));
    navigator.locks
      .request(lockOf(store, name), { signal }, held)
      .catch(() => reject(new DOMException('it is open', 'NoModificationAllowedError')));
  });
}

/** Opens a session, or makes it. Returns its bytes and the functions that write it. */
export async function open(store, name) {
  const letGo = await locked(store, name);
  const session = [store, name];
  const parts = await transact('readwrite', async (records) => {
    records.put(new Uint8Array(), [...session, BEFORE]);
    return result(records.getAll(keys(session)));
  });
  const bytes = new Uint8Array(await new Blob(parts).arrayBuffer());
  let end = bytes.length;
  return {
    bytes,
    async cut(length) {
      await transact('readwrite', async (records) => {
        const before = IDBKeyRange.bound([...session, BEFORE], [...session, length], false, true);
        const cursor = await result(records.openCursor(before, 'prev'));
        const at = cursor.key.at(-1);
        if (at + cursor.value.length > length) records.put(cursor.value.slice(0, length - at), cursor.key);
        records.delete(keys(session, length));
      });
      end = length;
    },
    async append(added) {
      await transact('readwrite', (records) => result(records.put(added, [...session, end])));
      end += added.length;
    },
    close: letGo,
  };
}
