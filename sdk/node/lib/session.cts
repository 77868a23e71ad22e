// Sessions.

import path = require("node:path");
import { defaultEngine, load, open, type Engine } from "./engine.cjs";
import { CommandError, FileError, InvalidError, NotFoundError, raising, raisingNow } from "./errors.cjs";
import { native, type NativeCall, type NativeSession } from "./native.cjs";
import {
  bytes,
  call,
  command,
  opener,
  type CellOptions,
  type ExecOptions,
  type Grants,
  type SessionOptions,
  type StreamOptions,
  type What,
} from "./options.cjs";
import { Outcome, commit, entry, type Applied, type Commit, type Entry, type Match, type CommitRecord } from "./outcome.cjs";
import { Callbacks, Output, Stream, type Tell } from "./output.cjs";
import { nativeTools, type HostTool } from "./tools.cjs";

/** A number of a commit, which the native module takes as it is. */
function counted(number: number): number {
  if (!Number.isSafeInteger(number) || number < 0) throw new InvalidError(`${number} is no commit's number`);
  return number;
}

/** Gives a session that was opened its tools, or closes it. */
async function withTools(made: NativeSession, tools: Iterable<HostTool> | undefined): Promise<NativeSession> {
  if (tools === undefined) return made;
  try {
    await raising(() => made.setTools(...nativeTools(tools)));
    return made;
  } catch (error) {
    await made.close();
    throw error;
  }
}

/**
 * Files, a shell, interpreters that stay, and the history of all that.
 *
 * It is granted nothing but what is said. Calls of a session come one after another; sessions run beside each other. A
 * session without a store is gone when it is closed.
 */
export class Session {
  readonly #engine: Engine;
  readonly #native: NativeSession;
  /** The session's key-values, which outlive calls and undo; guests have them as the command `kv`. */
  readonly kv: KeyValues;

  private constructor(engine: Engine, made: NativeSession) {
    this.#engine = engine;
    this.#native = made;
    this.kv = new KeyValues(made);
  }

  /** Opens a session. */
  static async create(options: SessionOptions = {}): Promise<Session> {
    const engine = await (options.engine ?? defaultEngine());
    return new Session(engine, await withTools(await open(engine, opener(options)), options.tools));
  }

  /** A session out of what `export` has written: bytes, or a file (`.wbs`). It brings no grants and no tools with it. */
  static async load(source: Uint8Array | string, options: Grants = {}): Promise<Session> {
    const engine = await (options.engine ?? defaultEngine());
    return new Session(engine, await withTools(await load(engine, opener(options), source), options.tools));
  }

  // Calls.

  /**
   * Runs a command to its end: a script for the session's shell, which continues with the directory, variables and
   * functions of the script before, or a list of arguments, run without the shell. One that fails is an outcome, too.
   */
  exec(what: string | readonly string[], options: ExecOptions = {}): Promise<Outcome> {
    return this.#run(command(what), options);
  }

  /** Runs a cell in the session's Python interpreter: variables and imports are there for the next one. */
  python(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#run({ python: code }, options);
  }

  /** The same in its JavaScript interpreter: `await` and `import` are allowed at its top. */
  javascript(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#run({ javascript: code }, options);
  }

  /**
   * Runs a command and gives its output as it comes:
   *
   *     const output = s.stream("make");
   *     for await (const chunk of output) process.stdout.write(chunk.text);
   *     (await output.outcome).exitCode;
   */
  stream(what: string | readonly string[], options: StreamOptions = {}): Stream {
    return new Stream((made, tell) => this.#call(command(what), options, made, tell));
  }

  async #run(what: What, options: ExecOptions): Promise<Outcome> {
    const made = new native.Call();
    const { onStdout, onStderr } = options;
    if (onStdout === undefined && onStderr === undefined) return this.#call(what, options, made);
    return this.#call(what, options, made, new Callbacks(onStdout, onStderr));
  }

  async #call(what: What, options: ExecOptions, made: NativeCall, reader?: Tell | Callbacks): Promise<Outcome> {
    const { signal, stdin } = options;
    signal?.throwIfAborted();
    const callbacks = reader instanceof Callbacks ? reader : undefined;
    const tell = reader instanceof Callbacks ? reader.tell : reader;
    const output = tell && new Output(made, tell);
    if (callbacks && output) callbacks.output = output;
    let end = () => {};
    const aborted = new Promise<never>((_, reject) => {
      // A call that waits for another one is not begun; its caller need not wait, too.
      end = () => {
        made.cancel();
        reject(signal?.reason);
      };
    });
    signal?.addEventListener("abort", end, { once: true });
    try {
      const ended = raising(() => this.#native.call(call(what, options), bytes(stdin), output?.take, made));
      const result = await (signal === undefined ? ended : Promise.race([ended, aborted]));
      await output?.finish(result.chunks);
      await callbacks?.settle();
      output?.check();
      const outcome = new Outcome(result, (file) => this.read(file));
      if (options.check === true && !outcome.ok) throw new CommandError(outcome);
      return outcome;
    } catch (error) {
      // What the reader has thrown has ended the call.
      output?.check();
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", end);
      output?.stop();
    }
  }

  /** Ends the call that runs; or the next one, if none does. */
  interrupt(): void {
    raisingNow(() => this.#native.interrupt());
  }

  /** Ends the interpreters; the next cell begins a new one. */
  reset(): Promise<void> {
    return raising(() => this.#native.reset());
  }

  /** Makes these the functions that guests may call; `fork` gives them on. */
  setTools(tools: Iterable<HostTool>): Promise<void> {
    return raising(() => this.#native.setTools(...nativeTools(tools)));
  }

  // Files. Relative paths are from the directory that the shell is in.

  /** A file's bytes. */
  read(path: string): Promise<Buffer> {
    return raising(() => this.#native.read(path));
  }

  /** A file's text. */
  async readText(path: string, encoding: BufferEncoding = "utf8"): Promise<string> {
    return (await this.read(path)).toString(encoding);
  }

  /** Makes a file's content this; folders above it are made. A text is written as UTF-8. */
  write(path: string, data: string | Uint8Array, options: { mode?: number } = {}): Promise<void> {
    return raising(() => this.#native.write(path, bytes(data), options.mode));
  }

  /** Any request about files, in the words of docs/files.md: `{ grep: { pattern: "x" } }`. */
  async files(request: Readonly<Record<string, unknown>>): Promise<any> {
    return JSON.parse(await raising(() => this.#native.files(JSON.stringify(request))));
  }

  /** Replaces text, which must be there once unless all of it is meant. Gives the place with its line numbers. */
  async edit(path: string, old: string, text: string, options: { replaceAll?: boolean } = {}): Promise<string> {
    const edits = [{ old, new: text, replace_all: options.replaceAll ?? false }];
    return (await this.files({ edit: { path, edits } })).edited.shown;
  }

  /** Applies a unified diff, all of it or nothing; gives the files' paths. */
  async patch(patch: string): Promise<string[]> {
    const { files } = (await this.files({ apply_patch: { patch } })).patched as { files: { path: string }[] };
    return files.map((file) => file.path);
  }

  /** What is in a directory, so many levels deep. */
  async list(path = ".", options: { depth?: number; hidden?: boolean } = {}): Promise<Entry[]> {
    const { depth = 1, hidden = true } = options;
    const found: Entry[] = [];
    for (;;) {
      const { entries } = await this.files({ ls: { path, depth, hidden, offset: found.length } });
      found.push(...entries.entries.map(entry));
      if (entries.next_offset == null || entries.entries.length === 0) return found;
    }
  }

  /** Paths that fit a pattern: `*`, `?`, `[...]`, `{a,b}`, `**`. */
  async glob(pattern: string, path = ".", options: { hidden?: boolean; limit?: number } = {}): Promise<string[]> {
    const { hidden = false, limit = 1000 } = options;
    return (await this.files({ glob: { pattern, path, hidden, limit } })).paths.paths;
  }

  /** Lines that match a pattern (Perl's, unless it is `literal`) in a file, or in all below a directory. */
  async grep(
    pattern: string,
    path = ".",
    options: { ignoreCase?: boolean; literal?: boolean; include?: readonly string[]; limit?: number } = {},
  ): Promise<Match[]> {
    const { ignoreCase = false, literal = false, include = [], limit = 200 } = options;
    const syntax = literal ? "literal" : "perl";
    const asked = { pattern, path, ignore_case: ignoreCase, syntax, include, limit };
    const { files } = (await this.files({ grep: asked })).matches as {
      files: { path: string; lines: { number: number; text: string; matches: boolean }[] }[];
    };
    return files.flatMap((file) =>
      file.lines
        .filter((line) => line.matches)
        .map((line) => ({ path: file.path, line: line.number, text: line.text })),
    );
  }

  /** What is at a path. */
  async stat(path: string, options: { follow?: boolean } = {}): Promise<Entry> {
    return entry((await this.files({ stat: { path, follow: options.follow ?? true } })).stat);
  }

  /** Whether something is at a path. */
  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (error instanceof FileError && error.code === "ENOENT") return false;
      throw error;
    }
  }

  /** Removes a file or, with `recursive`, a directory; gives how many were removed. */
  async delete(path: string, options: { recursive?: boolean } = {}): Promise<number> {
    return (await this.files({ delete: { path, recursive: options.recursive ?? false } })).deleted.count;
  }

  /** Gives a file or a directory another name. */
  async move(from: string, to: string): Promise<void> {
    await this.files({ move: { from, to } });
  }

  /** Makes a directory and those above it. */
  async makeDir(path: string): Promise<void> {
    await this.files({ make_dir: { path } });
  }

  // History.

  /** The session's name. */
  get name(): string {
    return this.#native.name();
  }

  /** The directory in which the next script begins. */
  cwd(): Promise<string> {
    return raising(() => this.#native.directory());
  }

  /** The number of the current commit. */
  head(): Promise<number> {
    return raising(() => this.#native.head());
  }

  /** All commits, the oldest first, those that were undone too. */
  async history(): Promise<Commit[]> {
    const commits = await raising(() => this.#native.history());
    return (JSON.parse(commits) as CommitRecord[]).map(commit);
  }

  /** Goes back to the commit before this one, with files, shell and interpreters; gives its number. */
  undo(): Promise<number> {
    return raising(() => this.#native.undo());
  }

  /** Goes forward again after `undo`, if nothing was done since. */
  redo(): Promise<number> {
    return raising(() => this.#native.redo());
  }

  /** The number of the current commit, for a later `restore`; given a tag, it gets that name. */
  async snapshot(tag?: string): Promise<number> {
    const number = await this.head();
    if (tag !== undefined) await raising(() => this.#native.tag(tag, number));
    return number;
  }

  /** Makes everything as it was at a commit, by a new one, which can be undone; gives its number. */
  async restore(to: number | string): Promise<number> {
    const number = typeof to === "string" ? (await this.tags()).get(to) : counted(to);
    if (number === undefined) throw new NotFoundError(`no tag '${to}'`);
    return raising(() => this.#native.restore(number));
  }

  /** The names of commits. */
  async tags(): Promise<Map<string, number>> {
    const tags = await raising(() => this.#native.tags());
    return new Map(tags.map(({ name, number }) => [name, number]));
  }

  /** Calls that count together: if `act` fails, the session is as if none had been made. */
  async transaction<T>(act: (session: Session) => T | Promise<T>): Promise<T> {
    const begun = await this.head();
    try {
      return await act(this);
    } catch (error) {
      await raising(() => this.#native.rollBack(begun));
      throw error;
    }
  }

  /** A second session that is what this one is, and shares with it what neither changes. */
  async fork(name?: string): Promise<Session> {
    return new Session(this.#engine, await raising(() => this.#native.fork(name)));
  }

  /**
   * Writes the session as it is, or with all its history, into a file (`.wbs`); without a path gives the bytes.
   * `Session.load` makes a session of it, here or elsewhere.
   */
  export(file?: undefined, options?: { history?: boolean }): Promise<Buffer>;
  export(file: string, options?: { history?: boolean }): Promise<void>;
  async export(file?: string, options: { history?: boolean } = {}): Promise<Buffer | void> {
    const all = options.history ?? false;
    if (file === undefined) return raising(() => this.#native.export(all));
    return raising(() => this.#native.exportFile(path.resolve(file), all));
  }

  /** The session's log, the oldest entry first: calls, requests, with times in nanoseconds since the epoch. */
  async log(): Promise<Record<string, unknown>[]> {
    return JSON.parse(await raising(() => this.#native.log()));
  }

  // The workspace.

  /** What a session over a host's folder has changed of it, as git writes it. */
  workspaceDiff(...paths: string[]): Promise<string> {
    return raising(() => this.#native.workspaceDiff(paths));
  }

  /** Brings what the session has changed back to the host's folder. The session runs nothing more after this. */
  workspaceApply(...paths: string[]): Promise<Applied> {
    return raising(() => this.#native.workspaceApply(paths));
  }

  // Its life.

  /** Gives process and memory back until the next call. */
  park(): Promise<void> {
    return raising(() => this.#native.park());
  }

  /** Whether it has a process now. */
  isAwake(): Promise<boolean> {
    return raising(() => this.#native.isAwake());
  }

  /** The walls of the jail that this host lacks; null before the first call, or without a process. */
  missingWalls(): Promise<string[] | null> {
    return raising(() => this.#native.missingWalls());
  }

  /** Lets go of the session. One without a store is gone with that. */
  close(): Promise<void> {
    return raising(() => this.#native.close());
  }

  /** Whether it was closed. */
  get closed(): boolean {
    return this.#native.isClosed();
  }

  /** For `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** A session's key-values. */
export class KeyValues {
  readonly #native: NativeSession;

  /** @internal */
  constructor(made: NativeSession) {
    this.#native = made;
  }

  /** What a key has. */
  async get(key: string): Promise<Buffer | undefined> {
    return (await raising(() => this.#native.value(key))) ?? undefined;
  }

  /** Gives a key a value; a text is kept as UTF-8. */
  set(key: string, value: string | Uint8Array): Promise<void> {
    return raising(() => this.#native.setValue(key, bytes(value)));
  }

  /** Removes a key; whether it was there. */
  delete(key: string): Promise<boolean> {
    return raising(() => this.#native.removeValue(key));
  }

  /** All keys. */
  keys(): Promise<string[]> {
    return raising(() => this.#native.keys());
  }
}
