// The image in parts, which are fetched when they are needed (`fetching.js`).
//
// `cargo xtask dist --web` makes the folder. `image.json` lists all parts, whose files have digests
// in their names.

import { isNode } from './engine.js';
import { WasiboxError } from '../typescript/errors.ts';
import { Fetcher, answered, cache, fileAt, later, unpacked } from './fetching.js';
import { RemoteFetcher } from './remote-fetcher.js';

/**
 * The parts by the URL of their folder. The sessions of a page share everything that was fetched
 * and compiled.
 */
const known = new Map();

export class Parts {
  #base;
  #index;
  /** The cache that keeps parts, if there is one. */
  #cache = cache();
  /** Fetches the parts that a shell needs, in this thread. */
  #here;
  /** Fetches all other parts, in a page in a worker. */
  #aside;
  /** The compiled programs by number, as promises. */
  #modules = new Map();
  /** The bytes of parts that were fetched ahead and not taken yet, by number, as promises. */
  #ahead = new Map();
  #kernel;
  #watching = new Set();

  /**
   * Opens the parts in a folder.
   * @param {URL} base
   * @returns {Promise<Parts>}
   */
  static open(base) {
    const { href } = base;
    if (!known.has(href)) {
      const opened = new Parts(base).#open();
      known.set(href, opened);
      // The next session tries again.
      opened.catch(() => known.delete(href));
    }
    return known.get(href);
  }

  constructor(base) {
    this.#base = base;
    const counted = ({ file, name, packed }, loaded) => {
      for (const listener of this.#watching) listener({ name: name ?? file, loaded, total: packed });
    };
    this.#here = new Fetcher(base, this.#cache, counted);
    this.#aside = isNode ? this.#here : new RemoteFetcher(base, counted);
  }

  async #open() {
    const bytes = await this.#listed();
    this.#index = JSON.parse(new TextDecoder().decode(bytes));
    if ((await this.#cache) !== undefined) later(() => this.#clean());
    return this;
  }

  /** Fetches the list of parts. Without a network it is that of the last visit. */
  async #listed() {
    const at = new URL('image.json', this.#base);
    if (isNode && at.protocol === 'file:') return fileAt(at);
    try {
      const response = await answered(at, { cache: 'no-cache' });
      this.#here.keep('image.json', response.clone());
      return await response.arrayBuffer();
    } catch (error) {
      const last = await this.#here.kept('image.json');
      if (last === undefined) throw error;
      return last.arrayBuffer();
    }
  }

  /** Removes files from the cache that are no longer parts. */
  async #clean() {
    const cache = await this.#cache;
    const { kernel, catalog, parts } = this.#index;
    const prepared = Array.from({ length: this.programs }, (_, n) => this.#prepared(n));
    const names = new Set(['image.json', ...prepared, ...[kernel, catalog, ...parts].flatMap((part) => [part.file, unpacked(part)])]);
    for (const request of await cache.keys()) {
      if (!request.url.startsWith(this.#base.href)) continue;
      if (!names.has(request.url.slice(this.#base.href.length))) await cache.delete(request);
    }
  }

  /** The number of programs, which are the first parts. */
  get programs() {
    return this.#index.parts.filter(({ program }) => program !== undefined).length;
  }

  /** Returns the number of a program by its name. */
  number(program) {
    return this.#index.parts.findIndex((part) => part.program === program);
  }

  /** Returns the unpacked length of a part in bytes. */
  length(number) {
    return this.#index.parts[number].length;
  }

  /** Calls `listener` while parts are fetched. Returns a function that ends this. */
  watch(listener) {
    this.#watching.add(listener);
    return () => this.#watching.delete(listener);
  }

  catalog() {
    return this.#here.unpacked(this.#index.catalog);
  }

  /** Resolves to the compiled kernel. */
  kernel() {
    return (this.#kernel ??= this.#needed(this.#index.kernel));
  }

  /** Resolves to the compiled shell. */
  shell() {
    const number = this.number('box');
    if (!this.#modules.has(number)) this.#compiling(number, this.#needed(this.#index.parts[number]));
    return this.#modules.get(number);
  }

  /**
   * Compiles a part that a shell needs in this thread, because a worker would have to start first.
   */
  #needed(part) {
    return this.#here.compiledSoon(part, (part, packed) => this.#aside.keepProgram(part, packed));
  }

  /**
   * Resolves to a compiled program. Parts that it needs soon after its start are fetched meanwhile.
   */
  module(number) {
    if (!this.#modules.has(number)) {
      const part = this.#index.parts[number];
      this.#compiling(number, this.#aside.compiled(part));
      for (const next of part.then ?? []) {
        const bytes = this.#aside.unpacked(this.#index.parts[next]);
        this.#ahead.set(next, bytes);
        bytes.catch(() => this.#ahead.delete(next));
      }
    }
    return this.#modules.get(number);
  }

  #compiling(number, made) {
    this.#modules.set(number, made);
    made.catch(() => this.#modules.delete(number));
  }

  /**
   * Returns the name under which the prepared memory of a program is kept. The memory depends on
   * the program, the files and the kernel, so the name contains all three.
   */
  #prepared(number) {
    const { parts, catalog, kernel } = this.#index;
    return ['prepared', ...[parts[number], catalog, kernel].map(unpacked)].join('-');
  }

  /**
   * Resolves to the prepared memory of a program: the kept one, or with `fetches` that of the
   * image, or undefined if there is none. If there is a kept one, the program is compiled
   * meanwhile.
   */
  async kept(number, fetches) {
    const { memory } = this.#index.parts[number];
    const kept = await this.#here.used(this.#prepared(number), async (kept) => {
      this.module(number).catch(() => {});
      return whole(await kept.arrayBuffer(), memory?.length);
    });
    if (kept) return kept;
    return fetches && memory ? this.#aside.unpacked(memory, this.#prepared(number)) : undefined;
  }

  /** Keeps a program's prepared memory for later visits. */
  keep(number, bytes) {
    this.#here.keep(this.#prepared(number), new Response(bytes));
  }

  /** Resolves to the unpacked bytes of a part. */
  async bytes(number) {
    const ahead = this.#ahead.get(number);
    this.#ahead.delete(number);
    if (ahead) return ahead;
    const part = this.#index.parts[number];
    const kept = part.program && (await this.#here.used(unpacked(part), async (kept) => whole(await kept.arrayBuffer(), part.length)));
    return kept || this.#aside.unpacked(part);
  }
}

/** Returns the bytes of a buffer. Throws if it does not have the expected length. */
function whole(buffer, length = buffer.byteLength) {
  if (buffer.byteLength !== length) throw new WasiboxError(`${buffer.byteLength} bytes, not ${length}`);
  return new Uint8Array(buffer);
}
