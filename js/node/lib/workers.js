// Workers: the binding worker. A worker is a process of its own that runs this program, because a
// process has one thread. Ports of both processes are joined by a link: two pipes with frames, each
// of which is its length in four bytes and a text in V8's format (kind, number, value).
(function (native, host) {
'use strict';

const { valuesOf, portEnds: ends } = host;
const { Uint8Array } = globalThis;
const { min } = Math;
const { Serializer, Deserializer } = host.binding('serdes');
const { refuse, unlisted, isUncloneable } = host.cloneRefusals;

// The kinds of frames. The number is that of a port, or one of those in shared_memory.js.
const KINDS = { MESSAGE: 0, CLOSE: 1, CHANNEL: 2, MEMORY: 3, UPDATE: 4, WAKE: 5, REQUEST: 6, REPLY: 7, STATE: 8 };
// The maximum number of bytes of one read, and of a write to a pipe that has room (PIPE_BUF).
const PIECE = 65536;
const ATOMIC = 4096;
// The errors of a read or write that is to be tried again, because a signal has arrived.
const AGAIN = ['EINTR', 'EAGAIN'];
// The worker reads from its descriptor FD, and writes to the one UPWARD above it.
const FD = 3;
const UPWARD = 64;
// The environment variable that describes a worker to its own process.
const VARIABLE = 'NODE_WORKER';

const links = new Map();

// Writes a value with its ports, shared memory and objects of Node's classes.
class Writer extends Serializer {
  #link;
  #transfer;
  #moves = [];
  constructor(link, transfer) {
    super();
    this.#link = link;
    this.#transfer = transfer;
  }

  _getDataCloneError(message) { refuse(message); }
  _getSharedArrayBufferId(buffer) { return host.sharedMemory.share(this.#link, buffer); }

  #isTransferred(value) {
    return this.#transfer.includes(value) && typeof value[host.binding('symbols').messaging_transfer_symbol] === 'function';
  }
  _isHostObject(value) {
    const { messaging_clone_symbol: clone, messaging_transfer_symbol: transfer } = host.binding('symbols');
    if (host.wasmModules.is(value)) return true;
    if (isUncloneable(value)) refuse('Cannot clone object of unsupported type.');
    if (this.#isTransferred(value) || typeof value[clone] === 'function') return true;
    if (typeof value[transfer] === 'function') unlisted();
    return false;
  }
  _writeHostObject(value) {
    if (ends.has(value)) {
      if (!this.#transfer.includes(value)) unlisted();
      const number = this.#link.nextNumber();
      this.#moves.push({ port: value, number });
      this.writeUint32(0);
      this.writeUint32(number);
      return;
    }
    if (host.wasmModules.is(value)) {
      this.writeUint32(2);
      this.writeValue(host.wasmModules.bytesOf(value));
      return;
    }
    const { messaging_clone_symbol: clone } = host.binding('symbols');
    const { data, deserializeInfo } = this.#isTransferred(value) ? host.transferred(value, this.#transfer) : value[clone]();
    this.writeUint32(1);
    this.writeValue(deserializeInfo);
    this.writeValue(data);
  }

  // Returns a frame's text. The ports that the value does not contain follow it.
  pack(kind, number, value) {
    this.writeHeader();
    this.writeUint32(kind);
    this.writeUint32(number);
    this.writeValue(value);
    this.writeValue(this.#transfer.filter((one) => ends.has(one) && !this.#moves.some((move) => move.port === one)));
    return host.view(this.releaseBuffer());
  }

  // Takes what was transferred from this process.
  finish() {
    this.#transfer.forEach((one) => { if (host.types.isArrayBuffer(one)) one.transfer(); });
    this.#moves.forEach(({ port, number }) => this.#link.adopt(port, number));
  }
}

class Reader extends Deserializer {
  ports = [];
  #link;
  constructor(link, bytes) {
    super(bytes);
    this.#link = link;
    host.sharedMemory.introduce(link, this);
  }
  _readHostObject() {
    const kind = this.readUint32();
    if (kind === 2) return host.wasmModules.make(this.readValue());
    if (kind === 0) {
      const number = this.readUint32();
      const end = host.openPort({ link: this.#link, number });
      this.#link.ends.set(number, end);
      this.ports.push(end.port);
      return end.port;
    }
    const made = host.makeOf(this.readValue());
    made[host.binding('symbols').messaging_deserialize_symbol](this.readValue());
    return made;
  }
}

class Link {
  // The ends, and relays to other links, by the numbers of the ports at the other side.
  ends = new Map();
  replies = new Map();
  #readFd;
  #writeFd;
  #next;
  #closed = false;
  #ended;
  // The frames that wait for room in the pipe.
  #out = [];
  // The bytes of an incomplete frame.
  #in = [];
  #size = 0;

  // Numbers of new ports are even at one side and odd at the other. `ended` is called when the other
  // side is gone.
  constructor(readFd, writeFd, next, ended) {
    this.#readFd = readFd;
    this.#writeFd = writeFd;
    this.#next = next;
    this.#ended = ended;
    links.set(this, this);
    host.watch(readFd, this);
  }

  get readFd() { return this.#readFd; }
  get resource() { return 'MessagePort'; }
  // The ports keep the process alive, not the link.
  held = false;

  nextNumber() {
    this.#next += 2;
    return this.#next;
  }

  // --- sending -----------------------------------------------------------------------------------

  post(number, value, transfer) {
    const writer = new Writer(this, [...transfer]);
    // A worker counts the changes of its own directory.
    const isScript = number === 0 && value?.cwdCounter !== undefined;
    const body = writer.pack(KINDS.MESSAGE, number, isScript ? { ...value, cwdCounter: undefined } : value);
    host.sharedMemory.release(this);
    this.#send(body);
    writer.finish();
  }

  send(kind, number, value) { this.#send(new Writer(this, []).pack(kind, number, value)); }
  close(number) { this.send(KINDS.CLOSE, number); }

  #send(body) {
    if (this.#closed) return;
    const frame = new Uint8Array(4 + body.length);
    new DataView(frame.buffer).setUint32(0, body.length, true);
    frame.set(body, 4);
    this.#out.push({ frame, at: 0 });
    this.#write();
  }

  // Writes as much as there is room for.
  #write() {
    while (this.#out.length > 0) {
      if (native.poll([], [this.#writeFd], 0).length === 0) {
        host.watchWriting(this.#writeFd, this);
        return;
      }
      const first = this.#out[0];
      try {
        first.at += native.write(this.#writeFd, first.frame, first.at, min(ATOMIC, first.frame.length - first.at), -1);
      } catch (code) {
        // The other side is gone; the end of reading reports it.
        if (!AGAIN.includes(code)) this.#out.length = 0;
      }
      if (this.#out.length > 0 && first.at === first.frame.length) this.#out.shift();
    }
    host.unwatchWriting(this.#writeFd);
  }
  writable() { this.#write(); }

  // Writes everything, before the process ends.
  flush() {
    while (!this.#closed && this.#out.length > 0) {
      native.poll([], [this.#writeFd], -1);
      this.#write();
    }
  }

  // --- receiving ---------------------------------------------------------------------------------

  // Reads once; the loop calls this when there is something to read.
  readable() {
    const piece = new Uint8Array(PIECE);
    let n;
    try {
      n = native.read(this.#readFd, piece, 0, PIECE, -1);
    } catch (code) {
      if (AGAIN.includes(code)) return;
      n = 0;
    }
    if (n === 0) {
      this.end();
      this.#ended();
      return;
    }
    this.#in.push(piece.subarray(0, n));
    this.#size += n;
    this.#frames();
  }

  // Reads what is there, without waiting.
  receive() {
    while (!this.#closed && native.poll([this.#readFd], [], 0).length > 0) this.readable();
  }

  // Reads until a condition holds or the other side is gone.
  receiveUntil(holds) {
    while (!this.#closed && !holds()) {
      const ready = native.poll([this.#readFd], this.#out.length > 0 ? [this.#writeFd] : [], -1);
      host.keepSignals();
      if (ready.includes(this.#readFd)) this.readable();
      if (ready.includes(-1 - this.#writeFd)) this.#write();
    }
  }

  #frames() {
    for (;;) {
      if (this.#size < 4) return;
      if (this.#in[0].length < 4) this.#join();
      const length = new DataView(this.#in[0].buffer, this.#in[0].byteOffset).getUint32(0, true);
      if (this.#size < 4 + length) return;
      if (this.#in[0].length < 4 + length) this.#join();
      const body = this.#in[0].slice(4, 4 + length);
      this.#in[0] = this.#in[0].subarray(4 + length);
      this.#size -= 4 + length;
      if (this.#in[0].length === 0) this.#in.shift();
      this.#take(body);
    }
  }
  #join() {
    const all = new Uint8Array(this.#size);
    let at = 0;
    this.#in.forEach((piece) => {
      all.set(piece, at);
      at += piece.length;
    });
    this.#in = [all];
  }

  #take(body) {
    const reader = new Reader(this, body);
    reader.readHeader();
    const kind = reader.readUint32();
    const number = reader.readUint32();
    if (kind === KINDS.MESSAGE) {
      let entry;
      try {
        entry = { value: reader.readValue() };
        reader.readValue();
        entry.ports = reader.ports;
      } catch (error) {
        entry = { value: error, ports: [], type: 'messageerror' };
      }
      this.#deliver(number, entry);
      return;
    }
    const value = reader.readValue();
    if (kind === KINDS.CLOSE) this.#closeEnd(number);
    else if (kind === KINDS.CHANNEL) spread(value.name, value.value, this);
    else if (kind === KINDS.STATE) this.#takeState(value);
    else host.sharedMemory.take(this, kind, number, value);
  }

  // Takes what threads have in common apart from memory: the directory, the variables of SHARE_ENV, and
  // a request for the processor time.
  #takeState({ cwd, variable, cpu, usage }) {
    if (cwd !== undefined) {
      host.cwd = cwd;
      if (this.cwdCounter !== undefined) this.cwdCounter[0]++;
      host.announceDirectory(this);
    } else if (variable !== undefined) {
      host.assignVariable(variable, this);
    } else if (cpu !== undefined) {
      const values = new Float64Array(2);
      values.set(native.cpu());
      this.send(KINDS.STATE, 0, { usage: { cpu, values } });
    } else {
      this.replies.get(usage.cpu)?.(usage.values);
      this.replies.delete(usage.cpu);
    }
  }

  #deliver(number, entry) {
    const end = this.ends.get(number);
    if (end?.relay !== undefined) {
      end.relay.link.post(end.relay.number, entry.value, entry.ports);
    } else if (end !== undefined && !end.closed) {
      if (number === 0 && entry.value?.type === 'loadScript') {
        this.cwdCounter = new Uint32Array(new SharedArrayBuffer(4));
        entry.value.cwdCounter = this.cwdCounter;
      }
      end.queue.push(entry);
      host.portReady(end);
    }
  }

  #closeEnd(number) {
    const end = this.ends.get(number);
    this.ends.delete(number);
    if (end?.relay !== undefined) {
      end.relay.link.ends.delete(end.relay.number);
      end.relay.link.close(end.relay.number);
    } else if (end !== undefined) {
      end.peer = undefined;
      host.closeAfterMessages(end);
    }
  }

  // Lets the other side have the end of a port under a number.
  adopt(port, number) {
    const end = host.takeEnd(port);
    const { peer, queue } = end;
    queue.splice(0).forEach(({ value, ports, isLast }) => { if (!isLast) this.post(number, value, ports); });
    if (end.closed || peer === undefined) {
      this.close(number);
    } else if (peer.link !== undefined) {
      peer.link.ends.set(peer.number, { relay: { link: this, number } });
      this.ends.set(number, { relay: peer });
    } else {
      peer.peer = { link: this, number };
      this.ends.set(number, peer);
    }
  }

  // Closes the ports of the link, when the other side is gone.
  end() {
    if (this.#closed) return;
    this.#closed = true;
    links.delete(this);
    host.unwatch(this.#readFd);
    host.unwatchWriting(this.#writeFd);
    native.close(this.#readFd);
    native.close(this.#writeFd);
    host.keysOf(this.ends).forEach((number) => this.#closeEnd(number));
  }
}

// Passes a message to the channels of a name here and in other processes.
function spread(name, value, from) {
  host.broadcast(name, value);
  host.broadcastOutside(name, value, from);
}
host.broadcastOutside = (name, value, from) => {
  valuesOf(links).forEach((link) => { if (link !== from) link.send(KINDS.CHANNEL, 0, { name, value }); });
};

// Tells workers that the directory has changed.
host.announceDirectory = (from) => {
  valuesOf(links).forEach((link) => { if (link !== from && !link.isUpward) link.send(KINDS.STATE, 0, { cwd: host.cwd }); });
};

// Tells the processes that share the environment that a variable has changed, or was deleted.
host.announceVariable = (name, value, from) => {
  valuesOf(links).forEach((link) => { if (link !== from && link.sharesEnv) link.send(KINDS.STATE, 0, { variable: [name, value] }); });
};

host.links = links;
host.frameKinds = KINDS;

// --- the worker as its maker sees it ---------------------------------------------------------------

let lastThread = 0;
const running = new Map();

class Worker extends host.Framed {
  held = true;
  #env;
  #words;
  #limits;
  #link;
  #fds;
  #pid;
  #isStopped = false;
  #hasEnded = false;
  #asyncId;

  // `env` is null for a copy of this process's variables, and undefined if they are shared.
  constructor(_url, env, words, limits, _tracks, isInternal, name) {
    super();
    const wrong = words === undefined || words === null ? [] : host.invalidOptions(words.map(String));
    if (wrong.length > 0) this.invalidExecArgv = wrong;
    const { NODE_OPTIONS: options } = env ?? {};
    if (options !== undefined && options !== host.process.env.NODE_OPTIONS) {
      const refused = host.invalidNodeOptions(options);
      if (refused.length > 0) this.invalidNodeOptions = refused;
    }
    if ('invalidExecArgv' in this || 'invalidNodeOptions' in this) return;
    if (isInternal) throw new (host.require('internal/errors').codes.ERR_WORKER_UNSUPPORTED_OPERATION)('A thread for loader hooks');
    this.threadId = ++lastThread;
    this.threadName = name;
    this.#env = env ?? { ...host.process.env };
    this.#words = words?.map(String) ?? host.inheritedOptions(host.process.execArgv);
    this.#limits = [...limits];
    const [down, writer] = native.pipe();
    const [reader, up] = native.pipe();
    this.#fds = [FD, down, FD + UPWARD, up];
    this.#link = new Link(reader, writer, 0, () => {});
    this.#link.sharesEnv = env === undefined;
    const end = host.openPort({ link: this.#link, number: 0 });
    this.#link.ends.set(0, end);
    this.messagePort = end.port;
    this.#asyncId = host.emitInit('WORKER', this);
  }

  get resource() { return 'Worker'; }
  getAsyncId() { return this.#asyncId; }
  ref() { this.held = true; }
  unref() { this.held = false; }
  hasRef() { return this.#hasEnded ? undefined : this.held; }
  getResourceLimits() { return limitsOf(this.#limits); }
  loopStartTime() { return -1; }
  loopIdleTime() { return 0; }
  // Without an answer, the caller's promise is rejected.
  takeHeapSnapshot() {}
  getHeapStatistics() {}
  // The worker answers when it runs no code.
  cpuUsage() {
    if (this.#pid === undefined) return undefined;
    const taker = {};
    const number = this.#link.nextNumber();
    this.#link.replies.set(number, ([user, system]) => host.later(() => taker.ondone(null, { user, system })));
    this.#link.send(KINDS.STATE, 0, { cpu: number });
    return taker;
  }
  startCpuProfile() {}
  startHeapProfile() {}

  startThread() {
    const about = JSON.stringify({ id: this.threadId, name: this.threadName, limits: this.#limits, sharesEnv: this.#link.sharesEnv });
    const envPairs = [...Object.entries(this.#env).map(([name, value]) => `${name}=${value}`), `${VARIABLE}=${about}`];
    const file = host.process.execPath;
    const input = native.open('/dev/null', 2, 0);
    host.expectChild();
    try {
      this.#pid = host.startProgram({ file, args: [file, ...this.#words], envPairs }, [0, input, 1, 1, 2, 2, ...this.#fds]);
      running.set(this.#pid, this);
      host.watchChild(this.#pid, this);
    } catch (code) {
      if (typeof code !== 'string') throw code;
      this.#link.end();
      host.later(() => this.onexit?.(1, 'ERR_WORKER_INIT_FAILED', code));
    } finally {
      [input, this.#fds[1], this.#fds[3]].forEach((fd) => native.close(fd));
    }
  }

  stopThread() {
    this.#isStopped = true;
    this.kill();
  }
  kill() {
    try {
      if (this.#pid !== undefined) native.kill(this.#pid, 9);
    } catch {
      // The process has ended.
    }
  }

  ended(code, signal) {
    running.delete(this.#pid);
    this.#pid = undefined;
    this.#link.receive();
    this.#link.end();
    this.onexit?.(this.#isStopped || signal !== 0 ? 1 : code);
    this.#hasEnded = true;
    host.later(() => host.emitDestroy(this.#asyncId));
  }
}

// Returns the limits of a worker, for which the sandbox's limits hold in fact.
function limitsOf(given) {
  const usual = [0, host.addressable / 2 ** 20, 0, 4];
  return Float64Array.from(given, (limit, i) => limit > 0 ? limit : usual[i]);
}

// Ends workers when their maker ends, as threads end with their process, after what they were sent.
host.endWorkers = () => {
  valuesOf(links).forEach((link) => { if (link.isUpward) link.flush(); });
  valuesOf(running).forEach((worker) => worker.kill());
};
const { exit } = native;
native.exit = (code) => {
  host.endWorkers();
  exit(code);
};

// --- the worker as it sees itself --------------------------------------------------------------------

let envPort;
// The modules that keep whether they are in a worker. They may have been loaded during the
// preparation.
const AWARE = ['internal/worker', 'internal/worker/messaging', 'internal/util/trace_sigint', 'worker_threads'];

// Returns what the environment says of this process if it is a worker.
host.workerOf = (env) => env[VARIABLE] === undefined ? undefined : JSON.parse(env[VARIABLE]);

// Makes this process a worker, before its first code runs.
host.beginWorker = ({ id, name, limits, sharesEnv }) => {
  delete host.process.env[VARIABLE];
  lastThread = id * 1000;
  Object.assign(host.binding('worker'), {
    isMainThread: false, ownsProcessState: false, threadId: id, threadName: name, resourceLimits: limitsOf(limits),
  });
  // Without its maker a worker is of no use.
  const link = new Link(FD, FD + UPWARD, 1, () => { exit(1); });
  link.isUpward = true;
  link.sharesEnv = sharesEnv;
  const end = host.openPort({ link, number: 0 });
  link.ends.set(0, end);
  envPort = end.port;
  const { BuiltinModule } = host.require('internal/bootstrap/realm');
  AWARE.forEach((one) => Object.assign(BuiltinModule.map.get(one), { loaded: false, loading: false, exports: {} }));
  // The preparation was that of a main thread.
  for (const name of ['_startProfilerIdleNotifier', '_stopProfilerIdleNotifier', '_debugProcess', '_debugEnd']) delete host.process[name];
  host.runMain('internal/bootstrap/switches/is_not_main_thread');
  host.runMain('internal/bootstrap/switches/does_not_own_process_state');
};

host.bindings.worker = () => ({
  Worker,
  getEnvMessagePort: () => envPort,
  threadId: 0,
  threadName: '',
  isMainThread: true,
  isInternalThread: false,
  ownsProcessState: true,
  resourceLimits: new Float64Array(4),
  kMaxYoungGenerationSizeMb: 0,
  kMaxOldGenerationSizeMb: 1,
  kCodeRangeSizeMb: 2,
  kStackSizeMb: 3,
  kTotalResourceLimitCount: 4,
});
})
