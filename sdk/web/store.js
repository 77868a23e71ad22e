// Stores, in which a page keeps sessions by name. Each session is a journal
// (`runner/snapshot/src/journal.rs`) in a private file or, if the page has none, in IndexedDB.
// While a worker has a session open, no other worker can open it.

import { isNode } from './engine.js';
import { BusyError, ConflictError, InvalidError, NotFoundError, WasiboxError } from '../typescript/errors.ts';
import * as database from './store-database.js';
import * as files from './store-files.js';

/** The names that `runner/store/src/lib.rs` accepts. */
const NAME = /^[A-Za-z0-9._-]{1,100}$/;

function checked(what, name) {
  if (typeof name !== 'string' || !NAME.test(name) || /^\.+$/.test(name)) throw new InvalidError(`${what}: '${name}' cannot be a name`);
  return name;
}

/**
 * Returns where this page keeps its sessions: the name that `store-worker.js` uses for the module,
 * and the module.
 */
async function place() {
  if (isNode) throw new InvalidError('pages have stores; in Node the package wasibox has them');
  if (await files.isHere()) return ['files', files];
  if (database.isHere()) return ['database', database];
  throw new WasiboxError('this page can keep nothing: it is not secure');
}

/** Returns the names of a store's sessions, sorted. */
export async function sessions(store) {
  checked('store', store);
  const [, keeps] = await place();
  return (await keeps.names(store)).sort();
}

/** Deletes a session of a store. Throws a `BusyError` if the session is open. */
export async function remove(store, name) {
  checked('name', name);
  if (!(await sessions(store)).includes(name)) throw new NotFoundError(`no session '${name}'`);
  const [, keeps] = await place();
  try {
    await keeps.remove(store, name);
  } catch (error) {
    throw isTaken(error) ? taken(name) : error;
  }
}

/**
 * Returns how many bytes this origin has on the disk and may have, and whether the browser has
 * promised to keep them.
 */
export async function storage() {
  const { usage = 0, quota = 0 } = await navigator.storage.estimate();
  return { usage, quota, isPersisted: await navigator.storage.persisted() };
}

/**
 * Asks the browser to keep what is stored until a person removes it. Returns whether the browser
 * will. Firefox asks the person.
 */
export async function persist() {
  return navigator.storage.persist();
}

const isTaken = (error) => error.name === 'NoModificationAllowedError' || error.name === 'InvalidStateError';
const taken = (name) => new BusyError(`session '${name}' is open in another page`);

/** An open session of a store. */
export class Kept {
  #worker;
  #asked = [];
  /** Bytes that are not written yet. After a failure they are written before any others. */
  #owed = [];

  /**
   * Opens a session, or makes it.
   * @param {import('./session.js').CreateOptions} options
   * @returns {Promise<{ kept: Kept, bytes: Uint8Array }>} the session and its bytes
   */
  static async open({ store, name = 'default', open = 'any' }) {
    checked('name', name);
    if (!['any', 'create', 'open'].includes(open)) throw new InvalidError(`open: '${open}' is not any, create or open`);
    const isThere = (await sessions(store)).includes(name);
    if (open === 'open' && !isThere) throw new NotFoundError(`no session '${name}'`);
    if (open === 'create' && isThere) throw new ConflictError(`there is a session '${name}' already`);
    const [where] = await place();
    const kept = new Kept();
    try {
      const bytes = await kept.#ask({ type: 'open', place: where, store, name });
      return { kept, bytes };
    } catch (error) {
      kept.#worker.terminate();
      throw isTaken(error) ? taken(name) : error;
    }
  }

  constructor() {
    this.#worker = new Worker(new URL('./store-worker.js', import.meta.url), { type: 'module' });
    this.#worker.onmessage = ({ data: { value, error } }) => {
      const { resolve, reject } = this.#asked.shift();
      if (error === undefined) resolve(value);
      else reject(Object.assign(new WasiboxError(error.text), { name: error.name }));
    };
    this.#worker.onerror = (event) => {
      for (const { reject } of this.#asked.splice(0)) reject(new WasiboxError(`the store has failed: ${event.message}`));
    };
  }

  #ask(message, transfer = []) {
    return new Promise((resolve, reject) => {
      this.#asked.push({ resolve, reject });
      this.#worker.postMessage(message, transfer);
    });
  }

  /** Cuts the session's bytes to `length`. */
  cut(length) {
    return this.#ask({ type: 'cut', length });
  }

  /**
   * Adds bytes, which are on the disk when the promise resolves. Bytes that could not be written
   * are tried again, before new ones, at the next call.
   */
  async append(bytes) {
    if (bytes.length > 0) this.#owed.push(bytes);
    while (this.#owed.length > 0) {
      try {
        await this.#ask({ type: 'append', bytes: this.#owed[0] });
      } catch (error) {
        throw new WasiboxError(`the session is not kept: ${error.message}`);
      }
      this.#owed.shift();
    }
  }

  /** Closes the session. */
  async close() {
    await this.#ask({ type: 'close' });
    this.#worker.terminate();
  }
}
