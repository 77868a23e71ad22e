// Sessions in IndexedDB, where a page has no private files. A session is the records of one database that have its name,
// each with what was added at once; their keys are store, name and at which byte it begins. A lock says who has it open.

import { PATIENCE } from './store-patience.js';

const DATABASE = 'wasibox';
const RECORDS = 'records';
/** Where the record without bytes lies that says that there is a session. */
const BEFORE = -1;

/** Whether this page has a database. */
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

/** Has the records read, or written so that they are on the disk when this has returned: all that `act` does or nothing. */
async function transact(mode, act) {
  const transaction = (await database()).transaction(RECORDS, mode, { durability: 'strict' });
  const done = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error ?? new Error('there is no room'));
  });
  const [value] = await Promise.all([act(transaction.objectStore(RECORDS)), done]);
  return value;
}

/** Of keys that begin so, those from `from` on. An array sorts after all strings and numbers. */
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

/** Has the lock of a session until what this gives is called; who waits too long gets an error. */
function locked(store, name) {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const held = () => new Promise((letGo) => resolve(letGo));
    navigator.locks
      .request(lockOf(store, name), { signal }, held)
      .catch(() => reject(new DOMException('it is open', 'NoModificationAllowedError')));
  });
}

/** Opens a session, or makes it; what is in it, and what writes it. */
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
