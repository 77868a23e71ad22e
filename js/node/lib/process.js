// The process and the event loop: the bindings process_methods, timers, credentials, signal_wrap
// and os, and bindings that are fixed or absent.
(function (native, host) {
'use strict';

const { keysOf, valuesOf, someOf } = host;
const { ArrayBuffer, Uint8Array } = globalThis;
const { abs, floor, max, min } = Math;
const { frameOf } = host.Framed;

// --- the process object -------------------------------------------------------------------

const PLAIN = ['string', 'number', 'boolean'];
let deprecated = false;
function deprecate() {
  if (deprecated) return;
  deprecated = true;
  host.process.emitWarning(
    'Assigning any value other than a string, number, or boolean to a process.env property is deprecated. Please make sure to ' +
    'convert the value to a string before setting process.env with it.', 'DeprecationWarning', 'DEP0104');
}

// Returns the object `process.env`: values become texts, and a missing variable is undefined.
function environment(values) {
  return new Proxy(values, {
    set(target, key, value) {
      if (typeof key === 'symbol' || typeof value === 'symbol') {
        throw new TypeError('Cannot convert a Symbol value to a string');
      }
      if (!PLAIN.includes(typeof value) && host.binding('options').getCLIOptionsValues()['--pending-deprecation']) deprecate();
      target[key] = `${value}`;
      if (key === 'TZ') native.setZone(target.TZ);
      host.announceVariable(key, target[key]);
      return true;
    },
    deleteProperty(target, key) {
      delete target[key];
      if (key === 'TZ') native.setZone();
      host.announceVariable(key, undefined);
      return true;
    },
    defineProperty(target, key, descriptor) {
      // Node's C++ creates this error, so its library has no class for it.
      const refused = (message) => Object.assign(new TypeError(message), { code: 'ERR_INVALID_OBJECT_DEFINE_PROPERTY' });
      if (!('get' in descriptor || 'set' in descriptor)) {
        if (!descriptor.configurable || !descriptor.writable || !descriptor.enumerable) {
          throw refused("'process.env' only accepts a configurable, writable, and enumerable data descriptor");
        }
        target[key] = `${descriptor.value}`;
        if (key === 'TZ') native.setZone(target.TZ);
        return true;
      }
      throw refused("'process.env' does not accept an accessor(getter/setter) descriptor");
    },
  });
}

// Assigns a variable that another process of a shared environment has assigned.
host.assignVariable = ([name, value], from) => {
  if (value === undefined) delete host.environmentValues[name];
  else host.environmentValues[name] = value;
  if (name === 'TZ') native.setZone(value);
  host.announceVariable(name, value, from);
};

const versions = { ...host.tables.$versions };

host.makeProcess = function() {
  function process() {}
  const proto = Object.create(Object.prototype, {
    constructor: { value: process, writable: true, configurable: true, enumerable: false },
  });
  process.prototype = proto;
  const object = Object.create(proto);
  Object.defineProperty(object, Symbol.toStringTag, { value: 'process', configurable: true });
  object[host.privateSymbols.exit_info_private_symbol] = new Int32Array(3);
  object.version = `v${versions.node}`;
  object.versions = Object.freeze({
    ...versions, quickjs: '0.16.2', uv: '1.0.0', v8: '0.0.0-quickjs', zlib: '1.3.1', openssl: '3.5.0-rustcrypto',
  });
  object.arch = 'wasm32';
  object.platform = 'linux';
  object.release = { name: 'node', lts: 'Krypton' };
  object.moduleLoadList = [];
  object.execArgv = [];
  object.argv = ['node'];
  object.env = environment({});
  object.title = 'node';
  object.debugPort = 9229;
  object._rawDebug = (text) => host.writeError(`${text}\n`);
  host.process = object;
};

// Initialises the state of a process, each time one begins.
host.beginProcess = function(argv, execArgv) {
  host.begun = true;
  native.beginClock();
  host.seed(new Uint32Array(native.random(16)));
  const { process } = host;
  const values = {};
  const pairs = native.environ();
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]] = pairs[i + 1];
  host.environmentValues = values;
  process.env = environment(values);
  native.setZone(values.TZ);
  host.cwd = native.initialCwd();
  host.resetCwd?.();
  process.argv = argv;
  process.execArgv = execArgv;
  process.execPath = '/usr/bin/node';
  const [pid, ppid] = native.pids();
  for (const [name, value] of [['pid', pid], ['ppid', ppid]]) {
    Object.defineProperty(process, name, { value, writable: false, enumerable: true, configurable: true });
  }
  host.started = native.now();
  host.origin = native.hrtime();
};

host.writeError = function(text) {
  const bytes = new Uint8Array(native.encode(text, 'utf8'));
  const length = host.lengthOf(bytes);
  try {
    for (let at = 0; at < length;) at += native.write(2, bytes, at, length - at, -1);
  } catch {
    // There is nowhere else to report the error.
  }
};

function chdir(path) {
  const target = host.absolute(path);
  let real;
  try {
    const stat = native.stat(target, true);
    if ((stat[1] & 0o170000) !== 0o040000) throw 'ENOTDIR';
    real = native.realpath(target);
  } catch (code) {
    const error = host.uvException(code, 'chdir', host.cwd, path);
    error.message = `${code}: ${host.require('internal/util').getSystemErrorMessage?.(error.errno) ?? error.message}, chdir ${host.cwd} -> '${path}'`;
    throw error;
  }
  host.cwd = real;
  host.announceDirectory();
}

// The highest number of a signal on Linux.
const LAST_SIGNAL = 64;

// The number of bytes that a program can address. The command `free` prints it, too.
host.addressable = 2 ** 32;

host.bindings.process_methods = (table) => {
  const time = table.hrtimeBuffer;
  const big = new BigUint64Array(time.buffer, 0, 1);
  const cpuUsage = (values) => { values.set(native.cpu()); };
  return {
    hrtime() {
      const ns = BigInt(floor(native.hrtime()) + 1e9);
      const seconds = Number(ns / 1000000000n);
      time[0] = floor(seconds / 0x100000000);
      time[1] = seconds >>> 0;
      time[2] = Number(ns % 1000000000n);
    },
    hrtimeBigInt() { big[0] = BigInt(floor(native.hrtime()) + 1e9); },
    cwd: () => host.cwd,
    chdir,
    umask: (mask) => native.umask(mask === undefined ? -1 : mask),
    memoryUsage(values) {
      // Buffers are in the engine's heap, so no memory is external.
      values.fill(0);
      values.set(native.memory());
    },
    rss: native.resident,
    constrainedMemory: () => host.addressable,
    availableMemory: () => host.addressable - native.resident(),
    cpuUsage,
    threadCpuUsage: cpuUsage,
    resourceUsage: cpuUsage,
    _getActiveRequests: () => valuesOf(host.requests),
    _getActiveHandles: activeHandles,
    getActiveResourcesInfo: () => host.activeResources(),
    _kill(pid, signal) {
      if (signal < 0 || signal > LAST_SIGNAL) return host.uvErrno('EINVAL');
      try {
        native.kill(pid, signal);
        return 0;
      } catch (code) {
        return host.uvErrno(code);
      }
    },
    _rawDebug: (text) => host.writeError(`${text}\n`),
    reallyExit(code) { native.exit(code ?? 0); },
    abort() { native.exit(134); },
    uptime: () => (native.now() - host.started) / 1000,
    patchProcessObject() {},
    loadEnvFile(path) {
      const values = host.parseEnv(host.readText(path ?? '.env'));
      for (const name in values) host.process.env[name] ??= values[name];
    },
    setEmitWarningSync() {},
    _debugProcess() {},
    _debugEnd() {},
    resetStdioForTesting() {},
  };
};

host.bindings.credentials = () => ({
  safeGetenv: (name) => host.process.env[name],
  getTempDir() {
    const { TMPDIR, TMP, TEMP } = host.process.env;
    const found = TMPDIR || TMP || TEMP || '/tmp';
    return found.length > 1 ? found.replace(/\/$/, '') : found;
  },
  implementsPosixCredentials: true,
  getuid: () => native.ids()[0],
  geteuid: () => native.ids()[0],
  getgid: () => native.ids()[1],
  getegid: () => native.ids()[1],
  getgroups: () => [native.ids()[1]],
});

// --- timers ---------------------------------------------------------------------------------

let processTimers;
let processImmediate;
let timerAt = Infinity;
let timerHeld = true;
const loopNow = () => floor((native.hrtime() - loopOrigin) / 1e6);
let loopOrigin = 0;

host.bindings.timers = (table) => {
  host.immediateInfo = table.immediateInfo;
  host.timeoutInfo = table.timeoutInfo;
  return {
    setupTimers(immediates, timers) {
      processImmediate = immediates;
      processTimers = timers;
    },
    getLibuvNow: loopNow,
    scheduleTimer(ms) { timerAt = min(timerAt, loopNow() + max(1, ms)); },
    toggleTimerRef(held) { timerHeld = held; },
    toggleImmediateRef() {},
  };
};

// --- the event loop: completions, timers, descriptors, children, signals, immediates ---------

const completions = [];
// The file requests whose results are not reported yet.
host.requests = new Set();
// The open sockets.
host.sockets = new Set();
// Calls a function in a later turn, in the present frame of asynchronous context.
host.later = (callback) => { completions.push({ callback, frame: host.frame() }); };

// The handles by their descriptors. The loop calls the method `readable` or `writable` of a handle,
// and a handle for reading keeps the process alive if `held` is true.
const readers = new Map();
host.watch = (fd, handle) => { readers.set(fd, handle); };
host.unwatch = (fd) => { readers.delete(fd); };
host.isWatched = (fd) => readers.has(fd);
const writers = new Map();
host.watchWriting = (fd, handle) => { writers.set(fd, handle); };
host.unwatchWriting = (fd) => { writers.delete(fd); };
const children = new Map();
host.watchChild = (pid, handle) => { children.set(pid, handle); };
// Whether there are children. `expectChild` must be called before a child is started, because the
// child may end immediately, and its end may be reported by a signal.
let hasChildren = false;
host.expectChild = () => {
  if (hasChildren) return;
  hasChildren = true;
  catchSignals();
};
const signalHandles = new Map();
const ports = new Set();
host.portReady = (end) => { if (end.started) ports.add(end); };
// Closes an end and the end at the other side.
host.portClose = (end) => {
  if (end.closed) return;
  end.closed = true;
  host.heldEnds.delete(end);
  end.closing?.();
  host.later(() => {
    end.refed = undefined;
    end.port?.[host.binding('symbols').handle_onclose]?.();
    host.emitDestroy(end.asyncId);
  });
  const { peer } = end;
  if (peer?.link !== undefined) peer.link.close(peer.number);
  else if (peer !== undefined) host.closeAfterMessages(peer);
};

const SIGINT = 2;
const SIGCHLD = 17;
let catchesInterrupts = false;
// Catches SIGINT while a script runs that it is to interrupt.
host.catchInterrupts = (on) => {
  catchesInterrupts = on;
  catchSignals();
};
function catchSignals() {
  const numbers = keysOf(signalHandles);
  if (catchesInterrupts && !numbers.includes(SIGINT)) numbers.push(SIGINT);
  if (hasChildren && !numbers.includes(SIGCHLD)) numbers.push(SIGCHLD);
  native.catchSignals(numbers);
}

// Runs a callback in a frame as Node's C++ does: errors become uncaught exceptions, and ticks and
// promise jobs run after it.
host.turn = function(callback, frame) {
  const outer = host.frame();
  host.setFrame(frame);
  try {
    callback();
  } catch (error) {
    host.uncaught(error, false);
  } finally {
    host.setFrame(outer);
  }
  host.tick();
};

host.tick = function() {
  for (;;) {
    try {
      if (host.tickInfo[0] === 0) native.runJobs();
      if (host.tickInfo[0] === 0 && host.tickInfo[1] === 0) return;
      host.hooks.tick.call(host.process);
      if (host.tickInfo[0] === 0 && host.tickInfo[1] === 0) return;
    } catch (error) {
      host.uncaught(error, false);
    }
  }
};

const isHeld = (handle) => handle.held;
const hasMessages = (end) => end.queue.length > 0;

function alive() {
  if (completions.length > 0 || host.immediateInfo[1] > 0) return true;
  if (host.timeoutInfo[0] > 0 && timerAt !== Infinity) return true;
  if (writers.size > 0 || host.heldEnds.size > 0) return true;
  return someOf(readers, isHeld) || someOf(children, isHeld) || someOf(signalHandles, isHeld) || someOf(ports, hasMessages);
}

// Returns the open handles that keep the process alive.
function openHandles() {
  const others = valuesOf(readers).filter((handle) => !host.sockets.has(handle.socket ?? handle));
  return valuesOf(host.sockets).concat(others, valuesOf(children)).filter(isHeld);
}

// Returns the open handles, each as the object that Node's library has made of it.
function activeHandles() {
  const { owner_symbol: owner } = host.binding('symbols');
  return openHandles().map((handle) => handle[owner] ?? handle);
}

host.activeResources = () => [].concat(
  valuesOf(host.requests).map(() => 'FSReqCallback'),
  openHandles().map((handle) => handle.resource ?? 'PipeWrap'),
  new Array(host.timeoutInfo[0]).fill('Timeout'),
  new Array(host.immediateInfo[1]).fill('Immediate'),
);

function runTimers() {
  if (loopNow() < timerAt) return;
  timerAt = Infinity;
  host.turn(() => {
    for (;;) {
      let next;
      try {
        next = processTimers(loopNow());
      } catch (error) {
        host.uncaught(error, false);
        host.tick();
        continue;
      }
      if (next !== 0) timerAt = min(timerAt, abs(next));
      return;
    }
  });
}

function runCompletions() {
  const ready = completions.splice(0);
  for (let i = 0; i < ready.length; i++) host.turn(ready[i].callback, ready[i].frame);
}

// Returns the children that have ended since the last call, with their statuses.
function reapChildren() {
  const ended = [];
  children.forEach((handle, pid) => {
    let status;
    try {
      status = native.reap(pid, false);
    } catch {
      status = [1, 0];
    }
    if (status === null || status === undefined) return;
    step = 1;
    children.delete(pid);
    ended.push({ callback: () => handle.ended(status[0], status[1]), frame: frameOf(handle) });
  });
  return ended;
}

// The signals that arrived while the program waited for something else. They are taken from the
// system immediately, because a pending signal ends every wait.
const kept = [];
host.keepSignals = () => { native.signals().forEach((number) => { kept.push(number); }); };

function dispatchSignals() {
  host.keepSignals();
  kept.splice(0).forEach((number) => {
    const handle = signalHandles.get(number);
    if (handle) host.turn(() => handle.onsignal(number), frameOf(handle));
  });
}

function deliverPorts() {
  // As in libuv, the order is that in which the ports were made.
  const all = valuesOf(ports).sort((a, b) => a.number - b.number);
  for (let i = 0; i < all.length; i++) {
    const end = all[i];
    ports.delete(end);
    // What has arrived is delivered even if the port is closed meanwhile.
    const isOpen = !end.closed;
    for (let left = end.queue.length; left > 0 && end.queue.length > 0 && end.started && isOpen; left--) {
      const message = end.queue.shift();
      if (message.isLast) host.portClose(end);
      else host.turn(() => end.deliver(message), end.frame);
    }
    if (end.queue.length > 0 && !end.closed) host.portReady(end);
  }
}

function waitTime() {
  if (completions.length > 0 || host.immediateInfo[0] > 0 || ports.size > 0 || kept.length > 0) return 0;
  if (!alive()) return 0;
  return timerAt === Infinity ? -1 : max(0, timerAt - loopNow());
}

// The sandbox reports a child's end only to a process that waits for it, and not by SIGCHLD. While
// there are children, the loop therefore waits in steps. A step is at most twice as long as the one
// before it, and never longer than LONGEST_STEP milliseconds.
const LONGEST_STEP = 16;
let step = 1;

function stepped(time) {
  if (children.size === 0 || time >= 0 && time <= step) return time;
  const now = step;
  step = min(2 * step, LONGEST_STEP);
  return now;
}

// The maximum number of reads of a descriptor in one turn of the loop, as in libuv.
const READS = 32;

function poll() {
  const time = stepped(waitTime());
  if (readers.size + writers.size + children.size + signalHandles.size === 0 && time === 0) return;
  pollDescriptors(time);
  if (children.size === 0) return;
  const ended = reapChildren();
  // The output of a child, and the end of that output, are delivered before the child's exit is
  // reported, because nothing may keep the process alive after the exit.
  for (let round = 0; ended.length > 0 && round < READS && pollDescriptors(0); round++);
  for (let i = 0; i < ended.length; i++) host.turn(ended[i].callback, ended[i].frame);
}

// Calls the handlers of descriptors that can be read or written. Returns whether there were any.
function pollDescriptors(time) {
  const ready = native.poll(keysOf(readers), keysOf(writers), time);
  dispatchSignals();
  for (let i = 0; i < ready.length; i++) {
    const fd = ready[i];
    const handle = fd >= 0 ? readers.get(fd) : writers.get(-1 - fd);
    if (handle) host.turn(() => fd >= 0 ? handle.readable() : handle.writable(), frameOf(handle));
  }
  return ready.length > 0;
}

function runImmediates() {
  if (host.immediateInfo[0] === 0) return;
  for (;;) {
    try {
      processImmediate();
    } catch (error) {
      host.uncaught(error, false);
      host.tick();
      if (host.immediateInfo[2] === 1) continue;
    }
    break;
  }
  host.tick();
}

function turnLoop() {
  runTimers();
  runCompletions();
  deliverPorts();
  poll();
  runImmediates();
}

// Returns whether there is work that ends by itself. Intervals, servers and the connections that
// servers have accepted do not count.
function isBusy() {
  if (completions.length > 0 || host.immediateInfo[1] > 0 || writers.size > 0) return true;
  const ends = (handle) => handle.held && !handle.stays;
  if (someOf(readers, ends) || someOf(children, ends) || someOf(ports, hasMessages)) return true;
  if (host.timeoutInfo[0] === 0) return false;
  const { timerListMap, kRefed } = host.require('internal/timers');
  for (const time in timerListMap) {
    const list = timerListMap[time];
    for (let t = list._idlePrev; t !== list; t = t._idlePrev) if (t[kRefed] && t._repeat === null) return true;
  }
  return false;
}

// Runs the event loop for a cell, until the cell and the work that it has started are done.
// Intervals and servers continue with the next cell.
host.runCell = function(isDone) {
  while (isDone() ? isBusy() : alive()) turnLoop();
};

// Forgets the standard input of the last cell, because each cell has one of its own.
host.forgetInput = function() {
  host.unwatch(0);
  host.binding('process_methods').forgetStdin();
};
host.patch('internal/bootstrap/switches/is_main_thread', (text) => text.replace(
  'rawMethods.resetStdioForTesting = ', 'rawMethods.forgetStdin = () => { stdin = undefined; };\n$&'));

// Runs the event loop until there is nothing to wait for.
host.runLoop = function() {
  for (;;) {
    do turnLoop(); while (alive());
    host.turn(() => host.process.emit('beforeExit', host.exitCode()));
    if (!alive()) return;
  }
};

host.exitCode = function() {
  const fields = host.process[host.privateSymbols.exit_info_private_symbol];
  return fields[2] ? fields[1] : 0;
};

host.beginLoop = function() {
  loopOrigin = native.hrtime();
  timerAt = Infinity;
};

// --- signals ----------------------------------------------------------------------------------

host.bindings.signal_wrap = () => ({
  Signal: class Signal extends host.Framed {
    held = true;
    start(number) {
      this.number = number;
      signalHandles.set(number, this);
      catchSignals();
      return 0;
    }
    stop() {
      signalHandles.delete(this.number);
      catchSignals();
      return 0;
    }
    close() { this.stop(); }
    ref() { this.held = true; }
    unref() { this.held = false; }
    hasRef() { return this.held; }
    getAsyncId() { return 0; }
  },
});

// --- os ---------------------------------------------------------------------------------------

host.bindings.os = (table) => ({
  ...table,
  getHostname: () => host.process.env.HOSTNAME ?? 'box',
  getLoadAvg(values) { values.fill(0); },
  getUptime: () => floor(native.hrtime() / 1e9) + 1,
  getTotalMem: () => host.addressable,
  getFreeMem: () => host.addressable - native.resident(),
  getCPUs: () => ['wasm', 0, 0, 0, 0, 0, 0],
  getAvailableParallelism: () => 1,
  getInterfaceAddresses: () => ['lo', '127.0.0.1', '255.0.0.0', 'IPv4', '00:00:00:00:00:00', true, -1],
  getHomeDirectory: () => host.process.env.HOME ?? '/home/user',
  getUserInfo() {
    const [uid, gid] = native.ids();
    return { uid, gid, username: host.process.env.USER ?? 'user', homedir: host.process.env.HOME ?? '/home/user', shell: '/bin/sh' };
  },
  setPriority: () => 0,
  getPriority: () => 0,
  getOSInformation: () => ['Linux', '#1', '6.0.0', 'wasm32'],
  isBigEndian: false,
});

// --- fixed and absent bindings ------------------------------------------------------------------

host.bindings.config = () => ({
  hasIntl: true, hasOpenSSL: true, hasInspector: false, hasTracing: false, hasNodeOptions: true,
  fipsMode: false, noBrowserGlobals: false, isDebugBuild: false, bits: 32, getDefaultLocale: () => 'en-US',
});
host.bindings.trace_events = () => ({
  getEnabledCategories: () => undefined,
  setTraceCategoryStateUpdateHandler() {},
  getCategoryEnabledBuffer: () => new Uint8Array(1),
  isTraceCategoryEnabled: () => false,
  trace() {},
});
host.bindings.inspector = () => ({
  isEnabled: () => false, setConsoleExtensionInstaller() {}, registerAsyncHook() {}, console: {},
  consoleCall() {}, setupNetworkTracking() {},
});
host.bindings.performance = (table) => ({
  setupObservers() {}, installGarbageCollectionTracking() {}, removeGarbageCollectionTracking() {}, notify() {},
  loopIdleTime: () => 0, markBootstrapComplete() {}, uvMetricsInfo: () => [0, 0, 0],
  now: () => (native.hrtime() - host.origin) / 1e6,
  getTimeOrigin: () => 0, getTimeOriginTimestamp: () => host.started,
  milestones: table.milestones,
  Histogram: host.Histogram,
  createELDHistogram: host.makeDelayHistogram,
});
host.bindings.mksnapshot = () => ({
  isBuildingSnapshotBuffer: new Uint8Array(1), setSerializeCallback() {}, setDeserializeCallback() {},
  setDeserializeMainFunction() {}, runEmbedderPreload() {}, compileSerializeMain() {},
});
host.bindings.permission = () => ({ has: () => true });
host.bindings.report = () => ({
  shouldReportOnUncaughtException: () => false, setReportOnUncaughtException() {},
  getCompact: () => false, getFilename: () => '', getDirectory: () => '', getSignal: () => 'SIGUSR2',
  shouldReportOnFatalError: () => false, shouldReportOnSignal: () => false,
});
host.bindings.wasm_web_api = () => ({ setImplementation() {} });
host.bindings.heap_utils = () => ({});
host.bindings.v8 = () => ({
  setHeapSnapshotNearHeapLimit() {}, updateHeapStatisticsBuffer() {}, updateHeapCodeStatisticsBuffer() {},
  updateHeapSpaceStatisticsBuffer() {}, setFlagsFromString() {}, cachedDataVersionTag: () => 0,
  startupSnapshot: undefined, isStringOneByteRepresentation: (s) => /^[\0-\xff]*$/.test(s),
});
host.bindings.diagnostics_channel = (table) => ({
  getOrCreateChannelIndex: (() => {
    const names = new Map();
    return (name) => names.get(name) ?? (names.set(name, names.size), names.size - 1);
  })(),
  linkNativeChannel() {},
  subscribers: table.subscribers,
});
host.bindings.block_list = () => ({});
host.bindings.blob = () => {
  // A blob is represented by its bytes.
  const pieces = (parts) => {
    const arrays = parts.map((p) => p.bytes ?? host.view(p));
    const out = new Uint8Array(arrays.reduce((n, a) => n + a.length, 0));
    let at = 0;
    for (const a of arrays) { out.set(a, at); at += a.length; }
    return out;
  };
  const { messaging_clone_symbol: clone, messaging_deserialize_symbol: deserialize } = host.binding('symbols');
  class Handle {
    constructor(bytes) { this.bytes = bytes; }
    [clone]() { return { data: { bytes: this.bytes }, deserializeInfo: 'wasibox:blob' }; }
    [deserialize]({ bytes }) { this.bytes = bytes; }
    slice(start, end) { return new Handle(this.bytes.slice(start, end)); }
    getReader() {
      let at = 0;
      return {
        setWakeup() {},
        pull: (callback) => {
          if (at >= this.bytes.length) return callback(0, undefined, undefined);
          const piece = this.bytes.slice(at, at + 65536);
          at += piece.length;
          return callback(1, piece.buffer, undefined);
        },
      };
    }
  }
  host.makers.blob = () => new Handle();
  const urls = new Map();
  return {
    createBlob: (parts) => new Handle(pieces(parts)),
    concat: (list) => pieces(list).buffer,
    storeDataObject(id, handle, length, type) { urls.set(id, [handle, length, type]); },
    getDataObject: (id) => urls.get(id),
    revokeObjectURL(id) { urls.delete(id); },
    createBlobFromFilePath(path) {
      const bytes = new Uint8Array(host.readWhole(path));
      return [new Handle(bytes), bytes.length];
    },
  };
};
})
