// Sessions, with the same methods as in the package for Node.

import { CommandError, FileError, InvalidError, NotFoundError } from './errors.js';
import { Machine, bytesOf } from './machine.js';
import { Outcome } from './outcome.js';
import { Kept } from './store.js';

/** Options of a call whose output must be complete. */
const WHOLE = { maxOutput: Number.MAX_SAFE_INTEGER, listFiles: false };

/** Converts an entry that the kernel has returned. */
function entry({ modified, target = null, kind, ...rest }) {
  return { ...rest, kind, modified: modified / 1e9, target, isDirectory: kind === 'directory' };
}

/** A session; see index.d.ts. */
export class Session {
  #machine;
  #queue = Promise.resolve();

  #options;
  /** The session's file, if a store keeps the session. */
  #kept = null;

  /**
   * Opens a session.
   * @param {object} options see index.d.ts
   */
  static create(options = {}) {
    return Session.#begin(options, async () => {});
  }

  /** Creates a session from a snapshot (`.wbs`) that `export` or the native runner has written. */
  static load(source, options = {}) {
    return Session.#load(source, options, false);
  }

  static #load(source, options, isFork) {
    const bytes = new Uint8Array(source);
    return Session.#begin({ ...options, open: 'create' }, (machine) => machine.ask('import', { bytes, isFork }));
  }

  /** Opens a session. If it is new, `fill` fills it. */
  static async #begin(options, fill) {
    const session = new Session();
    session.#options = options;
    const isKept = options.store !== undefined;
    const { kept, bytes } = isKept ? await Kept.open(options) : { kept: null, bytes: [] };
    try {
      session.#machine = await Machine.create(options);
      const whole = bytes.length > 0 ? await session.#machine.ask('replay', { bytes }) : 0;
      if (whole < bytes.length) await kept.cut(whole);
      if (whole === 0) await fill(session.#machine);
      session.#kept = kept;
      await session.#keep();
      return session;
    } catch (error) {
      session.#machine?.close();
      await kept?.close();
      throw error;
    }
  }

  // Calls.

  /**
   * Runs a command to its end: a script for the session's shell, or a list of arguments, which runs
   * without the shell. A command that fails is an outcome, not an error.
   */
  exec(what, options = {}) {
    const { env, cwd, listFiles } = options;
    const asked = { env, cwd, list_files: listFiles };
    return this.#call({ ...asked, ...(typeof what === 'string' ? { script: what } : { argv: [...what] }) }, options);
  }

  /**
   * Runs a cell in the session's Python interpreter. The next cell has its variables and imports.
   */
  python(code, options = {}) {
    return this.#call({ python: code }, options);
  }

  /**
   * Runs a cell in the session's JavaScript interpreter. Top-level `await` and `import` are
   * allowed.
   */
  javascript(code, options = {}) {
    return this.#call({ javascript: code }, options);
  }

  #call(asked, options) {
    return this.#turn(() => this.#run({ ...asked, max_output: options.maxOutput }, options));
  }

  /** Calls `act` after everything that was requested before, and then stores the changes. */
  #turn(act) {
    const done = this.#queue.then(async () => {
      try {
        return await act();
      } finally {
        await this.#keep();
      }
    });
    this.#queue = done.catch(() => {});
    return done;
  }

  /** Appends the changes that the session's file does not have yet. */
  async #keep() {
    if (this.#kept === null || this.closed) return;
    await this.#kept.append(await this.#machine.ask('record'));
  }

  async #run(asked, { stdin = '', timeout, signal, onStdout, onStderr, check = false }) {
    signal?.throwIfAborted();
    const parts = [[], [], []];
    const readers = [null, onStdout, onStderr].map((read) => read && { read, decoder: new TextDecoder() });
    let thrown;
    const give = (stream, bytes, more) => {
      const { read, decoder } = readers[stream] ?? {};
      const text = decoder?.decode(bytes, { stream: more });
      if (!text || thrown) return;
      try {
        read(text);
      } catch (error) {
        // The reader cannot continue, so the call ends.
        thrown = { error };
        this.interrupt();
      }
    };
    const output = (stream, bytes) => {
      parts[stream].push(bytes);
      give(stream, bytes, true);
    };
    const reply = await this.#machine.run(asked, { stdin, timeout, signal, output });
    [1, 2].forEach((stream) => give(stream, new Uint8Array(0), false));
    if (thrown) throw thrown.error;
    signal?.throwIfAborted();
    const outcome = new Outcome(reply, parts, (path) => this.read(path));
    if (check && !outcome.ok) throw new CommandError(outcome);
    return outcome;
  }

  /** Ends the running call, if there is one. */
  interrupt() {
    this.#machine.interrupt();
  }

  /**
   * Fetches or makes the prepared memory of the interpreters, once in a session, and waits for it.
   */
  async prepare() {
    await this.#call({ prepare: true }, {});
  }

  /** Ends the interpreters. The next cell begins a new one. */
  reset() {
    return this.#past('reset').then(() => {});
  }

  // Files. Relative paths start at the current directory of the shell.

  /** Resolves to the bytes of a file. */
  read(path) {
    return this.#turn(() => this.#machine.ask('readFile', { path }));
  }

  /** Resolves to the text of a file. */
  async readText(path, encoding = 'utf-8') {
    return new TextDecoder(encoding).decode(await this.read(path));
  }

  /**
   * Replaces the contents of a file. Missing folders above it are created, and a text is written as
   * UTF-8. With `commit: false` this makes no commit; the change is part of the next call's commit.
   */
  async write(path, data, { commit = true } = {}) {
    const bytes = bytesOf(data);
    await this.#turn(() => this.#machine.ask('writeFile', { path, bytes, commit }));
  }

  /**
   * Resolves to whether the shell would run a script, and not read another line. The script does
   * not run.
   */
  isComplete(script) {
    return this.#turn(() => this.#machine.ask('isComplete', { script }));
  }

  /** Carries out a file request (docs/files.md), and resolves to the answer. */
  files(request) {
    return this.#turn(() => this.#machine.ask('files', { request }));
  }

  /** Resolves to the entries of a directory, `depth` levels deep. */
  async list(path = '.', { depth = 1, hidden = true } = {}) {
    const found = [];
    for (;;) {
      const { entries } = await this.files({ ls: { path, depth, hidden, offset: found.length } });
      found.push(...entries.entries.map(entry));
      if (entries.next_offset == null || entries.entries.length === 0) return found;
    }
  }

  /** Resolves to the entry of a path. */
  async stat(path, { follow = true } = {}) {
    return entry((await this.files({ stat: { path, follow } })).stat);
  }

  /** Resolves to whether a path exists. */
  async exists(path) {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (error instanceof FileError && error.code === 'ENOENT') return false;
      throw error;
    }
  }

  /** Removes a file or, with `recursive`, a directory. Resolves to the number of removed nodes. */
  async delete(path, { recursive = false } = {}) {
    return (await this.files({ delete: { path, recursive } })).deleted.count;
  }

  /** Renames or moves a file or a directory. */
  async move(from, to) {
    await this.files({ move: { from, to } });
  }

  /** Creates a directory, and the missing directories above it. */
  async makeDir(path) {
    await this.files({ make_dir: { path } });
  }

  // History.

  #past(request) {
    return this.#turn(() => this.#machine.ask('past', { request }));
  }

  /** Resolves to the directory in which the next script begins. */
  cwd() {
    return this.#past('directory');
  }

  /** Resolves to the number of the current commit. */
  async head() {
    return (await this.#past('tags')).head;
  }

  /** Resolves to all commits, the oldest first, with those that were undone. */
  async history() {
    const commits = await this.#past('history');
    return commits.map(({ exit_code: exitCode, changed_files: changedFiles, ...rest }) => ({ ...rest, exitCode, changedFiles }));
  }

  /** Resolves to the files that a commit has changed, with their texts. */
  async changes(number) {
    const changes = await this.#past({ changes: number });
    return changes.map(({ path, change, before, after }) => ({ path, change, before, after }));
  }

  /** Goes back to the commit before the current one. Resolves to the number of that commit. */
  undo() {
    return this.#past('undo');
  }

  /** Reverts an `undo`, if no call was made since. Resolves to the number of the commit. */
  redo() {
    return this.#past('redo');
  }

  /**
   * Resolves to the number of the current commit, for `restore`. A tag becomes a name of the
   * commit.
   */
  async snapshot(tag) {
    const number = await this.head();
    if (tag !== undefined) await this.#past({ tag: [tag, number] });
    return number;
  }

  /**
   * Restores the state of a commit by making a new commit. Resolves to the number of the new one.
   */
  async restore(to) {
    const number = typeof to === 'string' ? (await this.tags()).get(to) : to;
    if (number === undefined) throw new NotFoundError(`no tag '${to}'`);
    if (!Number.isSafeInteger(number) || number < 0) throw new InvalidError(`${number} is no commit's number`);
    return this.#past({ restore: number });
  }

  /** Resolves to the tags, with the numbers of their commits. */
  async tags() {
    return new Map(Object.entries((await this.#past('tags')).tags));
  }

  /**
   * Makes a second session with the same state. It has a kernel of its own, and fetches the parts
   * of the image that it needs. With a name it is kept in the store of this session.
   */
  async fork(name) {
    const store = name === undefined ? undefined : this.#options.store;
    return Session.#load(await this.export({ history: true }), { ...this.#options, store, name }, true);
  }

  /** Resolves to a snapshot of the session (`.wbs`), with all commits or only the current one. */
  export({ history = false } = {}) {
    return this.#turn(() => this.#machine.ask('export', { all: history }));
  }

  /**
   * Resolves to a `.zip` of a directory with everything below it, made by the image's own `zip`.
   */
  async zip(path = '.') {
    const { stdoutBytes } = await this.exec(['sh', '-c', 'cd -- "$1" && zip -qr - .', 'sh', path], { ...WHOLE, check: true });
    return stdoutBytes;
  }

  /**
   * Unpacks a `.zip` into a directory, which is created if it does not exist. Existing files are
   * replaced.
   */
  async unzip(source, path = '.') {
    const script = 'f=$(mktemp) && cat > "$f" && mkdir -p -- "$1" && unzip -qo "$f" -d "$1"; s=$?; rm -f -- "$f"; exit $s';
    await this.exec(['sh', '-c', script, 'sh', path], { stdin: new Uint8Array(source), check: true });
  }

  // Closing.

  /** The session's name. */
  get name() {
    return this.#options.name ?? 'default';
  }

  /** Ends everything that runs, and frees the memory. */
  async close() {
    const [kept, isOpen] = [this.#kept, !this.closed];
    this.#machine.close();
    if (isOpen) await kept?.close();
  }

  /** Whether the session is closed. */
  get closed() {
    return this.#machine.closed;
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  /**
   * The number of workers, the number of idle ones, and the bytes of the kernel, files included.
   */
  get usage() {
    return this.#machine.usage;
  }
}
