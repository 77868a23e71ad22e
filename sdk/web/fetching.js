// Parts of the image as they come: checked against their digests, unpacked, kept by the browser for the next visit.

import { isNode } from './engine.js';
import { WasiboxError } from './errors.js';

/** What keeps parts for the next visit, also without a network. */
const CACHE = 'wasibox-image';
/** Milliseconds after which what nobody waits for is done. */
const LATER = 1000;

/** What keeps parts; undefined where there is nothing of the kind. */
export async function cache() {
  return isNode ? undefined : globalThis.caches?.open(CACHE).catch(() => undefined);
}

/** The name under which a program is kept. */
export const unpacked = ({ file }) => file.replace(/\.gz$/, '');

/** What a server answers if it has what is asked for. */
export async function answered(at, how) {
  const response = await fetch(at, how);
  if (!response.ok) throw new WasiboxError(`${at}: ${response.status} ${response.statusText}`);
  return response;
}

export async function fileAt(url) {
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

async function checked(at, bytes, integrity) {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  if (integrity !== `sha256-${btoa(String.fromCharCode(...digest))}`) throw new WasiboxError(`${at}: damaged`);
  return bytes;
}

/** What nobody waits for, one after another. */
let queue = Promise.resolve();

/** Has something done when others have had their turn. */
export function later(act) {
  queue = queue.then(() => new Promise((resolve) => setTimeout(resolve, LATER))).then(act).catch(() => {});
}

/** A program's bytes as what browsers compile. */
const wasm = (body) => new Response(body, { headers: { 'Content-Type': 'application/wasm' } });
const unpacking = () => new DecompressionStream('gzip');

/** Fetches parts of a folder. */
export class Fetcher {
  #base;
  #cache;
  #counted;

  /**
   * @param {URL} base
   * @param {Promise<Cache | undefined>} cache what `cache` has opened
   * @param {(part: object, loaded: number) => void} counted told of bytes as they come
   */
  constructor(base, cache, counted) {
    this.#base = base;
    this.#cache = cache;
    this.#counted = counted;
  }

  /** What was kept under a name. */
  async kept(name) {
    return (await this.#cache)?.match(new URL(name, this.#base));
  }

  /** Keeps something for later visits. A page that is left meanwhile may have kept the beginning only. */
  async keep(name, response) {
    // A full disk must not keep anybody from working.
    await (await this.#cache)?.put(new URL(name, this.#base), response).catch(() => {});
  }

  /** The same when nobody waits, and where there is something that keeps: a program that has ended must not wait for it. */
  async #keepLater(name, response) {
    if ((await this.#cache) !== undefined) later(() => this.keep(name, response));
  }

  /** What `use` makes of what was kept under a name. If that fails, it is forgotten: undefined, as if there were none. */
  async used(name, use) {
    const kept = await this.kept(name);
    if (kept === undefined) return undefined;
    try {
      return await use(kept);
    } catch {
      await (await this.#cache).delete(new URL(name, this.#base));
      return undefined;
    }
  }

  /** A part's bytes. They are kept as they come, or unpacked under a name. */
  async unpacked(part, name) {
    const bytes = await this.#bytes(part, name === undefined);
    // The response has a copy.
    if (name !== undefined) this.#keepLater(name, new Response(bytes));
    return bytes;
  }

  async #bytes(part, keeps) {
    const kept = await this.used(part.file, (packed) => this.#unpack(part, packed));
    return kept ?? this.#unpack(part, await this.#packed(part, keeps));
  }

  async #unpack(part, packed) {
    const stream = packed.body.pipeThrough(this.#counting(part)).pipeThrough(unpacking());
    const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
    if (bytes.length !== part.length) throw new WasiboxError(`${part.file}: ${bytes.length} bytes, not ${part.length}`);
    return bytes;
  }

  /** A program, compiled. It is kept unpacked: so it is compiled as it is read, and browsers may keep what they compile to. */
  async compiled(part) {
    const kept = await this.#keptProgram(part);
    if (kept) return kept;
    const bytes = await this.#bytes(part, false);
    const compiled = await WebAssembly.compile(bytes);
    this.#keepLater(unpacked(part), wasm(bytes));
    return compiled;
  }

  /**
   * The same as soon as it can be had: compiled while it comes.
   * @param {object} part
   * @param {(part: object, packed: ArrayBuffer) => void} keeper is to have it kept
   */
  async compiledSoon(part, keeper) {
    const kept = await this.#keptProgram(part);
    if (kept) return kept;
    const response = await this.#packed(part, false);
    const copy = (await this.#cache) && response.clone();
    copy?.arrayBuffer().then((packed) => keeper(part, packed), () => {});
    return WebAssembly.compileStreaming(wasm(response.body.pipeThrough(this.#counting(part)).pipeThrough(unpacking())));
  }

  /** A kept program, compiled. What has lost its end is no module: a data section says how much there is of it. */
  #keptProgram(part) {
    return this.used(unpacked(part), (kept) => WebAssembly.compileStreaming(kept));
  }

  /** Keeps a program, given as it was packed. */
  keepProgram(part, packed) {
    later(async () => {
      const bytes = await new Response(new Response(packed).body.pipeThrough(unpacking())).arrayBuffer();
      await this.keep(unpacked(part), wasm(bytes));
    });
  }

  /** Its packed bytes from where the image is, which have the digest that they are to have. */
  async #packed({ file, integrity }, keeps) {
    const at = new URL(file, this.#base);
    if (isNode && at.protocol === 'file:') return new Response(await checked(at, await fileAt(at), integrity));
    const response = await answered(at, { integrity });
    if (keeps) this.keep(file, response.clone());
    return response;
  }

  #counting(part) {
    let loaded = 0;
    return new TransformStream({
      transform: (chunk, to) => {
        loaded += chunk.length;
        this.#counted(part, loaded);
        to.enqueue(chunk);
      },
    });
  }
}
