// One thread of the kernel. The worker has an instance of the kernel's module on the shared memory,
// and an instance of the guest whose process it runs, which has a separate memory. The first worker
// runs no guest; it answers the page.
//
// A worker that waits in the kernel receives no messages, so the message that starts it contains
// all that it needs.

import { listen, load, post as postUncounted } from './engine.js';
import { Dirty } from './dirty.js';

/** The indexes in `control` at which threads and messages of output are counted. */
const THREADS = 0;
const SENT = 1;
const BADF = 8;
const NOSYS = 52;
/** `ffi::Ran::Cannot` of the kernel. */
const CANNOT = 255;

let memory;
let control;
/**
 * The number of messages that this worker has posted, shared with the page. Browsers drop messages
 * of a worker that is terminated before they have arrived.
 */
let posted;
let modules = [];
/** The number of bytes of each program that is not in `modules`. */
let lengths = [];
/** The programs that the page gives to all workers that begin from now on. */
const ready = new Set();
let kernel;
/** The guest that runs here or waits for its next cell, and the dirty parts of its memory. */
let guest = null;
let dirty = null;
/**
 * For each program, a guest that has ended here and was reset to the initial state of a process.
 * The next process of the program uses it.
 */
const spares = new Map();
/**
 * The size in bytes from which a spare guest's memory is large. For each program, only one of the
 * waiting workers keeps a large one.
 */
const LARGE = 32 << 20;
/** The program that the next thread will run. */
let wanted;
/** The export of a guest for each entry (`ffi::run`). */
const ENTRIES = ['_start', 'wasibox_resume', 'wasibox_prepare', 'wasibox_cell'];
/** The size of a WebAssembly page in bytes. */
const PAGE = 65536;

function post(message, transfer) {
  Atomics.add(posted, 0, 1);
  postUncounted(message, transfer);
}

/** The kernel's memory, which never grows (`runner/web/src/heap.rs`), as bytes and as numbers. */
let kernelBytes;
let view;

// A guest's memory can grow, so each use asks for its view.
let guestView = new Uint8Array(0);
function guestBytes() {
  const { buffer } = guest.exports.memory;
  if (guestView.buffer !== buffer) guestView = new Uint8Array(buffer);
  return guestView;
}

/** The pieces of a snapshot that the kernel has handed out so far. */
let pieces = [];

/** The number of bytes up to which a loop is faster than `set`. */
const FEW = 16;

function copy(from, at, to, into, length) {
  if (length <= FEW) for (let i = 0; i < length; i++) to[into + i] = from[at + i];
  else to.set(from.subarray(at, at + length), into);
}

/**
 * Returns the signal that a native program would have got for a trap. Engines distinguish traps
 * only by the text of the error.
 */
function signalOf(error) {
  const text = String(error?.message ?? error);
  if (error instanceof RangeError || /call stack|recursion/i.test(text)) return 11;
  if (/unreachable/i.test(text)) return 6;
  if (/divi|overflow|unrepresentable|conversion/i.test(text)) return 8;
  if (/signature|null function|indirect|table|undefined element/i.test(text)) return 4;
  if (/bounds|unaligned/i.test(text)) return 11;
  return 6;
}

const host = {
  guest_size: () => (guest ? guestBytes().length : 0),
  guest_read(at, to, length) {
    [at, to, length] = [at >>> 0, to >>> 0, length >>> 0];
    copy(guestBytes(), at, kernelBytes, to, length);
  },
  guest_write(at, from, length) {
    [at, from, length] = [at >>> 0, from >>> 0, length >>> 0];
    copy(kernelBytes, from, guestBytes(), at, length);
  },
  guest_signal(signal) {
    const handler = guest.exports.__wasm_signal;
    if (!handler) return 1;
    return unwound(() => handler(signal)) === null ? 0 : 2;
  },
  guest_begin(program, from, length, at, size, mayBeSpare) {
    [from, length, at, size] = [from >>> 0, length >>> 0, at >>> 0, size >>> 0];
    host.forget_guest();
    const isPrepared = size > 0;
    if (mayBeSpare && takeSpare(program, isPrepared)) return 1;
    if (!begin(program)) return 0;
    if (!isPrepared) return 1;
    const begins = guestBytes().length;
    if (!host.guest_grow(size)) return 0;
    const bytes = guestBytes();
    bytes.fill(0, 0, at);
    bytes.set(kernelBytes.subarray(from, from + length), at);
    bytes.fill(0, at + length, Math.max(begins, at + length));
    return 1;
  },
  guest_can_begin_again: () => (guest?.stack !== undefined ? 1 : 0),
  guest_can_be_prepared: () => (guest?.exports.wasibox_prepare ? 1 : 0),
  guest_begin_again(from, length, at, size, isPrepared) {
    [from, length, at] = [from >>> 0, length >>> 0, at >>> 0];
    // The guest may have begun without prepared memory, before the memory was prepared.
    if (!host.guest_grow(size)) return host.forget_guest();
    const bytes = guestBytes();
    bytes.fill(0, 0, at);
    bytes.set(kernelBytes.subarray(from, from + length), at);
    bytes.fill(0, at + length);
    guest.exports.__stack_pointer.value = guest.stack;
    spares.set(guest.program, { ...guest, isPrepared: Boolean(isPrepared), size: bytes.length });
    return host.forget_guest();
  },
  make_room: () => void asked({ type: 'makeRoom' }),
  guest_grow(size) {
    const more = Math.ceil(((size >>> 0) - guestBytes().length) / PAGE);
    try {
      if (more > 0) guest.exports.memory.grow(more);
      return 1;
    } catch {
      return 0;
    }
  },
  guest_settle() {
    dirty ??= new Dirty(guest.exports.memory);
    dirty.settle();
  },
  guest_changed(to, most) {
    const changed = dirty.changed().subarray(0, most >>> 0);
    new Uint32Array(memory.buffer, to >>> 0, changed.length).set(changed);
    return changed.length;
  },
  run(entry, kind, slot, generation) {
    post({ type: 'running', slot, generation });
    const call = guest.exports[ENTRIES[entry]];
    if (!call) return BigInt(-CANNOT);
    let returned;
    const error = unwound(() => (returned = call(kind)));
    return ran(error, returned);
  },
  forget_guest() {
    [guest, dirty] = [null, null];
    guestView = new Uint8Array(0);
  },
  output(stream, from, length) {
    [from, length] = [from >>> 0, length >>> 0];
    const bytes = kernelBytes.slice(from, from + length);
    const number = Atomics.add(control, SENT, 1);
    post({ type: 'output', number, stream, bytes }, [bytes.buffer]);
  },
  exported(from, length) {
    [from, length] = [from >>> 0, length >>> 0];
    pieces.push(kernelBytes.slice(from, from + length));
  },
  input_wake: () => post({ type: 'room' }),
  done(from, length) {
    const result = text(kernelBytes.slice(from, from + length));
    post({ type: 'done', result, sent: Atomics.load(control, SENT) });
  },
  interrupt: (slot, generation) => post({ type: 'interrupt', slot, generation }),
  fetch: (part, to, length) => asked({ type: 'fetch', part, to: to >>> 0, length: length >>> 0 }),
  need(program) {
    if (modules[program] || ready.has(program)) return 0;
    const failed = asked({ type: 'need', program });
    if (!failed) ready.add(program);
    return failed;
  },
  kept(program, fetches) {
    const reply = new Int32Array(new SharedArrayBuffer(8));
    asked({ type: 'kept', program, fetches: Boolean(fetches) }, reply);
    return reply[1];
  },
  take_kept: (program, to, length) => asked({ type: 'takeKept', program, to: to >>> 0, length: length >>> 0 }),
  keep(program, from, length, about, size) {
    [from, length, about, size] = [from >>> 0, length >>> 0, about >>> 0, size >>> 0];
    const bytes = new Uint8Array(length + size);
    bytes.set(kernelBytes.subarray(from, from + length));
    bytes.set(kernelBytes.subarray(about, about + size), length);
    post({ type: 'keep', program, bytes }, [bytes.buffer]);
  },
  request(number, at, length, from, size) {
    [at, length, from, size] = [at >>> 0, length >>> 0, from >>> 0, size >>> 0];
    const asked = JSON.parse(text(kernelBytes.slice(at, at + length)));
    const body = kernelBytes.slice(from, from + size);
    post({ type: 'request', number: number >>> 0, asked, body }, [body.buffer]);
  },
  request_read: (number) => post({ type: 'requestRead', number: number >>> 0 }),
  request_close: (number) => post({ type: 'requestClose', number: number >>> 0 }),
  programs: () => modules.reduce((bits, module, n) => (module && n < 32 ? bits | (1 << n) : bits), 0),
  spares: () => [...spares.keys()].reduce((bits, n) => (n < 32 ? bits | (1 << n) : bits), 0),
  wants: (program) => (wanted = program),
};

/** Returns the result of `run`: the guest's own result, or the negative number of a signal. */
const ran = (error, returned) => BigInt(error === null ? (returned ?? 0) >>> 0 : -signalOf(error));

/**
 * Does what `run` does, on a stack that the engine makes for code that can be suspended (JSPI).
 * Chromium makes such stacks larger than those of workers. The guest itself is never suspended.
 * Only the kernel's frames that have called this are, while the guest runs.
 */
async function runOnOwnStack(entry, kind, slot, generation) {
  post({ type: 'running', slot, generation });
  const call = guest.exports[ENTRIES[entry]];
  if (!call) return BigInt(-CANNOT);
  const pointer = kernel.exports.__stack_pointer;
  const before = pointer.value;
  try {
    return ran(null, await WebAssembly.promising(call)(kind));
  } catch (error) {
    pointer.value = before;
    return ran(error ?? new Error('unknown'));
  }
}

/**
 * Takes a spare guest of a program as the guest. Returns false if there is none that begins as
 * asked, with prepared memory or without.
 */
function takeSpare(program, isPrepared) {
  const spare = spares.get(program);
  spares.delete(program);
  if (spare?.isPrepared !== isPrepared) return false;
  guest = spare;
  return true;
}

/**
 * Has the page do something and waits for it. Returns 0 if the page has done it, else 1. Further
 * results follow the first word of `flag`.
 */
function asked(message, flag = new Int32Array(new SharedArrayBuffer(4))) {
  post({ ...message, flag });
  Atomics.wait(flag, 0, 0);
  return Atomics.load(flag, 0) === 1 ? 0 : 1;
}

/**
 * Returns the module of a program that this worker was not given when it began, or undefined. No
 * message with the module can reach the worker now, so it gets the bytes and compiles them.
 */
function late(program) {
  if (lengths[program] === undefined) return undefined;
  const bytes = new Uint8Array(new SharedArrayBuffer(lengths[program]));
  if (asked({ type: 'bytes', part: program, bytes })) return undefined;
  // Engines do not compile from shared memory, so the bytes are copied.
  return (modules[program] = new WebAssembly.Module(bytes.slice()));
}

/**
 * Makes the guest, an instance of a program of the image. Returns false if there is no such program
 * or no room for it.
 */
function begin(program) {
  try {
    const module = modules[program] ?? late(program);
    if (!module) return false;
    const { exports } = new WebAssembly.Instance(module, importsOf(module));
    // Our modules have all their state in memory, except this global. An instance that does not
    // export it serves only one process.
    guest = { program, exports, stack: exports.__stack_pointer?.value };
    return true;
  } catch {
    return false;
  }
}

/**
 * Calls a guest. Returns the error that has ended it, or null. A trap skips the kernel's frames, so
 * the kernel's stack pointer is reset after it.
 */
function unwound(call) {
  const pointer = kernel.exports.__stack_pointer;
  const before = pointer.value;
  try {
    call();
    return null;
  } catch (error) {
    pointer.value = before;
    return error ?? new Error('unknown');
  }
}

/**
 * The imports for each guest's module, which are exports of the kernel. Functions that the kernel
 * does not have return ENOSYS.
 */
const known = new Map();
function importsOf(module) {
  let imports = known.get(module);
  if (imports) return imports;
  imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind !== 'function') continue;
    const exits = /^(proc_exit2?|thread_exit)$/.test(name);
    const call = exits ? kernel.exports.wasibox_exit : kernel.exports[`${from}.${name}`];
    (imports[from] ??= {})[name] = call ?? (() => NOSYS);
  }
  known.set(module, imports);
  return imports;
}

const nanoseconds = () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6));

/** Sleeps for `ns` nanoseconds. A worker may block. */
function sleep(ns) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ns) / 1e6);
}

/** The functions of WASI that Rust's standard library needs for the kernel itself. */
const wasi = {
  random_get(at, length) {
    [at, length] = [at >>> 0, length >>> 0];
    // `getRandomValues` refuses shared memory, and more than 65536 bytes at once.
    const some = new Uint8Array(Math.min(length, 65536));
    for (let done = 0; done < length; done += some.length) {
      crypto.getRandomValues(some);
      kernelBytes.set(some.subarray(0, Math.min(some.length, length - done)), at + done);
    }
    return 0;
  },
  clock_time_get(_clock, _precision, out) {
    view.setBigUint64(out >>> 0, nanoseconds(), true);
    return 0;
  },
  environ_sizes_get(count, size) {
    view.setUint32(count >>> 0, 0, true);
    view.setUint32(size >>> 0, 0, true);
    return 0;
  },
  environ_get: () => 0,
  sched_yield: () => 0,
  fd_prestat_get: () => BADF,
  poll_oneoff(subscriptions, events, count, out) {
    // Only `std::thread::sleep` calls this, with one clock.
    const [from, to] = [subscriptions >>> 0, events >>> 0];
    if (count !== 1 || view.getUint8(from + 8) !== 0) return NOSYS;
    const time = view.getBigUint64(from + 24, true);
    const isAbsolute = view.getUint16(from + 40, true) & 1;
    const left = isAbsolute ? time - nanoseconds() : time;
    if (left > 0n) sleep(left);
    kernelBytes.fill(0, to, to + 32);
    view.setBigUint64(to, view.getBigUint64(from, true), true);
    view.setUint32(out >>> 0, 1, true);
    return 0;
  },
  fd_write(_fd, vectors, count, out) {
    // This is the message of a panic in the kernel.
    let all = 0;
    let text = '';
    for (let i = 0; i < count; i++) {
      const at = view.getUint32((vectors >>> 0) + i * 8, true);
      const length = view.getUint32((vectors >>> 0) + i * 8 + 4, true);
      text += new TextDecoder().decode(kernelBytes.slice(at, at + length));
      all += length;
    }
    post({ type: 'log', text });
    view.setUint32(out >>> 0, all, true);
    return 0;
  },
  proc_exit(code) {
    throw new Error(`the kernel has ended: ${code}`);
  },
};

/** Whether guests are run by `runOnOwnStack`. */
let hasOwnStacks = false;

function instantiate(module) {
  const absent = { get: (calls, name) => calls[name] ?? (() => NOSYS) };
  const spawn = (argument) => {
    const tid = Atomics.add(control, THREADS, 1);
    post({ type: 'thread', tid, argument, program: wanted });
    return tid;
  };
  kernel = new WebAssembly.Instance(module, {
    env: { memory },
    host: hasOwnStacks ? { ...host, run: new WebAssembly.Suspending(runOnOwnStack) } : host,
    wasi: { 'thread-spawn': spawn },
    wasi_snapshot_preview1: new Proxy(wasi, absent),
  });
}

/**
 * A module with one function, which counts its calls in a global and calls itself:
 * `(func $f (global.set ...) (call $f))`.
 */
const PROBE = [
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 6, 6, 1, 127, 1, 65, 0, 11],
  ...[7, 9, 2, 1, 102, 0, 0, 1, 100, 3, 0, 10, 13, 1, 11, 0, 35, 0, 65, 1, 106, 36, 0, 16, 0, 11],
];
/**
 * The size in bytes of a frame of that function in V8 and SpiderMonkey: the return address, the
 * frame pointer, the instance and the mark of the kind of frame.
 */
const FRAME = 48;
/**
 * The fraction of the stack that is reported to guests. It is not the whole stack, because code
 * that is not optimised yet has larger frames than the native runner's.
 */
const TOLD = 5 / 8;
/** The factor by which separate stacks must be larger than the workers' to be used. */
const WORTH = 1.25;

/**
 * The number of measurements. Firefox optimises a module while it already runs, and the new frames
 * have a sixth of the size. Some of the measurements still see the code that is not optimised.
 */
const LOOKS = 16;

/**
 * Returns how deep a function can call itself in code that is not optimised. `by` returns the
 * function that makes the first call.
 */
async function depth(by) {
  let least = Infinity;
  for (let n = 0; n < LOOKS; n++) {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(PROBE)));
    try {
      await by(exports.f)();
    } catch {
      // The stack is used up, as intended.
    }
    least = Math.min(least, exports.d.value);
  }
  return least;
}

/** The promise of `stacks`. */
let probed;

/**
 * Returns how many bytes of stack guests have, in the unit of `box_abi::STACK`, and whether they
 * run on separate stacks (`runOnOwnStack`).
 */
async function stacks() {
  const workers = await depth((f) => f);
  const own = WebAssembly.Suspending ? await depth(WebAssembly.promising) : 0;
  const areOwn = own > workers * WORTH;
  return { bytes: Math.floor((areOwn ? own : workers) * FRAME * TOLD), areOwn };
}

/** Copies bytes to the kernel. Returns their address and length, as arguments for an export. */
function give(bytes) {
  const at = kernel.exports.wasibox_alloc(bytes.length) >>> 0;
  if (at === 0) throw new Failed({ kind: 'conflict', text: `the session has no memory for ${bytes.length} bytes` });
  kernelBytes.set(bytes, at);
  return [at, bytes.length];
}

function answer(length) {
  const at = kernel.exports.wasibox_answer() >>> 0;
  return kernelBytes.slice(at, at + length);
}

const text = (bytes) => new TextDecoder().decode(bytes);
const encode = (string) => new TextEncoder().encode(string);

/** Returns the bytes that an export has replied (`ffi::reply`), or throws the failure. */
function reply(length) {
  const n = Number(length);
  if (n >= 0) return answer(n);
  throw new Failed(JSON.parse(text(answer(-n - 1))));
}

/** A failure that the kernel has reported: its kind, its text and for some a code. */
class Failed extends Error {
  constructor(reported) {
    super(reported.text);
    this.reported = reported;
  }
}

/** Opens a whole image, and compiles its programs. */
async function boot(bytes) {
  const { bytes: stack, areOwn } = await probed;
  kernel.exports._initialize();
  const wrong = kernel.exports.wasibox_boot(...give(bytes), stack);
  if (wrong > 0) throw new Error(text(answer(wrong)));
  const compiled = [];
  for (let n = 0; ; n++) {
    const length = kernel.exports.wasibox_program_name(n);
    if (length === 0) break;
    const size = kernel.exports.wasibox_program_len(n) >>> 0;
    const at = kernel.exports.wasibox_program_at(n) >>> 0;
    compiled.push(WebAssembly.compile(kernelBytes.slice(at, at + size)));
  }
  return { modules: await Promise.all(compiled), ...booted(areOwn) };
}

/** Returns the facts that the page needs about a kernel that has opened an image. */
const booted = (hasOwnStacks) => ({
  slots: kernel.exports.wasibox_slots() >>> 0,
  heap: kernel.exports.wasibox_heap() >>> 0,
  hasOwnStacks,
});

/** Opens an image whose parts are fetched by the page. */
async function bootParts(catalog) {
  const { bytes: stack, areOwn } = await probed;
  kernel.exports._initialize();
  const wrong = kernel.exports.wasibox_boot_parts(...give(catalog), stack);
  if (wrong > 0) throw new Error(text(answer(wrong)));
  return booted(areOwn);
}

/** The functions of the first worker that the page can call, by the type of the message. */
const answers = {
  boot: ({ image }) => boot(image),
  bootParts: ({ catalog }) => bootParts(catalog),
  run({ asked }) {
    if (!kernel.exports.wasibox_run(...give(encode(JSON.stringify(asked))))) throw new Error('no worker can be started');
  },
  input: ({ bytes }) => kernel.exports.wasibox_input(...give(bytes)) >>> 0,
  inputEnd: () => kernel.exports.wasibox_input_end(),
  resize: ({ rows, columns }) => kernel.exports.wasibox_resize(rows, columns),
  shown: ({ bytes }) => kernel.exports.wasibox_shown(bytes),
  interrupt: ({ byTimeout }) => kernel.exports.wasibox_interrupt(byTimeout ? 1 : 0),
  reap: ({ slot }) => kernel.exports.wasibox_reap(slot),
  prepareByItself: () => kernel.exports.wasibox_prepare_by_itself(),
  network: ({ network }) => void reply(kernel.exports.wasibox_network(...give(encode(JSON.stringify(network))))),
  responded: ({ number, got }) => kernel.exports.wasibox_responded(number, ...give(encode(JSON.stringify(got)))),
  received: ({ number, bytes }) => kernel.exports.wasibox_received(number, ...give(bytes)),
  writeFile: ({ path, bytes, commit }) => {
    reply(kernel.exports.wasibox_write_file(...give(encode(path)), ...give(bytes), commit ? 1 : 0));
  },
  isComplete: ({ script }) => kernel.exports.wasibox_is_complete(...give(encode(script))) !== 0,
  readFile: ({ path }) => reply(kernel.exports.wasibox_read_file(...give(encode(path)))),
  past: ({ request }) => JSON.parse(text(reply(kernel.exports.wasibox_past(...give(encode(JSON.stringify(request))))))),
  export({ all }) {
    pieces = [];
    reply(kernel.exports.wasibox_export(all ? 1 : 0));
    const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
    pieces.reduce((at, piece) => (whole.set(piece, at), at + piece.length), 0);
    pieces = [];
    return whole;
  },
  import: ({ bytes, isFork }) => void reply(kernel.exports.wasibox_import(...give(bytes), isFork ? 1 : 0)),
  record: () => reply(kernel.exports.wasibox_record()),
  replay: ({ bytes }) => Number(text(reply(kernel.exports.wasibox_replay(...give(bytes))))),
  files: ({ request }) => JSON.parse(text(reply(kernel.exports.wasibox_files(...give(encode(JSON.stringify(request))))))),
};

async function onMessage(message) {
  if (message.type === 'probe') {
    probed = stacks();
  } else if (message.type === 'start') {
    ({ memory, control, posted, hasOwnStacks } = message);
    kernelBytes = new Uint8Array(memory.buffer);
    view = new DataView(memory.buffer);
    instantiate(message.kernel);
    post({ type: 'ready' });
  } else if (message.type === 'thread') {
    ({ modules, lengths } = message);
    const start = kernel.exports.wasi_thread_start;
    await (hasOwnStacks ? WebAssembly.promising(start) : start)(message.tid, message.argument);
    const large = [...spares.values()].filter(({ size }) => size >= LARGE).map(({ program }) => program);
    post({ type: 'free', large });
  } else if (message.type === 'drop') {
    spares.delete(message.program);
  } else {
    const { id, type } = message;
    try {
      post({ type: 'answer', id, value: await answers[type](message) });
    } catch (error) {
      const reported = error.reported ?? { kind: 'internal', text: String(error?.message ?? error) };
      post({ type: 'answer', id, error: reported });
    }
  }
}

listen(onMessage);
