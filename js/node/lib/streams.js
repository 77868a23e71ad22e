// The handles of pipes, terminals and children: the bindings pipe_wrap, tty_wrap, stream_wrap,
// process_wrap and spawn_sync.
(function (native, host) {
'use strict';

const { ArrayBuffer, Uint8Array } = globalThis;
const { max, min } = Math;

const EOF = -4095;
// The maximum number of bytes of one read.
const PIECE = 65536;
// The number of bytes that a pipe with room accepts without waiting (PIPE_BUF).
const ATOMIC = 4096;

// A stream over a descriptor, with the methods that net.Socket calls on its handle.
class Stream extends host.Framed {
  held = true;
  reading = false;
  bytesRead = 0;
  bytesWritten = 0;
  #queue = [];
  #closed = false;

  getAsyncId() { return 0; }
  getProviderType() { return 0; }
  ref() { this.held = true; }
  unref() { this.held = false; }
  hasRef() { return this.held && !this.#closed; }
  get isStreamBase() { return true; }
  setBlocking() { return 0; }

  open(fd) {
    this.fd = fd;
    return 0;
  }

  readStart() {
    if (this.fd === undefined) return host.uvErrno('ENOTCONN');
    this.reading = true;
    host.watch(this.readFd ?? this.fd, this);
    return 0;
  }

  readStop() {
    this.reading = false;
    host.unwatch(this.readFd ?? this.fd);
    return 0;
  }

  readable() {
    const state = host.binding('stream_wrap').streamBaseState;
    const buffer = new ArrayBuffer(PIECE);
    let n;
    try {
      n = native.read(this.readFd ?? this.fd, new Uint8Array(buffer), 0, PIECE, -1);
    } catch (code) {
      if (code === 'EAGAIN') return;
      n = host.uvErrno(code);
    }
    if (n === 0) n = EOF;
    if (n < 0) this.readStop();
    else this.bytesRead += n;
    state[0] = n;
    state[1] = 0;
    this.onread(n > 0 ? buffer.slice(0, n) : undefined);
  }

  // Writes bytes. All methods that write call it.
  put(req, bytes) {
    const state = host.binding('stream_wrap').streamBaseState;
    state[2] = bytes.length;
    state[3] = 0;
    this.bytesWritten += bytes.length;
    if (this.#closed || this.fd === undefined) return host.uvErrno('EBADF');
    if (this.#queue.length === 0 && this.isBlocking) return this.#writeNow(bytes);
    let at = 0;
    if (this.#queue.length === 0) {
      try {
        at = this.#writeSome(bytes);
      } catch (code) {
        return host.uvErrno(code);
      }
      if (at === bytes.length) return 0;
    }
    state[3] = 1;
    this.#queue.push({ req, bytes, at });
    host.watchWriting(this.writeFd ?? this.fd, this);
    return 0;
  }

  // Writes as much as is accepted without waiting, and returns the number of bytes. Programs that
  // close the stream immediately after a write rely on this.
  #writeSome(bytes) {
    const fd = this.writeFd ?? this.fd;
    let at = 0;
    while (at < bytes.length && native.poll([], [fd], 0).length > 0) {
      at += native.write(fd, bytes, at, min(ATOMIC, bytes.length - at), -1);
    }
    return at;
  }

  #writeNow(bytes) {
    try {
      for (let at = 0; at < bytes.length;) at += native.write(this.fd, bytes, at, bytes.length - at, -1);
      return 0;
    } catch (code) {
      return host.uvErrno(code);
    }
  }

  // Writes the next piece. The loop calls this when there is room for one.
  writable() {
    const first = this.#queue[0];
    if (first === undefined) {
      host.unwatchWriting(this.writeFd ?? this.fd);
      return;
    }
    let status = 0;
    if (first.bytes !== undefined) {
      try {
        const length = min(ATOMIC, first.bytes.length - first.at);
        first.at += native.write(this.writeFd ?? this.fd, first.bytes, first.at, length, -1);
        if (first.at < first.bytes.length) return;
      } catch (code) {
        status = host.uvErrno(code);
      }
    } else {
      this.shut();
    }
    this.#queue.shift();
    if (this.#queue.length === 0) host.unwatchWriting(this.writeFd ?? this.fd);
    host.within(host.Framed.frameOf(first.req), () => first.req.oncomplete(status));
  }

  shut() {
    if (this.writeFd !== undefined && this.writeFd !== this.readFd) {
      host.unwatchWriting(this.writeFd);
      this.#release(this.writeFd);
    }
  }

  writeBuffer(req, data) { return this.put(req, host.view(data)); }
  writev(req, chunks, allBuffers) {
    const { Buffer } = host.require('buffer');
    const parts = [];
    if (allBuffers) for (let i = 0; i < chunks.length; i++) parts.push(chunks[i]);
    else for (let i = 0; i < chunks.length; i += 2) parts.push(Buffer.from(chunks[i], chunks[i + 1]));
    return this.put(req, host.view(Buffer.concat(parts)));
  }
  // The number of bytes that wait for room.
  get writeQueueSize() { return this.#queue.reduce((n, { bytes, at }) => n + (bytes === undefined ? 0 : bytes.length - at), 0); }
  #text(req, text, encoding) { return this.put(req, host.view(host.require('buffer').Buffer.from(text, encoding))); }
  writeUtf8String(req, text) { return this.#text(req, text, 'utf8'); }
  writeAsciiString(req, text) { return this.#text(req, text, 'latin1'); }
  writeLatin1String(req, text) { return this.#text(req, text, 'latin1'); }
  writeUcs2String(req, text) { return this.#text(req, text, 'utf16le'); }
  useUserBuffer() {}

  shutdown(req) {
    if (this.#queue.length > 0) {
      this.#queue.push({ req });
      return 0;
    }
    this.shut();
    host.later(() => req.oncomplete(0));
    return 0;
  }

  #released = new Set();
  #release(fd) {
    if (fd === undefined || fd <= 2 || this.#released.has(fd)) return;
    this.#released.add(fd);
    try {
      native.close(fd);
    } catch {
      // The script has closed it.
    }
  }

  close(callback) {
    if (this.#closed) return;
    this.#closed = true;
    [this.fd, this.readFd, this.writeFd].forEach((fd) => {
      if (fd === undefined) return;
      host.unwatch(fd);
      host.unwatchWriting(fd);
      this.#release(fd);
    });
    this.#queue.splice(0).forEach(({ req }) => { host.later(() => req.oncomplete(host.uvErrno('ECANCELED'))); });
    // A handle that is being closed keeps the loop alive for one turn.
    host.later(() => { if (typeof callback === 'function') callback.call(this); });
  }
}

const refused = () => host.uvErrno('ENOTSUP');

// The type of a channel between a process and its child (`fork`), which is two pipes. The child
// reads from the descriptor that NODE_CHANNEL_FD names, and writes to the descriptor UPWARD above
// it.
const IPC = 2;
const UPWARD = 64;

class Pipe extends Stream {
  constructor(type) {
    super();
    this.type = type;
  }
  open(fd) {
    if (this.type === IPC) [this.readFd, this.writeFd] = [fd, fd + UPWARD];
    return super.open(fd);
  }
  writeUtf8String(req, text, handle) {
    // Sockets cannot be passed to other processes.
    return handle ? refused() : super.writeUtf8String(req, text);
  }
  bind() { return refused(); }
  listen() { return refused(); }
  connect() { return refused(); }
  fchmod() { return refused(); }
}

class TTY extends Stream {
  isBlocking = true;
  constructor(fd, context) {
    super();
    this.fd = fd;
    if (!native.isatty(fd)) context.code = 'EINVAL';
  }
  getWindowSize(size) {
    try {
      const { 0: columns, 1: rows } = native.terminalSize(this.fd);
      size[0] = columns;
      size[1] = rows;
      return 0;
    } catch (code) {
      return host.uvErrno(code);
    }
  }
  setRawMode(raw) {
    try {
      native.setRawMode(this.fd, raw);
      return 0;
    } catch (code) {
      return host.uvErrno(code);
    }
  }
}

host.bindings.pipe_wrap = () => ({ Pipe, PipeConnectWrap: class PipeConnectWrap {} });
host.bindings.tty_wrap = () => ({ TTY, isTTY: native.isatty });
host.bindings.stream_wrap = () => ({
  WriteWrap: class WriteWrap extends host.Framed {},
  ShutdownWrap: class ShutdownWrap extends host.Framed {},
  LibuvStreamWrap: Stream,
});
host.Stream = Stream;

// --- children --------------------------------------------------------------------------------

// Returns the path of a program, which is searched for as by execvp(3).
function findProgram(file, env, cwd) {
  const runnable = (path) => {
    const stat = native.tryStat(path, true);
    if (!stat || (stat[1] & 0o170000) === 0o040000) return undefined;
    return (stat[1] & 0o111) !== 0 ? path : null;
  };
  const from = (path) => path.startsWith('/') ? path : `${cwd}/${path}`;
  if (file.includes('/')) {
    const found = runnable(from(file));
    if (found) return found;
    throw found === null ? 'EACCES' : 'ENOENT';
  }
  let denied = false;
  for (const folder of (env.PATH ?? '/usr/local/bin:/usr/bin:/bin').split(':')) {
    const found = runnable(`${from(folder || '.')}/${file}`);
    if (found) return found;
    if (found === null) denied = true;
  }
  throw denied ? 'EACCES' : 'ENOENT';
}

// Returns the program to run for a file, and its arguments. The program is the interpreter in the
// file's `#!` line, or the file itself.
function interpreted(path, args, depth = 0) {
  let head;
  try {
    const fd = native.open(path, 0, 0);
    const bytes = new Uint8Array(256);
    const n = native.read(fd, bytes, 0, 256, -1);
    native.close(fd);
    head = native.decode(bytes, 'latin1', 0, n);
  } catch {
    return [path, args];
  }
  const line = /^#![ \t]*(\S+)(?:[ \t]+(.*?))?[ \t]*(?:\n|$)/.exec(head);
  if (line === null || depth > 3) return [path, args];
  const extra = line[2] ? [line[2]] : [];
  return interpreted(line[1], [line[1], ...extra, path, ...args.slice(1)], depth + 1);
}

function environmentPairs(pairs) {
  const out = [];
  const object = {};
  for (const pair of pairs ?? Object.entries(host.process.env).map(([k, v]) => `${k}=${v}`)) {
    const at = pair.indexOf('=', 1);
    if (at < 0) continue;
    out.push(pair.slice(0, at), pair.slice(at + 1));
    object[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return [out, object];
}

// Starts a program, and returns its process id. `fds` contains descriptors of the child and of this
// process alternately.
function start({ file, args, cwd, envPairs, detached }, fds) {
  const [pairs, env] = environmentPairs(envPairs);
  host.markChild?.(pairs);
  if (cwd === '') throw 'ENOENT';
  const where = cwd ? host.require('path').resolve(host.cwd, cwd) : host.cwd;
  const dir = native.tryStat(where, true);
  if (!dir) throw 'ENOENT';
  if ((dir[1] & 0o170000) !== 0o040000) throw 'ENOTDIR';
  const found = findProgram(file, env, where);
  const [program, argv] = interpreted(found, args?.length > 0 ? args.map(String) : [file]);
  return native.spawn(program, argv, pairs, where, fds, detached === true);
}

host.startProgram = start;

const devNull = () => native.open('/dev/null', 2, 0);

class Process extends host.Framed {
  get resource() { return 'ProcessWrap'; }
  held = true;
  getAsyncId() { return 0; }
  ref() { this.held = true; }
  unref() { this.held = false; }
  hasRef() { return this.held && this.pid !== undefined; }

  spawn(file, args, cwd, envPairs, stdio, flags) {
    if (typeof file === 'object') ({ file, args, cwd, envPairs, stdio, flags } = file);
    const fds = [];
    const ours = [];
    try {
      (stdio ?? []).forEach((entry, i) => this.#stream(entry, i, fds, ours));
      host.expectChild();
      this.pid = start({ file, args, cwd, envPairs, detached: (flags & 8) !== 0 }, fds);
    } catch (code) {
      for (const fd of ours) native.close(fd);
      if (typeof code !== 'string') throw code;
      return host.uvErrno(code);
    }
    for (const fd of ours) native.close(fd);
    host.watchChild(this.pid, this);
    return 0;
  }

  // Creates one of the child's streams. Descriptors that only the child needs are added to `ours`,
  // and are closed here later.
  #stream(entry, number, fds, ours) {
    switch (entry.type) {
      case 'pipe':
      case 'overlapped': {
        if (entry.ipc) {
          const [downward, write] = native.pipe();
          const [read, upward] = native.pipe();
          entry.handle.open(write);
          [entry.handle.readFd, entry.handle.writeFd] = [read, write];
          fds.push(number, downward, number + UPWARD, upward);
          ours.push(downward, upward);
          break;
        }
        // The child reads from its descriptor 0 and writes to all others.
        const [reader, writer] = native.pipe();
        const child = number === 0 ? reader : writer;
        entry.handle.open(number === 0 ? writer : reader);
        if (number === 0) entry.handle.writeFd = writer;
        else entry.handle.readFd = reader;
        fds.push(number, child);
        ours.push(child);
        break;
      }
      case 'ignore': {
        const fd = devNull();
        fds.push(number, fd);
        ours.push(fd);
        break;
      }
      case 'inherit':
        fds.push(number, entry.fd ?? number);
        break;
      case 'fd':
        fds.push(number, entry.fd);
        break;
      case 'wrap':
        fds.push(number, entry.handle.fd);
        break;
      default:
        throw 'EINVAL';
    }
  }

  ended(code, signal) {
    this.onexit(code, signal === 0 ? '' : signalName(signal));
  }

  kill(signal) {
    try {
      native.kill(this.pid, signal);
      return 0;
    } catch (code) {
      return host.uvErrno(code);
    }
  }

  close(callback) {
    if (typeof callback === 'function') host.later(callback);
  }
}

function signalName(number) {
  const { signals } = host.binding('constants').os;
  return Object.keys(signals).find((name) => signals[name] === number) ?? `SIG${number}`;
}

host.bindings.process_wrap = () => ({ Process });

// --- spawnSync -----------------------------------------------------------------------------------

function prepareSync(options) {
  const fds = [];
  const ours = [];
  const inputs = [];
  const outputs = new Map();
  (options.stdio ?? []).forEach((entry, i) => {
    if (entry.type === 'pipe') {
      const [reader, writer] = native.pipe();
      const isInput = entry.readable && i === 0;
      fds.push(i, isInput ? reader : writer);
      ours.push(isInput ? reader : writer);
      if (isInput) inputs.push({ fd: writer, bytes: entry.input ? host.view(entry.input) : new Uint8Array(0), at: 0 });
      else outputs.set(reader, { i, chunks: [], size: 0 });
    } else if (entry.type === 'ignore') {
      const fd = devNull();
      fds.push(i, fd);
      ours.push(fd);
    } else {
      fds.push(i, entry.fd ?? i);
    }
  });
  return { fds, ours, inputs, outputs };
}

function feed(input) {
  if (input.at < input.bytes.length) {
    try {
      input.at += native.write(input.fd, input.bytes, input.at, min(ATOMIC, input.bytes.length - input.at), -1);
    } catch {
      input.at = input.bytes.length;
    }
  }
  return input.at >= input.bytes.length;
}

function spawnSync(options) {
  const { fds, ours, inputs, outputs } = prepareSync(options);
  let pid;
  try {
    pid = start({ ...options, detached: options.detached }, fds);
  } catch (code) {
    for (const fd of [...ours, ...inputs.map((i) => i.fd), ...outputs.keys()]) native.close(fd);
    if (typeof code !== 'string') throw code;
    return { error: host.uvErrno(code), status: null, signal: null, output: null, pid: 0 };
  }
  for (const fd of ours) native.close(fd);
  const deadline = options.timeout > 0 ? native.hrtime() / 1e6 + options.timeout : Infinity;
  const result = { pid, error: undefined };
  const end = (code) => {
    result.error ??= host.uvErrno(code);
    try {
      native.kill(pid, options.killSignal || 15);
    } catch {
      // The child has ended.
    }
  };
  const results = (options.stdio ?? []).map(() => null);
  const closeOutput = (fd) => {
    const { i, chunks } = outputs.get(fd);
    results[i] = host.require('buffer').Buffer.concat(chunks);
    outputs.delete(fd);
    native.close(fd);
  };
  while (inputs.length > 0 || outputs.size > 0) {
    const left = deadline === Infinity ? -1 : max(0, deadline - native.hrtime() / 1e6);
    if (left === 0 && result.error === undefined) end('ETIMEDOUT');
    const ready = native.poll([...outputs.keys()], inputs.map((i) => i.fd), result.error === undefined ? left : -1);
    host.keepSignals();
    for (const fd of ready) {
      if (fd < 0) {
        const input = inputs.find((i) => i.fd === -1 - fd);
        if (input && feed(input)) {
          native.close(input.fd);
          inputs.splice(inputs.indexOf(input), 1);
        }
        continue;
      }
      const output = outputs.get(fd);
      const chunk = new Uint8Array(PIECE);
      const n = native.read(fd, chunk, 0, PIECE, -1);
      if (n === 0) {
        closeOutput(fd);
        continue;
      }
      const room = options.maxBuffer > 0 ? options.maxBuffer - output.size : Infinity;
      output.chunks.push(chunk.subarray(0, min(n, room)));
      output.size += n;
      if (n > room) {
        end('ENOBUFS');
        closeOutput(fd);
      }
    }
  }
  let status = null;
  for (;;) {
    const left = deadline - native.hrtime() / 1e6;
    status = native.reap(pid, deadline === Infinity || result.error !== undefined);
    if (status !== null && status !== undefined) break;
    if (left <= 0) end('ETIMEDOUT');
    else native.poll([], [], min(left, 5));
    host.keepSignals();
  }
  result.status = status[1] === 0 ? status[0] : null;
  result.signal = status[1] === 0 ? null : signalName(status[1]);
  result.output = results;
  return result;
}

host.bindings.spawn_sync = () => ({ spawn: spawnSync });
})
