// Sessions: the names of the package for Node.

import { CommandError, FileError, InvalidError, NotFoundError } from './errors.js';
import { Machine, bytesOf } from './machine.js';
import { Outcome } from './outcome.js';
import { Kept } from './store.js';

/** All output is wanted. */
const WHOLE = { maxOutput: Number.MAX_SAFE_INTEGER, listFiles: false };

/** An entry of a directory as the kernel tells it. */
function entry({ modified, target = null, kind, ...rest }) {
  return { ...rest, kind, modified: modified / 1e9, target, isDirectory: kind === 'directory' };
}

/** Files, a shell, interpreters that stay, and the history of files and shell. Calls of a session take turns. */
export class Session {
  #machine;
  #queue = Promise.resolve();

  #options;
  /** Its file, if the page keeps it. */
  #kept = null;

  /** @param {object} options see index.d.ts */
  static create(options = {}) {
    return Session.#begin(options, async () => {});
  }

  /** A session out of what `export` has written, here or by the native runner (`.wbs`). */
  static load(source, options = {}) {
    return Session.#load(source, options, false);
  }

  static #load(source, options, isFork) {
    const bytes = new Uint8Array(source);
    return Session.#begin({ ...options, open: 'create' }, (machine) => machine.ask('import', { bytes, isFork }));
  }

  /** Makes a session; `fill` gives one that is new what it begins with. */
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
   * Runs a command to its end: a script for the session's shell, which continues with the directory, variables and
   * functions of the script before, or a list of arguments, run without the shell. One that fails is an outcome, too.
   */
  exec(what, options = {}) {
    const { env, cwd, listFiles } = options;
    const asked = { env, cwd, list_files: listFiles };
    return this.#call({ ...asked, ...(typeof what === 'string' ? { script: what } : { argv: [...what] }) }, options);
  }

  /** Runs a cell in the session's Python interpreter: variables and imports are there for the next one. */
  python(code, options = {}) {
    return this.#call({ python: code }, options);
  }

  /** The same in its JavaScript interpreter: `await` and `import` are allowed at its top. */
  javascript(code, options = {}) {
    return this.#call({ javascript: code }, options);
  }

  #call(asked, options) {
    return this.#turn(() => this.#run({ ...asked, max_output: options.maxOutput }, options));
  }

  /** Has something done when all that was asked for before is done, and keeps what it has changed. */
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

  /** Adds to the session's file what it does not have yet. */
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

  /** Ends the call that runs, if one does. */
  interrupt() {
    this.#machine.interrupt();
  }

  /**
   * Prepares the interpreters' memory, once in a session: a cell that begins later, a command, and a parked cell of the native
   * runner's begin from there. One that needs it has it done.
   */
  async prepare() {
    await this.#call({ prepare: true }, {});
  }

  /** Ends the interpreters; the next cell begins a new one. */
  reset() {
    return this.#past('reset').then(() => {});
  }

  // Files. Relative paths are from the directory that the shell is in.

  /** A file's bytes. */
  read(path) {
    return this.#turn(() => this.#machine.ask('readFile', { path }));
  }

  /** A file's text. */
  async readText(path, encoding = 'utf-8') {
    return new TextDecoder(encoding).decode(await this.read(path));
  }

  /**
   * Makes a file's content this; folders above it are made. A text is written as UTF-8. With `commit: false` it is
   * no commit of its own: that of the next call has it.
   */
  async write(path, data, { commit = true } = {}) {
    const bytes = bytesOf(data);
    await this.#turn(() => this.#machine.ask('writeFile', { path, bytes, commit }));
  }

  /** Whether the shell would run a script, and not ask for another line. Nothing is run, and no commit made. */
  isComplete(script) {
    return this.#turn(() => this.#machine.ask('isComplete', { script }));
  }

  /** Any request about files, in the words of docs/files.md: `{ grep: { pattern: "x" } }`. */
  files(request) {
    return this.#turn(() => this.#machine.ask('files', { request }));
  }

  /** What is in a directory, so many levels deep. */
  async list(path = '.', { depth = 1, hidden = true } = {}) {
    const found = [];
    for (;;) {
      const { entries } = await this.files({ ls: { path, depth, hidden, offset: found.length } });
      found.push(...entries.entries.map(entry));
      if (entries.next_offset == null || entries.entries.length === 0) return found;
    }
  }

  /** What is at a path. */
  async stat(path, { follow = true } = {}) {
    return entry((await this.files({ stat: { path, follow } })).stat);
  }

  /** Whether something is at a path. */
  async exists(path) {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (error instanceof FileError && error.code === 'ENOENT') return false;
      throw error;
    }
  }

  /** Removes a file or, with `recursive`, a directory; gives how many were removed. */
  async delete(path, { recursive = false } = {}) {
    return (await this.files({ delete: { path, recursive } })).deleted.count;
  }

  /** Gives a file or a directory another name. */
  async move(from, to) {
    await this.files({ move: { from, to } });
  }

  /** Makes a directory and those above it. */
  async makeDir(path) {
    await this.files({ make_dir: { path } });
  }

  // History.

  #past(request) {
    return this.#turn(() => this.#machine.ask('past', { request }));
  }

  /** The directory in which the next script begins. */
  cwd() {
    return this.#past('directory');
  }

  /** The number of the current commit. */
  async head() {
    return (await this.#past('tags')).head;
  }

  /** All commits, the oldest first, those that were undone too. */
  async history() {
    const commits = await this.#past('history');
    return commits.map(({ exit_code: exitCode, changed_files: changedFiles, ...rest }) => ({ ...rest, exitCode, changedFiles }));
  }

  /** What a commit has changed of the session's files, with their texts. */
  async changes(number) {
    const changes = await this.#past({ changes: number });
    return changes.map(({ path, change, before, after }) => ({ path, change, before, after }));
  }

  /** Goes back to the commit before this one, with files and shell; gives its number. */
  undo() {
    return this.#past('undo');
  }

  /** Goes forward again after `undo`, if nothing was done since. */
  redo() {
    return this.#past('redo');
  }

  /** The number of the current commit, for a later `restore`; given a tag, it gets that name. */
  async snapshot(tag) {
    const number = await this.head();
    if (tag !== undefined) await this.#past({ tag: [tag, number] });
    return number;
  }

  /** Makes everything as it was at a commit, by a new one, which can be undone; gives its number. */
  async restore(to) {
    const number = typeof to === 'string' ? (await this.tags()).get(to) : to;
    if (number === undefined) throw new NotFoundError(`no tag '${to}'`);
    if (!Number.isSafeInteger(number) || number < 0) throw new InvalidError(`${number} is no commit's number`);
    return this.#past({ restore: number });
  }

  /** The names of commits. */
  async tags() {
    return new Map(Object.entries((await this.#past('tags')).tags));
  }

  /**
   * A second session that is what this one is. It has a kernel of its own, and the parts of the image that it comes to
   * need. With a name it is kept in the store of this one.
   */
  async fork(name) {
    const store = name === undefined ? undefined : this.#options.store;
    return Session.#load(await this.export({ history: true }), { ...this.#options, store, name }, true);
  }

  /** The session as it is, or with all its history (`.wbs`), for `Session.load` here or in the native packages. */
  export({ history = false } = {}) {
    return this.#turn(() => this.#machine.ask('export', { all: history }));
  }

  /** A directory with all that is below it, as a `.zip`: by the machine's own `zip`. */
  async zip(path = '.') {
    const { stdoutBytes } = await this.exec(['sh', '-c', 'cd -- "$1" && zip -qr - .', 'sh', path], { ...WHOLE, check: true });
    return stdoutBytes;
  }

  /** Puts what is in a `.zip` below a directory, which is made; files that are there are replaced. */
  async unzip(source, path = '.') {
    const script = 'f=$(mktemp) && cat > "$f" && mkdir -p -- "$1" && unzip -qo "$f" -d "$1"; s=$?; rm -f -- "$f"; exit $s';
    await this.exec(['sh', '-c', script, 'sh', path], { stdin: new Uint8Array(source), check: true });
  }

  // Its life.

  /** The session's name. */
  get name() {
    return this.#options.name ?? 'default';
  }

  /** Ends all that runs, and gives back the memory. */
  async close() {
    const [kept, isOpen] = [this.#kept, !this.closed];
    this.#machine.close();
    if (isOpen) await kept?.close();
  }

  /** Whether it was closed. */
  get closed() {
    return this.#machine.closed;
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }

  /** What the session has: workers, how many of them wait, bytes of the kernel with all files. */
  get usage() {
    return this.#machine.usage;
  }
}
