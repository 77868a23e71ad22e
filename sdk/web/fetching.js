// Fetches parts of the image, checks them against their digests, unpacks them, and lets the browser
// keep them for the next visit.

import { isNode } from './engine.js';
import { WasiboxError } from '../typescript/errors.ts';

/** The name of the browser's cache that keeps parts for the next visit, even without a network. */
const CACHE = 'wasibox-image';
/** The delay in milliseconds of work that no caller waits for. */
const LATER = 1000;

/** Opens the cache that keeps parts. Resolves to undefined if there is none. */
export async function cache() {
  return isNode ? undefined : globalThis.caches?.open(CACHE).catch(() => undefined);
}

/** Returns the name under which an unpacked part is kept. */
export const unpacked = ({ file }) => file.replace(/\.gz$/, '');

/** Resolves to a server's response. Throws if its status is not a success. */
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

/** Resolves when all work that no caller waits for is done. Such work runs one piece at a time. */
let queue = Promise.resolve();

/** Calls `act` later, when more urgent work has had its turn. */
export function later(act) {
  queue = queue.then(() => new Promise((resolve) => setTimeout(resolve, LATER))).then(act).catch(() => {});
}

/** Returns the bytes of a program as a response that browsers can compile. */
const wasm = (body) => new Response(body, { headers: { 'Content-Type': 'application/wasm' } });
const unpacking = () => new DecompressionStream('gzip');

/** Fetches parts of a folder. */
export class Fetcher {
  #base;
  #cache;
  #counted;

  /**
   * @param {URL} base
   * @param {Promise<Cache | undefined>} cache the result of the function `cache`
   * @param {(part: object, loaded: number) => void} counted is called with the number of bytes so
   * far
   */
  constructor(base, cache, counted) {
    this.#base = base;
    this.#cache = cache;
    this.#counted = counted;
  }

  /** Resolves to the response that was kept under a name, or undefined. */
  async kept(name) {
    return (await this.#cache)?.match(new URL(name, this.#base));
  }

  /**
   * Keeps a response for later visits. A page that is left meanwhile may keep only its beginning.
   */
  async keep(name, response) {
    // Errors are ignored, because everything works with a full disk, too.
    await (await this.#cache)?.put(new URL(name, this.#base), response).catch(() => {});
  }

  /**
   * Keeps a response later. Without a cache nothing is done, because the delay would keep Node
   * running.
   */
  async #keepLater(name, response) {
    if ((await this.#cache) !== undefined) later(() => this.keep(name, response));
  }

  /**
   * Passes the response that was kept under a name to `use`, and resolves to its result. If `use`
   * fails, removes the response. Resolves to undefined if it failed or nothing was kept.
   */
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

  /**
   * Resolves to the bytes of a part. They are kept packed, or with a name unpacked under that name.
   */
  async unpacked(part, name) {
    const bytes = await this.#bytes(part, name === undefined);
    // The response copies the bytes.
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

  /**
   * Resolves to a compiled program. It is kept unpacked: browsers then compile it while they read
   * it, and may keep the machine code.
   */
  async compiled(part) {
    const kept = await this.#keptProgram(part);
    if (kept) return kept;
    const bytes = await this.#bytes(part, false);
    const compiled = await WebAssembly.compile(bytes);
    this.#keepLater(unpacked(part), wasm(bytes));
    return compiled;
  }

  /**
   * Resolves to a compiled program as soon as possible, by compiling it while it arrives.
   * @param {object} part
   * @param {(part: object, packed: ArrayBuffer) => void} keeper keeps the program
   */
  async compiledSoon(part, keeper) {
    const kept = await this.#keptProgram(part);
    if (kept) return kept;
    const response = await this.#packed(part, false);
    const copy = (await this.#cache) && response.clone();
    copy?.arrayBuffer().then((packed) => keeper(part, packed), () => {});
    return WebAssembly.compileStreaming(wasm(response.body.pipeThrough(this.#counting(part)).pipeThrough(unpacking())));
  }

  /**
   * Compiles a kept program. One without its end is not a valid module, because its data section
   * has the length of its contents.
   */
  #keptProgram(part) {
    return this.used(unpacked(part), (kept) => WebAssembly.compileStreaming(kept));
  }

  /** Keeps a program, which is given packed. */
  keepProgram(part, packed) {
    later(async () => {
      const bytes = await new Response(new Response(packed).body.pipeThrough(unpacking())).arrayBuffer();
      await this.keep(unpacked(part), wasm(bytes));
    });
  }

  /** Fetches the packed bytes of a part, and checks their digest. */
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
