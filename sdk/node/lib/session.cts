// Sessions.

import path = require("node:path");
import { defaultEngine, load, open, type Engine } from "./engine.cjs";
import { native, type NativeCall, type NativeSession } from "./native.cjs";
import { bytes, opener, type Grants, type SessionOptions, type StreamOptions } from "./options.cjs";
import { Outcome, type Applied } from "./outcome.cjs";
import { Callbacks, Output, Stream, type Tell } from "./output.cjs";
import { raising, raisingNow } from "./raising.cjs";
import { CommandError } from "./shared/errors.js";
import { callOf, command, type CellOptions, type Command, type ExecOptions } from "./shared/options.js";
import { SessionBase, type Transport } from "./shared/session.js";
import { nativeTools, type HostTool } from "./tools.cjs";

/** Requests to the native module. */
class NativeTransport implements Transport<Buffer> {
  readonly #native: NativeSession;

  constructor(native: NativeSession) {
    this.#native = native;
  }

  async apply(request: unknown): Promise<any> {
    return JSON.parse(await raising(() => this.#native.apply(JSON.stringify(request))));
  }

  read(path: string): Promise<Buffer> {
    return raising(() => this.#native.read(path));
  }

  directory(): Promise<string> {
    return raising(() => this.#native.directory());
  }
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
export class Session extends SessionBase<Buffer> {
  readonly #engine: Engine;
  readonly #native: NativeSession;
  readonly #way: NativeTransport;
  /** The session's key-values, which outlive calls and undo; guests have them as the command `kv`. */
  readonly kv: KeyValues;

  private constructor(engine: Engine, made: NativeSession) {
    const way = new NativeTransport(made);
    super(way);
    this.#way = way;
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

  async #run(what: Command, options: ExecOptions): Promise<Outcome> {
    const made = new native.Call();
    const { onStdout, onStderr } = options;
    if (onStdout === undefined && onStderr === undefined) return this.#call(what, options, made);
    return this.#call(what, options, made, new Callbacks(onStdout, onStderr));
  }

  async #call(what: Command, options: ExecOptions, made: NativeCall, reader?: Tell | Callbacks): Promise<Outcome> {
    const { stdin, ...rest } = options;
    const { signal } = rest;
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
      const ended = raising(() => this.#native.call(JSON.stringify(callOf(what, rest)), bytes(stdin), output?.take, made));
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

  /** Makes these the functions that guests may call; `fork` gives them on. */
  setTools(tools: Iterable<HostTool>): Promise<void> {
    return raising(() => this.#native.setTools(...nativeTools(tools)));
  }

  // Files. Relative paths start from the shell's directory.

  /** A file's text. */
  async readText(path: string, encoding: BufferEncoding = "utf8"): Promise<string> {
    return (await this.read(path)).toString(encoding);
  }

  /** Makes a file's content this; folders above it are made. A text is written as UTF-8. */
  write(path: string, data: string | Uint8Array, options: { mode?: number } = {}): Promise<void> {
    return raising(() => this.#native.write(path, bytes(data), options.mode));
  }

  // History.

  /** The session's name. */
  get name(): string {
    return this.#native.name();
  }

  /** Calls that count together: if `act` fails, the session is as if none had been made. */
  async transaction<T>(act: (session: Session) => T | Promise<T>): Promise<T> {
    const begun = await this.head();
    try {
      return await act(this);
    } catch (error) {
      await this.#way.apply({ history: { roll_back: begun } });
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
  async workspaceDiff(...paths: string[]): Promise<string> {
    return (await this.#way.apply({ workspace: { diff: paths } })).text;
  }

  /** Brings what the session has changed back to the host's folder. The session runs nothing more after this. */
  async workspaceApply(...paths: string[]): Promise<Applied> {
    const { done, left } = await this.#way.apply({ workspace: { apply: paths } });
    return { done, left: left.map(([path, why]: [string, string]) => ({ path, why })) };
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
