// The page's side of a fetcher in a worker. The worker unpacks large parts, because unpacking a
// hundred megabytes in the page would block it.

import { WasiboxError } from '../typescript/errors.ts';

export class RemoteFetcher {
  #base;
  #counted;
  #worker = null;
  #asked = new Map();
  #last = 0;

  /**
   * Takes the arguments of `Fetcher` except the cache, which the worker opens. The first request
   * starts the worker.
   */
  constructor(base, counted) {
    this.#base = base;
    this.#counted = counted;
  }

  unpacked(part, name) {
    return this.#ask('unpacked', { part, name });
  }

  compiled(part) {
    return this.#ask('compiled', { part });
  }

  keepProgram(part, packed) {
    // Errors are ignored, because the program can be fetched again.
    this.#ask('keepProgram', { part, packed }, [packed]).catch(() => {});
  }

  #ask(type, message, transfer = []) {
    if (this.#worker === null) this.#begin();
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#worker.postMessage({ ...message, type, id }, transfer);
    });
  }

  #begin() {
    this.#worker = new Worker(new URL('./fetch-worker.js', import.meta.url), { type: 'module' });
    this.#worker.onmessage = ({ data }) => this.#hear(data);
    this.#worker.onerror = ({ message }) => {
      const failed = new WasiboxError(`a worker has failed: ${message}`);
      for (const { reject } of this.#asked.values()) reject(failed);
      this.#asked.clear();
      // The next request starts a new worker.
      this.#worker.terminate();
      this.#worker = null;
    };
    this.#worker.postMessage({ type: 'begin', base: this.#base.href });
  }

  #hear({ id, value, error, counted }) {
    if (counted) {
      this.#counted(counted.part, counted.loaded);
      return;
    }
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (error === undefined) asked?.resolve(value);
    else asked?.reject(new WasiboxError(error));
  }
}
