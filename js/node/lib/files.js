// The bindings fs and fs_dir: Node's protocol of requests, on top of plain system calls.
//
// Every call does its work immediately, because the file system never blocks. A call without a
// request throws its error; with a request object, or with kUsePromises, the result is reported in
// a later turn of the event loop.
(function (native, host) {
'use strict';

const { lengthOf } = host;
const { apply } = Reflect;
const uv = new Map(host.tables.$uvErrors.map(([errno, [name, text]]) => [name, [errno, text]]));

// Returns Node's error for a failed system call.
host.uvException = function(code, syscall, path, dest) {
  const { 0: errno, 1: text } = uv.get(code) ?? [-5, 'i/o error'];
  let message = `${code}: ${text}, ${syscall}`;
  if (path !== undefined) message += ` '${path}'`;
  if (dest !== undefined) message += ` -> '${dest}'`;
  const error = new Error(message);
  error.errno = errno;
  error.code = code;
  error.syscall = syscall;
  if (path !== undefined) error.path = path;
  if (dest !== undefined) error.dest = dest;
  return error;
};
host.uvErrno = (code) => (uv.get(code) ?? [-5])[0];

host.bindings.uv = () => ({
  errname: (errno) => {
    const found = host.tables.$uvErrors.find((entry) => entry[0] === errno);
    return found === undefined ? `Unknown system error ${errno}` : found[1][0];
  },
  getErrorMap: () => new Map(host.tables.$uvErrors),
  getErrorMessage: (errno) => host.tables.$uvErrors.find((entry) => entry[0] === errno)?.[1][1] ?? `Unknown system error ${errno}`,
});

// Converts a path, which may be a buffer, to text.
const pathText = (path) => typeof path === 'string' ? path : native.decode(host.view(path), 'utf8', 0, path.byteLength);
// Returns the absolute path for the system. An empty path names no file.
const absolute = (path) => {
  const text = pathText(path);
  return text === '' || text[0] === '/' ? text : `${host.cwd === '/' ? '' : host.cwd}/${text}`;
};
host.absolute = absolute;

const named = (text, encoding) => {
  if (encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8') return text;
  const { Buffer } = host.require('buffer');
  return encoding === 'buffer' ? Buffer.from(text) : Buffer.from(text).toString(encoding);
};

// --- the work of each call ----------------------------------------------------------------

const stats = (numbers, bigint) => {
  if (!bigint) {
    const out = new Float64Array(36);
    out.set(numbers);
    return out;
  }
  const out = new BigInt64Array(36);
  numbers.forEach((n, i) => { out[i] = BigInt(n); });
  return out;
};

const MISSING = ['ENOENT', 'ENOTDIR'];

// Creates the missing directories of a path; returns the first one created.
host.mkdirRecursive = mkdirRecursive;
function mkdirRecursive(path, mode) {
  const whole = host.require('path').resolve(pathText(path));
  const parts = whole.split('/').filter((p) => p !== '');
  let at = '';
  let first;
  for (let i = 0; i < parts.length; i++) {
    at += `/${parts[i]}`;
    const stat = native.tryStat(at, true);
    if (stat) {
      if ((stat[1] & 0o170000) !== 0o040000) throw at === whole ? 'EEXIST' : 'ENOTDIR';
      continue;
    }
    native.mkdir(at, mode);
    first ??= at;
  }
  return first;
}

function remove(path, recursive) {
  const stat = native.stat(path, false);
  if ((stat[1] & 0o170000) !== 0o040000) {
    native.unlink(path);
    return;
  }
  if (!recursive) throw 'ERR_FS_EISDIR';
  const entries = native.readdir(path);
  for (let i = 0; i < entries.length; i += 2) remove(`${path}/${entries[i]}`, true);
  native.rmdir(path);
}

function readdir(path, encoding, withTypes) {
  const all = native.readdir(absolute(path));
  const names = [];
  const kinds = [];
  for (let i = 0; i < all.length; i += 2) {
    names.push(named(all[i], encoding));
    kinds.push(all[i + 1]);
  }
  return withTypes ? [names, kinds] : names;
}

function mkdtemp(prefix, encoding) {
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  for (let tries = 0; ; tries++) {
    const suffix = Array.from(new Uint8Array(native.random(6)), (b) => letters[b % letters.length]).join('');
    const path = pathText(prefix) + suffix;
    try {
      native.mkdir(absolute(path), 0o700);
      return named(path, encoding);
    } catch (code) {
      if (code !== 'EEXIST' || tries > 20) throw code;
    }
  }
}

const position = (at) => at === null || at === undefined ? -1 : Number(at);

function readBuffers(fd, buffers, at) {
  let total = 0;
  const from = position(at);
  for (let i = 0; i < buffers.length; i++) {
    const buffer = buffers[i];
    const n = native.read(fd, host.view(buffer), 0, buffer.byteLength, from < 0 ? -1 : from + total);
    total += n;
    if (n < buffer.byteLength) break;
  }
  return total;
}

function writeAll(fd, bytes, offset, length, at) {
  let done = 0;
  while (done < length) {
    const n = native.write(fd, bytes, offset + done, length - done, at < 0 ? -1 : at + done);
    if (n === 0) break;
    done += n;
  }
  return done;
}

function writeBuffers(fd, buffers, at) {
  let total = 0;
  const from = position(at);
  for (let i = 0; i < buffers.length; i++) {
    const bytes = host.view(buffers[i]);
    total += writeAll(fd, bytes, 0, lengthOf(bytes), from < 0 ? -1 : from + total);
  }
  return total;
}

const encoded = (text, encoding) => {
  if (encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8') {
    return new Uint8Array(native.encode(text, 'utf8'));
  }
  const { Buffer } = host.require('buffer');
  return Buffer.from(text, encoding);
};

function copyFile(from, to, mode) {
  if ((mode ?? 0) & 4) throw 'ENOTSUP';
  native.copy(absolute(from), absolute(to), ((mode ?? 0) & 1) !== 0);
}

function utimes(path, atime, mtime, follow) {
  native.utimes(absolute(path), atime, mtime, follow);
}

function access(path, mode) {
  native.access(absolute(path), mode ?? 0);
}

// The functions by their names. Each has the name of its system call for errors, the number of
// arguments before the request, the function that does the work, and the indexes of the arguments
// that are paths.
const CALLS = {
  access: ['access', 2, access, [0]],
  open: ['open', 3, (path, flags, mode) => native.open(absolute(path), flags, mode), [0]],
  openFileHandle: ['open', 3, (path, flags, mode) => new FileHandle(native.open(absolute(path), flags, mode)), [0]],
  close: ['close', 1, native.close, []],
  read: ['read', 5, (fd, buffer, offset, length, at) =>
    native.read(fd, host.view(buffer), offset, length, position(at)), []],
  readBuffers: ['read', 3, readBuffers, []],
  writeBuffer: ['write', 5, (fd, buffer, offset, length, at) =>
    writeAll(fd, host.view(buffer), offset, length, position(at)), []],
  writeBuffers: ['write', 3, writeBuffers, []],
  writeString: ['write', 4, (fd, text, at, encoding) => {
    const bytes = encoded(text, encoding);
    return writeAll(fd, bytes, 0, lengthOf(bytes), position(at));
  }, []],
  fsync: ['fsync', 1, native.fsync, []],
  fdatasync: ['fdatasync', 1, native.fsync, []],
  ftruncate: ['ftruncate', 2, (fd, length) => native.ftruncate(fd, length ?? 0), []],
  rename: ['rename', 2, (from, to) => native.rename(absolute(from), absolute(to)), [0, 1]],
  rmdir: ['rmdir', 1, (path) => native.rmdir(absolute(path)), [0]],
  mkdir: ['mkdir', 3, (path, mode, recursive) =>
    recursive ? mkdirRecursive(path, mode) : native.mkdir(absolute(path), mode), [0]],
  readdir: ['scandir', 3, readdir, [0]],
  readlink: ['readlink', 2, (path, encoding) => named(native.readlink(absolute(path)), encoding), [0]],
  symlink: ['symlink', 3, (target, path) => native.symlink(pathText(target), absolute(path)), [0, 1]],
  link: ['link', 2, (from, to) => native.link(absolute(from), absolute(to)), [0, 1]],
  unlink: ['unlink', 1, (path) => native.unlink(absolute(path)), [0]],
  realpath: ['realpath', 2, (path, encoding) => named(native.realpath(absolute(path)), encoding), [0]],
  copyFile: ['copyfile', 3, copyFile, [0, 1]],
  chmod: ['chmod', 2, (path, mode) => native.chmod(absolute(path), mode), [0]],
  fchmod: ['fchmod', 2, (fd, mode) => native.fchmod(fd, mode), []],
  chown: ['chown', 3, (path, uid, gid) => native.chown(absolute(path), uid, gid, true), [0]],
  lchown: ['lchown', 3, (path, uid, gid) => native.chown(absolute(path), uid, gid, false), [0]],
  fchown: ['fchown', 3, (fd) => { native.fstat(fd); }, []],
  utimes: ['utime', 3, (path, a, m) => utimes(path, a, m, true), [0]],
  lutimes: ['lutime', 3, (path, a, m) => utimes(path, a, m, false), [0]],
  futimes: ['futime', 3, native.futimes, []],
  mkdtemp: ['mkdtemp', 2, mkdtemp, [0]],
};

// Returns the error for a thrown value, which is the name of a system error or already an error.
function failure(thrown, syscall, paths, args) {
  if (typeof thrown !== 'string') return thrown;
  const { 0: path, 1: dest } = paths.map((i) => pathText(args[i]));
  const shown = syscall === 'mkdtemp' ? `${path}XXXXXX` : path;
  return host.uvException(thrown, syscall, shown, dest);
}

// Runs `work` now and reports the result to `req` later; `req` may be kUsePromises.
function request(req, work) {
  if (typeof req === 'symbol') {
    return new Promise((resolve, reject) => {
      const outcome = attempt(work);
      host.later(() => 'error' in outcome ? reject(outcome.error) : resolve(outcome.value));
    });
  }
  const outcome = attempt(work);
  host.requests.add(req);
  host.later(() => {
    try {
      if ('error' in outcome) req.oncomplete(outcome.error);
      else if (outcome.value === undefined) req.oncomplete(null);
      else req.oncomplete(null, outcome.value);
    } finally {
      host.requests.delete(req);
    }
  });
}

// The reads that wait for bytes, by their descriptors.
const waiting = new Map();

// Returns whether a read would hold up the event loop: the descriptor is that of a pipe, terminal or
// socket, which has nothing to read now.
function mayWait(fd) {
  if (waiting.has(fd)) return true;
  if (host.isWatched(fd) || !['PIPE', 'TTY', 'TCP'].includes(native.handleType(fd))) return false;
  return native.poll([fd], [], 0).length === 0;
}

// Does as `request` does, once there is something to read.
function requestLater(fd, req, work) {
  const frame = host.frame();
  const begin = (report) => {
    const queue = waiting.get(fd) ?? [];
    queue.push(() => host.within(frame, () => report(attempt(work))));
    if (queue.length > 1) return;
    waiting.set(fd, queue);
    const handle = { held: true, readable() {
      queue.shift()();
      if (queue.length > 0) return;
      waiting.delete(fd);
      host.unwatch(fd);
    } };
    host.watch(fd, handle);
  };
  if (typeof req === 'symbol') {
    return new Promise((resolve, reject) => {
      begin((outcome) => 'error' in outcome ? reject(outcome.error) : resolve(outcome.value));
    });
  }
  host.requests.add(req);
  begin((outcome) => {
    host.requests.delete(req);
    if ('error' in outcome) req.oncomplete(outcome.error);
    else req.oncomplete(null, outcome.value);
  });
}

function attempt(work) {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

const wrapped = {};
for (const [name, [syscall, arity, run, paths]] of Object.entries(CALLS)) {
  wrapped[name] = function(...args) {
    const work = () => {
      try {
        return apply(run, undefined, args.slice(0, arity));
      } catch (thrown) {
        throw failure(thrown, syscall, paths, args);
      }
    };
    const req = args[arity];
    if (req === undefined) return work();
    return syscall === 'read' && mayWait(args[0]) ? requestLater(args[0], req, work) : request(req, work);
  };
}

// Returns the function stat, lstat or fstat. Its arguments are a path or descriptor, `bigint`, a
// request and a flag. Instead of throwing an error, the function returns undefined for a missing
// file if the flag is `false` (stat, lstat), and for any failure if it is `true` (fstat).
function statCall(syscall, get, isPath) {
  return function(target, bigint, req, flag) {
    const work = () => {
      try {
        return stats(get(target), bigint);
      } catch (code) {
        if (isPath && flag === false && MISSING.includes(code)) return undefined;
        if (!isPath && flag === true) return undefined;
        throw failure(code, syscall, isPath ? [0] : [], [target]);
      }
    };
    return req === undefined ? work() : request(req, work);
  };
}
wrapped.stat = statCall('stat', (path) => native.stat(absolute(path), true), true);
wrapped.lstat = statCall('lstat', (path) => native.stat(absolute(path), false), true);
wrapped.fstat = statCall('fstat', native.fstat, false);

// Refuses, because no system call describes a whole file system.
wrapped.statfs = function(path, bigint, req) {
  const work = () => {
    wrapped.stat(path, false);
    throw failure('ENOSYS', 'statfs', [0], [path]);
  };
  return req === undefined ? work() : request(req, work);
};

wrapped.rmSync = function(path, maxRetries, recursive) {
  try {
    remove(absolute(path), recursive);
  } catch (code) {
    // Node's library has checked that the file exists, except if `force` allows it to be missing.
    if (code === 'ENOENT') return;
    if (code === 'ERR_FS_EISDIR') {
      const { ERR_FS_EISDIR } = host.require('internal/errors').codes;
      throw new ERR_FS_EISDIR({
        code: 'EISDIR', message: 'is a directory', path: pathText(path), syscall: 'rm', errno: 21,
      });
    }
    throw failure(code, 'rm', [0], [path]);
  }
};

const isFd = (v) => typeof v === 'number';
// Returns the contents of a file that is named by its path or a descriptor.
function readWhole(target, flags) {
  if (isFd(target)) return native.readAll(target);
  let fd;
  try {
    fd = native.open(absolute(target), flags ?? 0, 0o666);
  } catch (code) {
    throw failure(code, 'open', [0], [target]);
  }
  try {
    return native.readAll(fd);
  } catch (code) {
    throw failure(code, 'read', [], []);
  } finally {
    native.close(fd);
  }
}
host.readWhole = readWhole;
host.readText = (path) => {
  const bytes = new Uint8Array(readWhole(path));
  return native.decode(bytes, 'utf8', 0, lengthOf(bytes));
};

function writeWhole(target, bytes, flags, mode) {
  let fd = target;
  if (!isFd(target)) {
    try {
      fd = native.open(absolute(target), flags, mode);
    } catch (code) {
      throw failure(code, 'open', [0], [target]);
    }
  }
  try {
    writeAll(fd, bytes, 0, lengthOf(bytes), -1);
  } catch (code) {
    throw failure(code, 'write', [], []);
  } finally {
    if (fd !== target) native.close(fd);
  }
}

// --- handles of fs/promises -----------------------------------------------------------------

class FileHandle {
  #fd;
  constructor(fd) { this.#fd = fd; }
  get fd() { return this.#fd; }
  getAsyncId() { return 0; }
  close() {
    const fd = this.#fd;
    this.#fd = -1;
    return wrapped.close(fd, host.binding('fs').kUsePromises);
  }
  releaseFD() {
    const fd = this.#fd;
    this.#fd = -1;
    return fd;
  }
  onread() {}
}

class FSReqCallback {
  constructor(bigint) { this.bigint = bigint; }
}

// Functions that take descriptors refuse other values with Node's messages.
for (const name of ['close', 'fsync', 'fdatasync', 'fstat', 'ftruncate', 'fchmod', 'fchown', 'futimes']) {
  const plain = wrapped[name];
  if (plain) wrapped[name] = (fd, a, b, c) => plain(host.require('internal/fs/utils').getValidatedFd(fd), a, b, c);
}

host.bindings.fs = (table) => ({
  ...wrapped,
  kUsePromises: host.binding('symbols').fs_use_promises_symbol,
  FSReqCallback,
  FileHandle,
  StatWatcher: host.StatWatcher,
  statValues: new Float64Array(36),
  bigintStatValues: new BigInt64Array(36),
  existsSync: (path) => (native.tryStat(absolute(path), true) ?? null) !== null,
  internalModuleStat(first, second) {
    const stat = native.tryStat(absolute(typeof first === 'string' ? first : second), true);
    if (!stat) return -2;
    return (stat[1] & 0o170000) === 0o040000 ? 1 : 0;
  },
  getFormatOfExtensionlessFile(path) {
    const head = new Uint8Array(readWhole(path)).subarray(0, 4);
    return head[0] === 0 && head[1] === 0x61 && head[2] === 0x73 && head[3] === 0x6d ? 1 : 0;
  },
  legacyMainResolve(folder, main, base) {
    if (!folder.endsWith('/')) folder += '/';
    const tries = [];
    if (main) for (const end of ['', '.js', '.json', '.node', '/index.js', '/index.json', '/index.node']) tries.push(main + end);
    for (const end of ['index.js', 'index.json', 'index.node']) tries.push(end);
    const at = tries.findIndex((name) => {
      const stat = native.tryStat(folder + name, true);
      return stat && (stat[1] & 0o170000) !== 0o040000;
    });
    if (at >= 0) return main ? at : at + 7;
    const { ERR_MODULE_NOT_FOUND } = host.require('internal/errors').codes;
    throw new ERR_MODULE_NOT_FOUND(folder, base, 'package');
  },
  readFileUtf8(target, flags) {
    const bytes = new Uint8Array(readWhole(target, flags));
    return native.decode(bytes, 'utf8', 0, lengthOf(bytes));
  },
  writeFileUtf8(target, text, flags, mode) { writeWhole(target, encoded(text, 'utf8'), flags, mode); },
  ...host.copying,
  kFsStatsFieldsNumber: table.kFsStatsFieldsNumber,
});

// Returns the kind of stream of a descriptor. Standard output that is a pipe counts as a file,
// because writes to files are synchronous; Node's writes to pipes are, too.
host.handleType = function(fd) {
  if (!host.begun) throw new Error('a stream was asked for before there is a process');
  const type = native.handleType(fd);
  return type === 'PIPE' && (fd === 1 || fd === 2) ? 'FILE' : type;
};

// --- opendir --------------------------------------------------------------------------------

class DirHandle {
  #entries;
  #at = 0;
  constructor(entries) { this.#entries = entries; }
  read(encoding, size, req) {
    const work = () => {
      const piece = this.#entries.slice(this.#at, this.#at + 2 * size);
      this.#at += piece.length;
      if (piece.length === 0) return null;
      return piece.map((v, i) => i % 2 === 0 ? named(v, encoding) : v);
    };
    return req === undefined ? work() : request(req, work);
  }
  close(req) { return req === undefined ? undefined : request(req, () => undefined); }
}

host.bindings.fs_dir = () => {
  const open = (path) => {
    try {
      return new DirHandle(native.readdir(absolute(path)));
    } catch (code) {
      throw failure(code, 'opendir', [0], [path]);
    }
  };
  return {
    opendir: (path, encoding, req) => req === undefined ? open(path) : request(req, () => open(path)),
    opendirSync: open,
  };
};
})
