// Sessions that a page keeps: a store is a folder of the origin's private file system, a session is one file in it, a journal
// (`runner/snapshot/src/journal.rs`). A worker has it open, and nobody else meanwhile.

import { isNode } from './engine.js';
import { BusyError, ConflictError, InvalidError, NotFoundError, WasiboxError } from './errors.js';

/** The folder of all stores. */
const ROOT = 'wasibox';
const ENDING = '.wbj';
/** As `runner/store/src/lib.rs` has it. */
const NAME = /^[A-Za-z0-9._-]{1,100}$/;

function checked(what, name) {
  if (typeof name !== 'string' || !NAME.test(name) || /^\.+$/.test(name)) throw new InvalidError(`${what}: '${name}' cannot be a name`);
  return name;
}

/** The folder of a store, or null if there is none. */
async function folder(store, { create = false } = {}) {
  checked('store', store);
  if (isNode) throw new InvalidError('pages have stores; in Node the package wasibox has them');
  if (!navigator.storage?.getDirectory) throw new WasiboxError('this page has no private files: it is not secure, or private');
  try {
    const root = await navigator.storage.getDirectory();
    return await (await root.getDirectoryHandle(ROOT, { create })).getDirectoryHandle(store, { create });
  } catch (error) {
    if (error.name === 'NotFoundError') return null;
    throw error;
  }
}

/** The names of a store's sessions. */
export async function sessions(store) {
  const names = [];
  for await (const name of (await folder(store))?.keys() ?? []) {
    if (name.endsWith(ENDING)) names.push(name.slice(0, -ENDING.length));
  }
  return names.sort();
}

/** Forgets a session of a store that nobody uses. */
export async function remove(store, name) {
  const file = checked('name', name) + ENDING;
  const none = new NotFoundError(`no session '${name}'`);
  const from = await folder(store);
  if (from === null) throw none;
  try {
    await from.removeEntry(file);
  } catch (error) {
    if (error.name === 'NotFoundError') throw none;
    throw isTaken(error) ? taken(name) : error;
  }
}

/** Bytes that this origin has on the disk and may have, and whether the browser has promised to keep them. */
export async function storage() {
  const { usage = 0, quota = 0 } = await navigator.storage.estimate();
  return { usage, quota, isPersisted: await navigator.storage.persisted() };
}

/** Asks the browser to keep what is stored until a person removes it; whether it will. Firefox asks that person. */
export async function persist() {
  return navigator.storage.persist();
}

const isTaken = (error) => error.name === 'NoModificationAllowedError' || error.name === 'InvalidStateError';
const taken = (name) => new BusyError(`session '${name}' is open in another page`);

/** The file of a session, open. */
export class Kept {
  #worker;
  #asked = [];
  /** What could not be written, to be written before anything else. */
  #owed = [];

  /**
   * Opens the file of a session, or makes it.
   * @param {{ store: string, name?: string, open?: 'any' | 'create' | 'open' }} options
   * @returns {Promise<{ kept: Kept, bytes: Uint8Array }>} what is in it, too
   */
  static async open({ store, name = 'default', open = 'any' }) {
    checked('name', name);
    if (!['any', 'create', 'open'].includes(open)) throw new InvalidError(`open: '${open}' is not any, create or open`);
    const into = await folder(store, { create: open !== 'open' });
    const isThere = into !== null && (await sessions(store)).includes(name);
    if (open === 'open' && !isThere) throw new NotFoundError(`no session '${name}'`);
    if (open === 'create' && isThere) throw new ConflictError(`there is a session '${name}' already`);
    const kept = new Kept();
    try {
      const bytes = await kept.#ask({ type: 'open', path: [ROOT, store, name + ENDING] });
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

  /** Cuts off all behind so many bytes. */
  cut(length) {
    return this.#ask({ type: 'cut', length });
  }

  /** Adds bytes; they are on the disk when this has returned. What fails is tried again before the next ones. */
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

  /** Lets go of the file. */
  async close() {
    await this.#ask({ type: 'close' });
    this.#worker.terminate();
  }
}
