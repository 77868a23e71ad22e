// Watchers of files: `StatWatcher` of the binding fs (fs.watchFile), and the binding fs_event_wrap
// (fs.watch). The sandbox does not report changes of files, so both compare what they see with what
// they saw before. A change that is undone between two looks is not seen.
(function (native, host) {
'use strict';

// The time between two looks of fs.watch, in milliseconds.
const PAUSE = 50;
const FIELDS = 18;
// The attributes whose change is reported: all but links, blocks and the time of access.
const COMPARED = [0, 1, 3, 4, 7, 8, 12, 13, 14, 15, 16, 17];
const S_IFMT = 0o170000;
const S_IFDIR = 0o040000;

// A handle that looks again and again. `look` is the subclass's.
class Watcher {
  #timer;
  #held = true;
  begin(pause) {
    const { setInterval } = host.require('timers');
    this.#timer = setInterval(() => this.look(), pause);
    if (!this.#held) this.#timer.unref();
  }
  close() {
    const { clearInterval } = host.require('timers');
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
  ref() {
    this.#held = true;
    this.#timer?.ref();
  }
  unref() {
    this.#held = false;
    this.#timer?.unref();
  }
  hasRef() { return this.#held && this.#timer !== undefined; }
  getAsyncId() { return 0; }
  get isOpen() { return this.#timer !== undefined; }
}

// Compares the attributes of one file (uv_fs_poll).
host.StatWatcher = class StatWatcher extends Watcher {
  #path;
  #isBig;
  #seen;
  #error;
  constructor(isBig) {
    super();
    this.#isBig = isBig;
  }
  start(path, interval) {
    this.#path = host.absolute(path);
    this.begin(interval);
    host.later(() => { if (this.isOpen) this.look(); });
    return 0;
  }
  look() {
    const zero = new Float64Array(FIELDS);
    let [now, error] = [zero, undefined];
    try {
      now = native.stat(this.#path, true);
    } catch (code) {
      error = code;
    }
    const [before, failed] = [this.#seen, this.#error];
    this.#seen = now;
    this.#error = error;
    // At the first look there is nothing to compare, but a missing file is reported.
    const isNew = error !== undefined ? error !== failed
      : failed !== undefined || (before !== undefined && COMPARED.some((i) => now[i] !== before[i]));
    if (isNew) this.onchange(error === undefined ? 0 : host.uvErrno(error), this.#both(now, before ?? zero));
  }
  // Returns the attributes as Node's library reads them: those of now, then those of before.
  #both(now, before) {
    const out = this.#isBig ? new BigInt64Array(2 * FIELDS) : new Float64Array(2 * FIELDS);
    [...now, ...before].forEach((value, i) => { out[i] = this.#isBig ? BigInt(value) : value; });
    return out;
  }
};

// The attributes that tell one state of an entry from another: inode, size, time of change.
function fingerprint(path) {
  const stat = native.tryStat(path, false);
  return stat ? { isFolder: (stat[1] & S_IFMT) === S_IFDIR, inode: stat[7], mark: `${stat[1]} ${stat[7]} ${stat[8]} ${stat[12]} ${stat[13]} ${stat[14]} ${stat[15]}` } : undefined;
}

function entriesOf(path) {
  try {
    return host.require('fs').readdirSync(path);
  } catch {
    return [];
  }
}

class FSEvent extends Watcher {
  #path;
  #encoding;
  #root;
  #seen = new Map();

  get initialized() { return this.isOpen; }
  start(path, isPersistent, _isDeep, encoding) {
    this.#path = host.absolute(path);
    this.#root = fingerprint(this.#path);
    if (this.#root === undefined) return host.uvErrno('ENOENT');
    this.#encoding = encoding;
    this.#seen = this.#list();
    if (!isPersistent) this.unref();
    this.begin(PAUSE);
    return 0;
  }

  // Returns the entries of the folder by their names. Node's library asks for each folder by itself.
  #list() {
    const out = new Map();
    if (!this.#root.isFolder) return out;
    entriesOf(this.#path).forEach((name) => {
      const found = fingerprint(`${this.#path}/${name}`);
      if (found !== undefined) out.set(name, found);
    });
    return out;
  }

  #report(kind, name) {
    if (!this.isOpen) return;
    const { Buffer } = host.require('buffer');
    const isText = this.#encoding === undefined || this.#encoding === null || this.#encoding === 'utf8';
    const shown = isText ? name : this.#encoding === 'buffer' ? Buffer.from(name) : Buffer.from(name).toString(this.#encoding);
    this.onchange(0, kind, shown);
  }

  look() {
    const own = this.#path.slice(this.#path.lastIndexOf('/') + 1);
    const root = fingerprint(this.#path);
    if (root === undefined || !this.#root.isFolder) {
      const before = this.#root;
      if (root !== undefined) this.#root = root;
      if (root?.mark !== before.mark) this.#report(root === undefined || root.inode !== before.inode ? 'rename' : 'change', own);
      if (root === undefined) this.close();
      return;
    }
    const before = this.#seen;
    const now = this.#list();
    this.#seen = now;
    before.forEach((_, name) => { if (!now.has(name)) this.#report('rename', name); });
    now.forEach((one, name) => {
      const old = before.get(name);
      if (old === undefined || old.inode !== one.inode) this.#report('rename', name);
      // A folder changes with its entries, which are reported.
      if (!one.isFolder && one.mark !== old?.mark) this.#report('change', name);
    });
  }
}

host.bindings.fs_event_wrap = () => ({ FSEvent });
})
