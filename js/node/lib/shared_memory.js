// Memory that workers share. Processes have no memory in common, so each has a copy, and changes are
// exchanged where programs synchronise: with every message, and by the functions of `Atomics`. A
// message and a store send what this process has changed; a load first takes what has arrived. The
// other functions (`add`, `compareExchange` ...) are executed by the process that made the buffer.
// Programs without data races thus see what threads would see.
(function (native, host) {
'use strict';

const { valuesOf, keysOf } = host;
const { Uint8Array, Atomics } = globalThis;
const { min } = Math;
const KINDS = host.frameKinds;

// What is known of each shared buffer: `home` is the link to the process that made it, absent in
// that process; `places` has, by link, the buffer's number there and what the other side has.
const memories = new WeakMap();
// The memories of each link by their numbers.
const byLink = new WeakMap();
const known = (link) => byLink.get(link) ?? byLink.set(link, new Map()).get(link);

function addPlace(memory, link, id) {
  memory.places.set(link, { id, seen: new Uint8Array(memory.buffer).slice() });
  known(link).set(id, memory);
}

function record(buffer, home) {
  const memory = { buffer, home, places: new Map() };
  memories.set(buffer, memory);
  install();
  return memory;
}

// Returns the number of a buffer at a link, and sends the buffer if it is new there.
function share(link, buffer) {
  const memory = memories.get(buffer) ?? record(buffer);
  let place = memory.places.get(link);
  if (place === undefined) {
    const id = link.nextNumber();
    const bytes = new Uint8Array(buffer).slice();
    link.send(KINDS.MEMORY, id, { bytes, most: buffer.growable ? buffer.maxByteLength : undefined });
    addPlace(memory, link, id);
    place = memory.places.get(link);
  }
  return place.id;
}

// Sends the changes of all memories that the other side of a link has. They are one frame, because no
// one may see a part of them: the last may be that of a lock.
function release(link) {
  const all = [];
  known(link).forEach((memory) => {
    const place = memory.places.get(link);
    const now = new Uint8Array(memory.buffer);
    if (now.length > place.seen.length) {
      const longer = new Uint8Array(now.length);
      longer.set(place.seen);
      place.seen = longer;
    }
    const ranges = native.differences(now, place.seen);
    for (let i = 0; i < ranges.length; i += 2) {
      const from = ranges[i];
      const bytes = now.slice(from, ranges[i + 1]);
      place.seen.set(bytes, from);
      all.push({ id: place.id, from, bytes, length: now.length });
    }
  });
  if (all.length > 0) link.send(KINDS.UPDATE, 0, all);
}

const releaseAll = (memory) => keysOf(memory.places).forEach(release);
const acquire = () => valuesOf(host.links).forEach((link) => link.receive());

// --- frames ------------------------------------------------------------------------------------------

// Who waits here for a notification, at a position in bytes.
const waiters = new Set();
const positionOf = (view, index) => view.byteOffset + index * view.BYTES_PER_ELEMENT;

// Wakes waiters of this process, and returns their number.
function wake(buffer, position, most = Infinity) {
  let woken = 0;
  waiters.forEach((waiter) => {
    if (woken >= most || waiter.buffer !== buffer || waiter.position !== position) return;
    woken++;
    waiters.delete(waiter);
    waiter.wake();
  });
  return woken;
}

// Makes the changes of the other side, and passes them on.
function update(link, all) {
  const others = new Set();
  all.forEach(({ id, from, bytes, length }) => {
    const memory = known(link).get(id);
    if (memory === undefined) return;
    if (memory.buffer.growable && length > memory.buffer.byteLength) memory.buffer.grow(length);
    new Uint8Array(memory.buffer).set(bytes, from);
    const place = memory.places.get(link);
    if (from + bytes.length <= place.seen.length) place.seen.set(bytes, from);
    memory.places.forEach((_, one) => { if (one !== link) others.add(one); });
  });
  others.forEach((one) => release(one));
}

function take(link, kind, number, value) {
  if (kind === KINDS.MEMORY) {
    const { bytes, most } = value;
    const buffer = new SharedArrayBuffer(bytes.length, most === undefined ? undefined : { maxByteLength: most });
    new Uint8Array(buffer).set(bytes);
    addPlace(record(buffer, link), link, number);
    return;
  }
  if (kind === KINDS.REPLY) {
    link.replies.set(number, value);
    return;
  }
  if (kind === KINDS.UPDATE) {
    update(link, value);
    return;
  }
  const memory = known(link).get(number);
  if (memory === undefined) return;
  const others = keysOf(memory.places).filter((one) => one !== link);
  if (kind === KINDS.WAKE) {
    wake(memory.buffer, value);
    others.forEach((one) => one.send(KINDS.WAKE, memory.places.get(one).id, value));
  } else if (kind === KINDS.REQUEST) {
    const { view, offset, length, name, words, ticket } = value;
    const result = Atomics[name](new globalThis[view](memory.buffer, offset, length), ...words);
    release(link);
    link.send(KINDS.REPLY, ticket, { result });
  }
}

// Tells a reader the memories of a link.
function introduce(link, reader) {
  byLink.get(link)?.forEach((memory, id) => reader.transferArrayBuffer(id, memory.buffer));
}

host.sharedMemory = { share, release, take, introduce };

// --- Atomics -------------------------------------------------------------------------------------------

const own = { ...Object.getOwnPropertyDescriptors(Atomics) };
const original = (name) => own[name].value;
const memoryOf = (view) => memories.get(view?.buffer);
const kindOf = (view) => Object.getPrototypeOf(view)?.constructor?.name;
let ticket = 0;

// Executes a function at the process that made the buffer.
function atHome(memory, name, view, words) {
  const { home } = memory;
  if (home === undefined) {
    acquire();
    const result = original(name)(view, ...words);
    releaseAll(memory);
    return result;
  }
  release(home);
  const number = ++ticket;
  const { id } = memory.places.get(home);
  home.send(KINDS.REQUEST, id, { view: kindOf(view), offset: view.byteOffset, length: view.length, name, words, ticket: number });
  home.receiveUntil(() => home.replies.has(number));
  const reply = home.replies.get(number);
  home.replies.delete(number);
  if (reply === undefined) throw new Error('the process that made this memory has ended');
  return reply.result;
}

const timeOf = (timeout) => timeout === undefined || Number.isNaN(Number(timeout)) ? Infinity : Number(timeout);

// `Atomics.waitAsync`, which the engine lacks.
function waitAsync(view, index, value, timeout) {
  const memory = memoryOf(view);
  if (memory !== undefined) {
    releaseAll(memory);
    acquire();
  }
  const state = original('wait')(view, index, value, 0);
  const time = timeOf(timeout);
  if (state === 'not-equal' || time <= 0) return { async: false, value: state };
  install();
  const { promise, resolve } = Promise.withResolvers();
  const { clearTimeout, setTimeout } = host.require('timers');
  let timer;
  const waiter = { buffer: view.buffer, position: positionOf(view, index), wake() {
    clearTimeout(timer);
    resolve('ok');
  } };
  waiters.add(waiter);
  if (time !== Infinity) {
    timer = setTimeout(() => {
      if (waiters.delete(waiter)) resolve('timed-out');
    }, time).unref();
  }
  return { async: true, value: promise };
}
Object.defineProperty(Atomics, 'waitAsync', { value: waitAsync, writable: true, enumerable: false, configurable: true });

function wait(memory, view, index, value, timeout) {
  releaseAll(memory);
  acquire();
  const state = original('wait')(view, index, value, 0);
  const time = timeOf(timeout);
  if (state === 'not-equal' || time <= 0) return state;
  let isWoken = false;
  const waiter = { buffer: view.buffer, position: positionOf(view, index), wake() { isWoken = true; } };
  waiters.add(waiter);
  const deadline = native.hrtime() / 1e6 + time;
  try {
    for (;;) {
      acquire();
      if (isWoken) return 'ok';
      const left = deadline - native.hrtime() / 1e6;
      if (left <= 0) return 'timed-out';
      native.poll(valuesOf(host.links).map((link) => link.readFd), [], left === Infinity ? -1 : left);
      host.keepSignals();
    }
  } finally {
    waiters.delete(waiter);
  }
}

const shared = {
  load(memory, view, ...words) {
    acquire();
    return original('load')(view, ...words);
  },
  store(memory, view, ...words) {
    const result = original('store')(view, ...words);
    releaseAll(memory);
    return result;
  },
  wait,
  notify(memory, view, index, count) {
    releaseAll(memory);
    const position = positionOf(view, index);
    memory.places.forEach(({ id }, link) => link.send(KINDS.WAKE, id, position));
    return min(memory.places.size, count ?? Infinity) + notifyHere(view, index, count);
  },
};
for (const name of ['add', 'and', 'compareExchange', 'exchange', 'or', 'sub', 'xor']) {
  shared[name] = (memory, view, ...words) => atHome(memory, name, view, words);
}

// Notifies waiters of this process, which wait by `waitAsync`.
function notifyHere(view, index, count) {
  original('notify')(view, index, count);
  return wake(view.buffer, positionOf(view, index), count ?? Infinity);
}

// Replaces the functions of `Atomics` when the first buffer is shared.
let isInstalled = false;
function install() {
  if (isInstalled) return;
  isInstalled = true;
  for (const name of Object.keys(shared)) {
    const inner = original(name);
    const { [name]: outer } = { [name](view, ...words) {
      const memory = memoryOf(view);
      if (memory !== undefined) return shared[name](memory, view, ...words);
      return name === 'notify' ? notifyHere(view, ...words) : inner(view, ...words);
    } };
    Object.defineProperty(outer, 'length', { value: inner.length, configurable: true });
    Object.defineProperty(Atomics, name, { ...own[name], value: outer });
  }
}
})
