// The image in parts: fetched when somebody needs them, checked against their digests, kept by the browser for the next visit.
//
// `cargo xtask dist --web` makes the folder: `image.json` tells of all parts, whose files have their digests in their names.

import { isNode } from './engine.js';
import { WasiboxError } from './errors.js';

/** What keeps parts for the next visit, also without a network. */
const CACHE = 'wasibox-image';

/** By the folder's URL: sessions of a page share what was fetched and compiled. */
const known = new Map();

export class Parts {
  #base;
  #told;
  #cache;
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
  }

  async #open() {
    if (!isNode) this.#cache = await globalThis.caches?.open(CACHE).catch(() => undefined);
    const at = new URL('image.json', this.#base);
    const bytes = await this.#listed(at);
    this.#told = JSON.parse(new TextDecoder().decode(bytes));
    this.#clean().catch(() => {});
    return this;
  }

  /** The list of parts: the newest one, or without a network the one of the last visit. */
  async #listed(at) {
    if (isNode && at.protocol === 'file:') return fileAt(at);
    try {
      const response = await fetch(at, { cache: 'no-cache' });
      if (!response.ok) throw new WasiboxError(`${at}: ${response.status} ${response.statusText}`);
      await this.#cache?.put(at, response.clone());
      return await response.arrayBuffer();
    } catch (error) {
      const last = await this.#cache?.match(at);
      if (last === undefined) throw error;
      return last.arrayBuffer();
    }
  }

  /** Removes what no part is any more. */
  async #clean() {
    if (this.#cache === undefined) return;
    const { kernel, catalog, parts } = this.#told;
    const prepared = Array.from({ length: this.programs }, (_, n) => this.#prepared(n));
    const names = new Set(['image.json', ...prepared, ...[kernel, catalog, ...parts].flatMap((part) => [part.file, unpacked(part)])]);
    for (const request of await this.#cache.keys()) {
      if (!request.url.startsWith(this.#base.href)) continue;
      if (!names.has(request.url.slice(this.#base.href.length))) await this.#cache.delete(request);
    }
  }

  /** How many programs there are: the first parts. */
  get programs() {
    return this.#told.parts.filter(({ program }) => program !== undefined).length;
  }

  /** The number of a program. */
  number(program) {
    return this.#told.parts.findIndex((part) => part.program === program);
  }

  /** Bytes of a part, unpacked. */
  length(number) {
    return this.#told.parts[number].length;
  }

  /** Calls `told` with what is fetched, as it comes; gives what ends that. */
  watch(told) {
    this.#watching.add(told);
    return () => this.#watching.delete(told);
  }

  catalog() {
    return this.#unpacked(this.#told.catalog);
  }

  /** The kernel's module. */
  kernel() {
    return (this.#kernel ??= this.#compiled(this.#told.kernel));
  }

  /**
   * The name under which a program's prepared memory is kept: what it is made of is the program, the files, and the kernel
   * that has run it.
   */
  #prepared(number) {
    const { parts, catalog, kernel } = this.#told;
    return ['prepared', ...[parts[number], catalog, kernel].map(unpacked)].join('-');
  }

  /** What was kept of a program; undefined if there is nothing. The program is got ready meanwhile. */
  async kept(number) {
    const kept = await this.#cache?.match(new URL(this.#prepared(number), this.#base));
    if (kept === undefined) return undefined;
    this.module(number).catch(() => {});
    return new Uint8Array(await kept.arrayBuffer());
  }

  /** Keeps something of a program for later visits. */
  keep(number, bytes) {
    // A full disk must not keep anybody from working.
    this.#cache?.put(new URL(this.#prepared(number), this.#base), new Response(bytes)).catch(() => {});
  }

  /** A part's bytes. */
  async bytes(number) {
    const ahead = this.#ahead.get(number);
    this.#ahead.delete(number);
    if (ahead) return ahead;
    const part = this.#told.parts[number];
    const kept = part.program && (await this.#cache?.match(new URL(unpacked(part), this.#base)));
    return kept ? new Uint8Array(await kept.arrayBuffer()) : this.#unpacked(part);
  }

  /** A program, compiled; what it needs soon after it has begun is asked for meanwhile. */
  module(number) {
    if (!this.#modules.has(number)) {
      const made = this.#compiled(this.#told.parts[number]);
      this.#modules.set(number, made);
      made.catch(() => this.#modules.delete(number));
      for (const next of this.#told.parts[number].then ?? []) {
        const bytes = this.#unpacked(this.#told.parts[next]);
        this.#ahead.set(next, bytes);
        bytes.catch(() => this.#ahead.delete(next));
      }
    }
    return this.#modules.get(number);
  }

  /** Programs are kept unpacked: so they are compiled as they are read, and browsers may keep what they compile to. */
  async #compiled(part) {
    const at = new URL(unpacked(part), this.#base);
    const kept = await this.#cache?.match(at);
    if (kept !== undefined) return WebAssembly.compileStreaming(kept);
    const wasm = (stream) => new Response(stream, { headers: { 'Content-Type': 'application/wasm' } });
    const stream = await this.#stream(part, false);
    if (this.#cache === undefined) return WebAssembly.compileStreaming(wasm(stream));
    const [now, later] = stream.tee();
    // A full disk must not keep anybody from working.
    this.#cache.put(at, wasm(later)).catch(() => {});
    return WebAssembly.compileStreaming(wasm(now));
  }

  async #unpacked(part) {
    const bytes = new Uint8Array(await new Response(await this.#stream(part)).arrayBuffer());
    if (bytes.length !== part.length) throw new WasiboxError(`${part.file}: ${bytes.length} bytes, not ${part.length}`);
    return bytes;
  }

  /** A part's bytes, as they come out of the packed ones, which are kept or not. */
  async #stream(part, keeps = true) {
    const response = await this.#packed(part, keeps);
    return response.body.pipeThrough(this.#counting(part)).pipeThrough(new DecompressionStream('gzip'));
  }

  /** Its packed bytes, which have the digest that they are to have. */
  async #packed({ file, integrity }, keeps) {
    const at = new URL(file, this.#base);
    if (isNode && at.protocol === 'file:') return new Response(await checked(at, await fileAt(at), integrity));
    const kept = await this.#cache?.match(at);
    if (kept !== undefined) return kept;
    const response = await fetch(at, { integrity });
    if (!response.ok) throw new WasiboxError(`${at}: ${response.status} ${response.statusText}`);
    if (keeps) this.#cache?.put(at, response.clone()).catch(() => {});
    return response;
  }

  #counting({ file, name, packed }) {
    let loaded = 0;
    return new TransformStream({
      transform: (chunk, to) => {
        loaded += chunk.length;
        for (const told of this.#watching) told({ name: name ?? file, loaded, total: packed });
        to.enqueue(chunk);
      },
    });
  }
}

/** The name under which a program is kept. */
const unpacked = ({ file }) => file.replace(/\.gz$/, '');

async function fileAt(url) {
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

async function checked(at, bytes, integrity) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  if (integrity !== `sha256-${btoa(String.fromCharCode(...digest))}`) throw new WasiboxError(`${at}: damaged`);
  return bytes;
}
