// The image in parts: fetched when somebody needs them (`fetching.js`).
//
// `cargo xtask dist --web` makes the folder: `image.json` lists all parts, whose files have their digests in their
// names.

import { isNode } from './engine.js';
import { WasiboxError } from './errors.js';
import { Fetcher, answered, cache, fileAt, later, unpacked } from './fetching.js';
import { RemoteFetcher } from './remote-fetcher.js';

/** By the folder's URL: sessions of a page share what was fetched and compiled. */
const known = new Map();

export class Parts {
  #base;
  #index;
  /** What keeps parts, if there is something. */
  #cache = cache();
  /** Fetches what a shell needs; and all else, where that keeps nobody waiting. */
  #here;
  #aside;
  /** By number: programs that are compiled or about to be. */
  #modules = new Map();
  /** By number: bytes that were asked for ahead and that nobody has taken yet. */
  #ahead = new Map();
  #kernel;
  #watching = new Set();

  /**
   * The parts in a folder.
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

  /** The list of parts: the newest one, or without a network the one of the last visit. */
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

  /** Removes what no part is any more. */
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

  /** How many programs there are: the first parts. */
  get programs() {
    return this.#index.parts.filter(({ program }) => program !== undefined).length;
  }

  /** The number of a program. */
  number(program) {
    return this.#index.parts.findIndex((part) => part.program === program);
  }

  /** Bytes of a part, unpacked. */
  length(number) {
    return this.#index.parts[number].length;
  }

  /** Calls `listener` with what is fetched, as it comes; gives what ends that. */
  watch(listener) {
    this.#watching.add(listener);
    return () => this.#watching.delete(listener);
  }

  catalog() {
    return this.#here.unpacked(this.#index.catalog);
  }

  /** The kernel's module. */
  kernel() {
    return (this.#kernel ??= this.#needed(this.#index.kernel));
  }

  /** The shell's module. */
  shell() {
    const number = this.number('box');
    if (!this.#modules.has(number)) this.#compiling(number, this.#needed(this.#index.parts[number]));
    return this.#modules.get(number);
  }

  /** Compiles what there is no shell without: a worker would have to begin first. */
  #needed(part) {
    return this.#here.compiledSoon(part, (part, packed) => this.#aside.keepProgram(part, packed));
  }

  /** A program, compiled; what it needs soon after it has begun is asked for meanwhile. */
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
   * The name under which a program's prepared memory is kept: what it is made of is the program, the files, and the kernel
   * that has run it.
   */
  #prepared(number) {
    const { parts, catalog, kernel } = this.#index;
    return ['prepared', ...[parts[number], catalog, kernel].map(unpacked)].join('-');
  }

  /**
   * A program's prepared memory as it was kept, or with `fetches` as the image brings it along; undefined if there is none.
   * The program is got ready meanwhile.
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

  /** A part's bytes. */
  async bytes(number) {
    const ahead = this.#ahead.get(number);
    this.#ahead.delete(number);
    if (ahead) return ahead;
    const part = this.#index.parts[number];
    const kept = part.program && (await this.#here.used(unpacked(part), async (kept) => whole(await kept.arrayBuffer(), part.length)));
    return kept || this.#aside.unpacked(part);
  }
}

/** The bytes, if there are as many as there are to be. */
function whole(buffer, length = buffer.byteLength) {
  if (buffer.byteLength !== length) throw new WasiboxError(`${buffer.byteLength} bytes, not ${length}`);
  return new Uint8Array(buffer);
}
