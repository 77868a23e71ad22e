// Sessions, and their keys and values.

// From version 7 on, TypeScript loads the types of Node only where something names them.
/// <reference types="node" preserve="true" />

import path = require("node:path");
import { defaultEngine, load, open, type Engine } from "./engine.cjs";
import { mapOverForks, type Turns } from "./forks.cjs";
import { native, type NativeCall, type NativeSession } from "./native.cjs";
import { bytes, opener, type Grants, type SessionOptions, type StreamOptions } from "./options.cjs";
import { Outcome, type Applied } from "./outcome.cjs";
import { Callbacks, Output, Stream, type Tell } from "./output.cjs";
import { ExposedPort, Processes } from "./processes.cjs";
import { raising, raisingNow } from "./raising.cjs";
import { CommandError } from "./shared/errors.js";
import { callOf, command, type CellOptions, type Command, type ExecOptions } from "./shared/options.js";
import { toPort, type Port } from "./shared/outcome.js";
import type { PortSummary } from "./shared/protocol.js";
import { SessionBase, type Transport } from "./shared/session.js";
import { nativeTools, type HostTool } from "./tools.cjs";

/** The options of `map`: those of `exec` for each command, and how many run at once. */
export interface MapOptions extends ExecOptions, Turns {}

/** Passes requests to the native module. */
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

/** Sets the tools of a new session, and returns it. Closes the session if that fails. */
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
 * Files, a shell, interpreters that keep their state between calls, and the history of them all.
 *
 * A session may use only what it is granted when it is created. The calls of one session run one
 * after another, and different sessions run in parallel. A session without a store is lost when it
 * is closed. Methods throw a `WasiboxError` if a request fails.
 */
export class Session extends SessionBase<Buffer> {
  readonly #engine: Engine;
  readonly #native: NativeSession;
  readonly #way: NativeTransport;
  /**
   * The session's keys and values, which undo does not change. Guests read and write them with the
   * command `kv`.
   */
  readonly kv: KeyValues;
  /** Processes that continue while other calls run. */
  readonly processes: Processes;

  private constructor(engine: Engine, made: NativeSession) {
    const way = new NativeTransport(made);
    super(way);
    this.#way = way;
    this.#engine = engine;
    this.#native = made;
    this.kv = new KeyValues(made);
    this.processes = new Processes(way);
  }

  /** Creates or opens a session. */
  static async create(options: SessionOptions = {}): Promise<Session> {
    const engine = await (options.engine ?? defaultEngine());
    return new Session(engine, await withTools(await open(engine, opener(options)), options.tools));
  }

  /**
   * Creates a session from a snapshot that `export` has made, given as bytes or as the path of a
   * file (`.wbs`). A snapshot contains no grants and no tools, so they must be given here.
   */
  static async load(source: Uint8Array | string, options: Grants = {}): Promise<Session> {
    const engine = await (options.engine ?? defaultEngine());
    return new Session(engine, await withTools(await load(engine, opener(options), source), options.tools));
  }

  // Calls.

  /**
   * Runs a command to its end. This is a script for the session's shell, which continues with the
   * directory, variables and functions of the script before, or a list of arguments, which runs
   * without the shell. A command that fails is an outcome, not an error.
   */
  exec(what: string | readonly string[], options: ExecOptions = {}): Promise<Outcome> {
    return this.#run(command(what), options);
  }

  /** Runs a cell in the session's Python interpreter, which keeps variables and imports. */
  python(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#run({ python: code }, options);
  }

  /**
   * Runs a cell in the session's JavaScript interpreter, which keeps variables. Top-level `await`
   * and `import` are allowed.
   */
  javascript(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#run({ javascript: code }, options);
  }

  /**
   * Runs a command, and returns its output as it is written:
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
      // If the call still waits for another one, it will never begin, so its caller need not wait.
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
      // If the reader has thrown an error, that is why the call has ended.
      output?.check();
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener("abort", end);
      output?.stop();
    }
  }

  /** Ends the running call. If there is none, ends the next one. */
  interrupt(): void {
    raisingNow(() => this.#native.interrupt());
  }

  /** Replaces the functions that guests may call. Forks have the functions, too. */
  setTools(tools: Iterable<HostTool>): Promise<void> {
    return raising(() => this.#native.setTools(...nativeTools(tools)));
  }

  // Files. Relative paths start at the current directory of the shell.

  /** Returns the text of a file. */
  async readText(path: string, encoding: BufferEncoding = "utf8"): Promise<string> {
    return (await this.read(path)).toString(encoding);
  }

  /**
   * Replaces the contents of a file. Missing folders above it are created. A text is written as
   * UTF-8. `mode` has the permission bits of the file.
   */
  write(path: string, data: string | Uint8Array, options: { mode?: number } = {}): Promise<void> {
    return raising(() => this.#native.write(path, bytes(data), options.mode));
  }

  // Ports.

  /** Returns the ports at which programs of the session listen. */
  async ports(): Promise<Port[]> {
    const all: PortSummary[] = await this.#way.apply("ports");
    return all.map(toPort);
  }

  /**
   * Listens at a port of the host's 127.0.0.1 that leads to a port of the session. Everybody on the
   * host can use it until it is closed. Host port 0 stands for any free port.
   */
  async expose(port: number, hostPort = 0): Promise<ExposedPort> {
    return new ExposedPort(await raising(() => this.#native.expose(port, hostPort)));
  }

  // History.

  /** The session's name. */
  get name(): string {
    return this.#native.name();
  }

  /**
   * Calls `act`, and returns its result. If `act` throws, its calls have no effect: the session
   * goes back to the commit before them, and their commits are discarded for good.
   */
  async transaction<T>(act: (session: Session) => T | Promise<T>): Promise<T> {
    const begun = await this.head();
    try {
      return await act(this);
    } catch (error) {
      await this.#way.apply({ history: { roll_back: begun } });
      throw error;
    }
  }

  /** Returns a copy of the session. The two share all data that neither changes. */
  async fork(name?: string): Promise<Session> {
    return new Session(this.#engine, await raising(() => this.#native.fork(name)));
  }

  /**
   * Returns `count` copies of the session, which are made at once. A copy takes a worker only while
   * it is used.
   */
  async forkMany(count: number): Promise<Session[]> {
    const forks = await raising(() => this.#native.forkMany(count));
    return forks.map((fork) => new Session(this.#engine, fork));
  }

  /**
   * Runs each command in a fork of its own, and yields `[index, outcome]` as each ends. The session
   * itself does not change. An error of a call, as with `check`, is thrown here. Leaving the loop
   * early ends the commands that run:
   *
   *     for await (const [index, outcome] of s.map(["make test", "make lint"], { timeout: 60 }))
   *       console.log(index, outcome.exitCode);
   */
  map(
    commands: Iterable<string | readonly string[]>,
    options: MapOptions = {},
  ): AsyncGenerator<[index: number, outcome: Outcome], void, undefined> {
    const { atOnce, signal: all, ...rest } = options;
    const calls = Array.from(commands, (what) => (fork: Session, signal: AbortSignal) => fork.exec(what, { ...rest, signal }));
    return mapOverForks(this, calls, { atOnce, signal: all });
  }

  /**
   * Writes a snapshot of the session to a file (`.wbs`). Without a path, returns its bytes. With
   * `history`, the snapshot has all commits, otherwise only the current one. `Session.load` creates
   * a session from a snapshot, on this machine or another one.
   */
  export(file?: undefined, options?: { history?: boolean }): Promise<Buffer>;
  export(file: string, options?: { history?: boolean }): Promise<void>;
  async export(file?: string, options: { history?: boolean } = {}): Promise<Buffer | void> {
    const all = options.history ?? false;
    if (file === undefined) return raising(() => this.#native.export(all));
    return raising(() => this.#native.exportFile(path.resolve(file), all));
  }

  /**
   * Returns the session's log of calls and requests, the oldest entry first. Times are in
   * nanoseconds since the epoch.
   */
  async log(): Promise<Record<string, unknown>[]> {
    return JSON.parse(await raising(() => this.#native.log()));
  }

  // The workspace.

  /**
   * Returns the session's changes to the host folder of its workspace, as a diff like git's. With
   * paths, only the changes to these paths and everything below them.
   */
  async workspaceDiff(...paths: string[]): Promise<string> {
    return (await this.#way.apply({ workspace: { diff: paths } })).text;
  }

  /**
   * Applies the session's changes to the host folder of its workspace. With paths, only the changes
   * to these paths and everything below them. Files that have changed on the host meanwhile are
   * left as they are (`Applied.left`). The session can run no more calls after this.
   */
  async workspaceApply(...paths: string[]): Promise<Applied> {
    const { done, left } = await this.#way.apply({ workspace: { apply: paths } });
    return { done, left: left.map(([path, why]: [string, string]) => ({ path, why })) };
  }

  // Sleeping and closing.

  /** Frees the session's process and memory until the next call. */
  park(): Promise<void> {
    return raising(() => this.#native.park());
  }

  /** Returns whether the session has a process or threads now. */
  isAwake(): Promise<boolean> {
    return raising(() => this.#native.isAwake());
  }

  /**
   * Returns the walls of the jail that this host lacks. Returns null before the first call, and if
   * the session has no process of its own.
   */
  missingWalls(): Promise<string[] | null> {
    return raising(() => this.#native.missingWalls());
  }

  /** Closes the session. A session without a store is lost. */
  close(): Promise<void> {
    return raising(() => this.#native.close());
  }

  /** Whether the session is closed. */
  get closed(): boolean {
    return this.#native.isClosed();
  }

  /** Closes the session, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The keys and values of a session. */
export class KeyValues {
  readonly #native: NativeSession;

  /** @internal */
  constructor(made: NativeSession) {
    this.#native = made;
  }

  /** Returns the value of a key, or undefined if there is none. */
  async get(key: string): Promise<Buffer | undefined> {
    return (await raising(() => this.#native.value(key))) ?? undefined;
  }

  /** Sets the value of a key. A text is stored as UTF-8. */
  set(key: string, value: string | Uint8Array): Promise<void> {
    return raising(() => this.#native.setValue(key, bytes(value)));
  }

  /** Removes a key. Returns whether it existed. */
  delete(key: string): Promise<boolean> {
    return raising(() => this.#native.removeValue(key));
  }

  /** Returns all keys. */
  keys(): Promise<string[]> {
    return raising(() => this.#native.keys());
  }
}
