/**
 * The page's half of the kernel. It makes the memory that all workers share, and the workers: a
 * worker that blocks cannot make another one, so the page makes them for the kernel's threads. It
 * also ends guests that compute, by ending their workers.
 */

import { hold, load, startWorker } from './engine.js';
import { ClosedError, InvalidError, WasiboxError, errorOf } from '../typescript/errors.ts';
import { Parts } from './parts.js';
import { Requests } from './requests.js';

/** The maximum size of the kernel's memory in pages of 64 KiB (`runner/web/build.rs`). */
const MOST = 32768;
/** The minimum size that is useful for a session, in pages. */
const LEAST = 2048;
/**
 * The initial words of the control block: the next thread's number, and the number of output
 * messages.
 */
const CONTROL = [1, 0];
/** States in the lowest two bits of a slot (`runner/web/src/slots.rs`). */
const GUEST = 2;
const TAKEN = 3;
/**
 * The milliseconds in which a guest that must end may reach a system call. If it does, its worker
 * need not be ended.
 */
const GRACE = 5;
/**
 * The milliseconds that a worker may take to report that it is free after the kernel has released
 * it.
 */
const COMING = 20;

export const bytesOf = (data) => (typeof data === 'string' ? new TextEncoder().encode(data) : data);

/**
 * Makes the kernel's memory. It never grows (`runner/web/src/heap.rs`), so it has its maximum size
 * from the start. Pages take no real memory before they are used. If the engine does not have
 * enough address space, or the system counts unused pages, the memory is made smaller.
 */
function kernelMemory() {
  for (let pages = MOST; ; pages /= 2) {
    try {
      return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true });
    } catch (error) {
      if (pages <= LEAST) throw error;
    }
  }
}

/** Returns the rules of the option `network`, which is one rule, a list of rules, or both lists. */
function rulesOf(network) {
  if (typeof network === 'string') return { allow: [network] };
  return Array.isArray(network) ? { allow: network } : network;
}

/** The kernel with its workers. It has one session, and runs one call of it at a time. */
export class Machine {
  #memory = kernelMemory();
  /** The kernel's count of allocated bytes, in its memory. */
  #heap = null;
  #control = new Int32Array(new SharedArrayBuffer(4 * CONTROL.length));
  #kernel;
  #modules = [];
  /** The parts of the image; null for a whole image. */
  #parts = null;
  /** The lengths of programs. */
  #lengths = [];
  /** Ends the reports of progress. */
  #unwatch = () => {};
  /** The address of the kernel's slots. */
  #slots = 0;
  /**
   * For each program, its kept prepared memory, until the worker that has requested it takes it.
   */
  #kept = new Map();
  /** Whether guests have stacks of their own (`worker.js`, `stacks`). */
  #hasOwnStacks = false;
  /** The worker that answers requests; all others run guests. */
  #first;
  /** The workers that wait for a thread. */
  #free = [];
  /** Promises of workers that will be free, and that no thread waits for yet. */
  #coming = [];
  /** For each waiting worker, the programs for which it has a large memory ready. */
  #large = new Map();
  /**
   * All workers, with the numbers of messages that each has posted (shared with it) and that were
   * heard.
   */
  #all = new Map();
  /** For each slot, the worker that runs a guest there, and the guest's generation. */
  #running = new Map();
  #asked = new Map();
  #lastId = 0;
  /** The number of output messages that were passed on. */
  #received = 0;
  /** The output messages that have arrived too early, by their numbers. */
  #early = new Map();
  #run = null;
  #requests = new Requests((type, message) => this.ask(type, message));
  #isClosed = false;
  /** The error by which a worker has failed. */
  #failure;
  #log;

  /**
   * @param {import('./session.js').CreateOptions} options
   * @returns {Promise<Machine>}
   */
  static async create(options = {}) {
    const machine = new Machine();
    machine.#log = options.log ?? (() => {});
    CONTROL.forEach((value, n) => (machine.#control[n] = value));
    const base = options.baseUrl === undefined ? undefined : new URL(options.baseUrl, pageUrl());
    const part = (name) => {
      if (base) return new URL(name, base);
      throw new InvalidError(`neither baseUrl nor ${name} is given`);
    };
    try {
      // Workers take longer to begin than anything else here, and can do so before there is a
      // kernel.
      const first = machine.#start();
      first.postMessage({ type: 'probe' });
      const pool = Array.from({ length: options.workers ?? 3 }, () => machine.#start());
      const parts = options.image ? null : await Parts.open(part('image/'));
      if (parts) await machine.#inParts(parts, first, options);
      else await machine.#whole(options.image, first, options.kernel ?? (await load(part('wasibox.wasm'))));
      for (const worker of pool) machine.#expect(machine.#equip(worker));
      if (options.prepare !== false) await machine.ask('prepareByItself');
      if (options.network !== undefined) await machine.ask('network', { network: rulesOf(options.network) });
      return machine;
    } catch (error) {
      machine.close();
      throw machine.#failure ?? error;
    }
  }

  /** Begins with a whole image. */
  async #whole(image, first, kernel) {
    this.#kernel = await WebAssembly.compile(kernel);
    this.#first = await this.#equip(first);
    // A copy is transferred to the worker, because the caller keeps the image.
    const copy = new Uint8Array(ArrayBuffer.isView(image) ? image : image.slice(0));
    const booted = await this.ask('boot', { image: copy }, [copy.buffer]);
    this.#modules = booted.modules;
    this.#booted(booted);
  }

  /**
   * Begins with an image in parts. The shell is fetched now, and everything else when it is needed.
   */
  async #inParts(parts, first, { kernel, onProgress }) {
    this.#parts = parts;
    if (onProgress) this.#unwatch = parts.watch(onProgress);
    this.#lengths = Array.from({ length: parts.programs }, (_, n) => parts.length(n));
    const shell = parts.shell().then((shell) => (this.#modules[parts.number('box')] = shell));
    const catalog = parts.catalog();
    await Promise.all([shell, catalog, (async () => {
      this.#kernel = await (kernel ? WebAssembly.compile(kernel) : parts.kernel());
      this.#first = await this.#equip(first);
      this.#booted(await this.ask('bootParts', { catalog: await catalog }));
    })()]);
  }

  #booted({ slots, heap, hasOwnStacks }) {
    this.#slots = slots;
    this.#heap = new Uint32Array(this.#memory.buffer, heap, 1);
    this.#hasOwnStacks = hasOwnStacks;
  }

  /** Compiles a program for workers that begin later. */
  async #need(program) {
    this.#modules[program] = await this.#parts.module(program);
  }

  /** Calls `act`, for which a worker waits, and wakes the worker. */
  async #wake(flag, act) {
    let state = 1;
    try {
      await act();
    } catch (error) {
      // The waiting worker was ended with the session.
      if (this.#isClosed) return;
      this.#log(`a part of the image: ${error.message}`);
      state = 2;
    }
    Atomics.store(flag, 0, state);
    Atomics.notify(flag, 0);
  }

  /**
   * Runs a call to its end. Resolves to the outcome that the kernel reports.
   * @param {object} asked `runner/web/src/session.rs`, `Command`
   * @param {{ stdin: any, timeout?: number, signal?: AbortSignal,
   *   output: (stream: number, bytes: Uint8Array) => void }} how
   */
  async run(asked, { stdin, timeout, signal, output }) {
    this.needOpen();
    const ended = await new Promise((resolve, reject) => {
      const stop = (byTimeout) => this.ask('interrupt', { byTimeout }).catch(reject);
      const abort = () => stop(false);
      const timer = timeout && setTimeout(() => stop(true), timeout * 1000);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        this.#run = null;
        this.#hold();
      };
      this.#run = {
        output,
        abort,
        room: () => {},
        ended: null,
        resolve: (result) => (settle(), resolve(result)),
        reject: (error) => (settle(), reject(error)),
      };
      signal?.addEventListener('abort', abort, { once: true });
      const run = this.#run;
      this.ask('run', { asked })
        .then(() => this.#feed(run, stdin))
        .catch((error) => this.#run === run && run.reject(error));
    });
    const { outcome, failed } = JSON.parse(ended);
    if (failed) throw errorOf(failed);
    return outcome;
  }

  /** Ends the running call, if there is one. */
  interrupt() {
    this.#run?.abort();
  }

  /**
   * Writes the input of a run as there is room, until the run is over, which may be before the
   * first byte.
   */
  async #feed(run, stdin) {
    if (this.#run !== run) return;
    const source = typeof stdin === 'string' || stdin instanceof Uint8Array ? [stdin] : stdin;
    for await (const data of source) {
      let rest = bytesOf(data);
      while (rest.length > 0 && this.#run === run) {
        const room = new Promise((resolve) => (run.room = resolve));
        const taken = await this.ask('input', { bytes: rest });
        rest = rest.subarray(taken);
        if (rest.length > 0) await Promise.race([room, new Promise((r) => setTimeout(r, 50))]);
      }
      if (this.#run !== run) return;
    }
    if (this.#run === run) await this.ask('inputEnd');
  }

  /** Ends everything that runs, and frees the memory. */
  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unwatch();
    this.#requests.closeAll();
    const gone = new ClosedError('the session is closed');
    for (const { reject } of this.#asked.values()) reject(gone);
    this.#run?.reject(gone);
    for (const worker of this.#all.keys()) worker.terminate();
    this.#all.clear();
    this.#free = [];
    this.#large.clear();
    [this.#memory, this.#heap] = [null, null];
  }

  get closed() {
    return this.#isClosed;
  }

  /**
   * The number of workers, the number of idle ones, and the bytes of the kernel, files included.
   */
  get usage() {
    const kernelBytes = this.#heap?.[0] ?? 0;
    return { workers: this.#all.size, free: this.#free.length, kernelBytes };
  }

  needOpen() {
    if (this.#isClosed) throw new ClosedError('the session is closed');
  }

  ask(type, message = {}, transfer = []) {
    if (this.#isClosed) return Promise.reject(new ClosedError('the session is closed'));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      this.#hold();
      this.#first.postMessage({ ...message, type, id }, transfer);
    });
  }

  /** Keeps Node running as long as the program waits for this session. */
  #hold() {
    if (this.#first) hold(this.#first, this.#asked.size > 0 || this.#run !== null);
  }

  /** Starts a worker, which loads its script. */
  #start() {
    const count = { posted: new Int32Array(new SharedArrayBuffer(4)), heard: 0, allHeard: null, ready: () => {}, failed: () => {} };
    const failed = (error) => {
      count.failed(error);
      this.#failed(worker, error);
    };
    const worker = startWorker((message) => {
      count.heard++;
      if (message.type === 'ready') count.ready();
      else this.#hear(worker, message);
      if (count.heard === Atomics.load(count.posted, 0)) count.allHeard?.();
    }, failed);
    this.#all.set(worker, count);
    hold(worker, true);
    return worker;
  }

  /** Gives a worker the kernel. Resolves to the worker when it waits for a thread. */
  async #equip(worker) {
    const count = this.#all.get(worker);
    const ready = new Promise((resolve, reject) => ([count.ready, count.failed] = [resolve, reject]));
    const [kernel, memory, control, hasOwnStacks] = [this.#kernel, this.#memory, this.#control, this.#hasOwnStacks];
    worker.postMessage({ type: 'start', kernel, memory, control, posted: count.posted, hasOwnStacks });
    await ready;
    hold(worker, false);
    return worker;
  }

  #make() {
    return this.#equip(this.#start());
  }

  /** Notes that a worker will be free, unless it is taken before that. */
  #expect(coming) {
    this.#coming.push(coming);
    const arrived = (worker) => {
      const at = this.#coming.indexOf(coming);
      if (at < 0) return;
      this.#coming.splice(at, 1);
      this.#free.push(worker);
    };
    // If the worker fails, `#failed` closes the machine.
    coming.then(arrived, () => {});
  }

  /**
   * Closes the machine after a worker has failed, because the shared memory may be inconsistent.
   */
  #failed(worker, error) {
    if (!this.#all.has(worker)) return;
    this.#log(`worker: ${error.stack ?? error.message}`);
    this.#failure = new WasiboxError(`a worker has failed: ${error.message}`);
    this.#run?.reject(this.#failure);
    this.close();
  }

  #hear(worker, message) {
    switch (message.type) {
      case 'answer': {
        const asked = this.#asked.get(message.id);
        this.#asked.delete(message.id);
        this.#hold();
        if (message.error === undefined) asked?.resolve(message.value);
        else asked?.reject(errorOf(message.error));
        break;
      }
      case 'thread':
        this.#begin(message).catch((error) => this.#failed(worker, error));
        break;
      case 'free':
        this.#freed(worker, message.large);
        break;
      case 'running':
        this.#running.set(message.slot, { worker, generation: message.generation });
        break;
      case 'need':
        this.#wake(message.flag, () => this.#need(message.program));
        break;
      case 'makeRoom':
        this.#wake(message.flag, () => this.#makeRoom());
        break;
      case 'fetch': {
        const { to, length } = message;
        this.#wake(message.flag, async () => {
          const bytes = await this.#parts.bytes(message.part);
          if (bytes.length !== length) throw new Error(`${bytes.length} bytes, not ${length}`);
          new Uint8Array(this.#memory.buffer, to, length).set(bytes);
        });
        break;
      }
      case 'kept': {
        const { program, fetches, flag } = message;
        this.#wake(flag, async () => {
          const bytes = await this.#parts?.kept(program, fetches);
          if (bytes) this.#kept.set(program, bytes);
          flag[1] = bytes?.length ?? 0;
        });
        break;
      }
      case 'takeKept': {
        const { program, to, length } = message;
        this.#wake(message.flag, () => {
          new Uint8Array(this.#memory.buffer, to, length).set(this.#kept.get(program));
          this.#kept.delete(program);
        });
        break;
      }
      case 'keep':
        this.#parts?.keep(message.program, message.bytes);
        break;
      case 'bytes':
        this.#wake(message.flag, async () => message.bytes.set(await this.#parts.bytes(message.part)));
        break;
      case 'request':
        this.#requests.make(message.number, message.asked, message.body);
        break;
      case 'requestRead':
        this.#requests.read(message.number);
        break;
      case 'requestClose':
        this.#requests.close(message.number);
        break;
      case 'interrupt':
        setTimeout(() => this.#end(message.slot, message.generation), GRACE);
        break;
      case 'output':
        this.#early.set(message.number, message);
        this.#output();
        this.#settle();
        break;
      case 'room':
        this.#run?.room();
        break;
      case 'done':
        if (this.#run) this.#run.ended = message;
        this.#settle();
        break;
      case 'log':
        this.#log(message.text);
        break;
    }
  }

  /**
   * Passes on output in the order in which it was written. This is needed because the messages of
   * several workers arrive in any order.
   */
  #output() {
    for (let next; (next = this.#early.get(this.#received)); this.#received++) {
      this.#early.delete(this.#received);
      this.#run?.output(next.stream, next.bytes);
    }
  }

  /** Ends the run if it has ended and all its output has arrived. */
  #settle() {
    const ended = this.#run?.ended;
    if (ended && this.#received >= ended.sent) this.#run.resolve(ended.result);
  }

  /**
   * Notes that a worker waits for a thread. For each program, only one waiting worker keeps a large
   * memory.
   */
  #freed(worker, large) {
    const others = [...this.#large.values()].flat();
    const [twice, once] = [large.filter((n) => others.includes(n)), large.filter((n) => !others.includes(n))];
    for (const program of twice) worker.postMessage({ type: 'drop', program });
    this.#large.set(worker, once);
    this.#free.push(worker);
  }

  /**
   * Takes a waiting worker, if there is one: preferably one that has a memory for the program
   * ready, otherwise preferably one without a memory for another program.
   */
  #take(program) {
    const has = (worker) => this.#large.get(worker) ?? [];
    let at = this.#free.findLastIndex((worker) => has(worker).includes(program));
    if (at < 0) at = this.#free.findLastIndex((worker) => has(worker).length === 0);
    // If there is no such worker, `at` is -1, which means the last one.
    const [worker] = this.#free.splice(at, 1);
    this.#large.delete(worker);
    return worker;
  }

  /** Gives a thread of the kernel a worker. */
  async #begin({ tid, argument, program }) {
    const worker = this.#take(program) ?? (await (this.#coming.shift() ?? this.#make()));
    worker.postMessage({ type: 'thread', tid, argument, modules: this.#modules, lengths: this.#lengths });
  }

  /**
   * Ends the guest in a slot, if it is still the same one and runs its own code. Otherwise the
   * kernel ends it.
   */
  #end(slot, generation) {
    if (this.#isClosed) return;
    const running = this.#running.get(slot);
    if (running?.generation !== generation) {
      // The worker has not reported this guest yet, or the guest has ended. The kernel requests
      // this again until it has.
      return;
    }
    const words = new Int32Array(this.#memory.buffer, this.#slots, slot + 1);
    const [guest, taken] = [(generation << 2) | GUEST, (generation << 2) | TAKEN];
    if (Atomics.compareExchange(words, slot, guest, taken) !== guest) return;
    this.#running.delete(slot);
    this.#terminate(running.worker)
      .then(() => this.ask('reap', { slot }))
      .catch(() => {});
  }

  /**
   * Ends the waiting workers. The memories of their former guests stay until the garbage collector
   * of the worker runs, and engines have room for only about a hundred memories.
   */
  async #makeRoom() {
    await new Promise((resolve) => setTimeout(resolve, COMING));
    this.#large.clear();
    await Promise.all(this.#free.splice(0).map((worker) => this.#terminate(worker)));
  }

  /** Ends a worker that posts nothing more, after all its messages were heard. */
  async #terminate(worker) {
    const count = this.#all.get(worker);
    if (count.heard < Atomics.load(count.posted, 0)) {
      await new Promise((resolve) => (count.allHeard = resolve));
    }
    this.#all.delete(worker);
    await worker.terminate();
  }
}

function pageUrl() {
  return globalThis.location?.href ?? import.meta.url;
}
