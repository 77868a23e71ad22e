// Sessions in a page or in Node, over the kernel in WebAssembly. `sdk/typescript/session.ts` has
// the methods that they share with native sessions.

import { CommandError } from "../typescript/errors.js";
import { callOf, command, type CellOptions as AnyCellOptions, type Command, type ExecOptions as AnyExecOptions } from "../typescript/options.js";
import { Outcome } from "../typescript/outcome.js";
import { SessionBase, type Transport } from "../typescript/session.js";
import { Machine, bytesOf } from "./machine.js";
import { Kept } from "./store.js";

/** The options of `Session.create`. */
export interface CreateOptions {
  /**
   * The URL of the folder that `cargo xtask dist --web` makes, with `image/` and `wasibox.wasm` in
   * it; relative to the page.
   */
  baseUrl?: string | URL;
  /** The module of the kernel, instead of the one in that folder. */
  kernel?: Uint8Array | ArrayBuffer;
  /** A whole image (`image.webc`), instead of parts that are fetched from that folder on demand. */
  image?: Uint8Array | ArrayBuffer;
  /** Called while parts of the image are fetched. */
  onProgress?: (progress: Progress) => void;
  /**
   * The name of the store that keeps the session, only in pages. Without it, a session is not kept.
   */
  store?: string;
  /** The session's name; `default` by default. */
  name?: string;
  /**
   * With a store, `any` (the default) opens the session of that name, or creates it if there is
   * none. `create` only creates, and `open` only opens.
   */
  open?: "any" | "create" | "open";
  /** The number of workers that are started before the first command; 3 by default. */
  workers?: number;
  /**
   * Rules for the HTTP requests that guests may make (docs/network.md), such as
   * `"GET https://api.example.com/"`. By default no request is allowed. The page makes the requests
   * with `fetch`, without cookies. Responses of other origins are available only if their servers
   * allow it (CORS).
   */
  network?: string | readonly string[] | Network;
  /**
   * Whether the prepared memory of an interpreter is fetched or made in the background once the
   * interpreter starts repeatedly; true by default. See `prepare`.
   */
  prepare?: boolean;
  /** Called with messages about errors of the kernel itself. */
  log?: (text: string) => void;
}

/**
 * The HTTP requests that guests may make. Rules with `at` are refused, because a page cannot
 * resolve names to addresses.
 */
export interface Network {
  /** The rules for allowed requests, such as `"GET,POST https://*.example.com/api/"`. */
  allow?: readonly string[];
  /** The rules for requests that are refused even if `allow` has them. */
  deny?: readonly string[];
}

/** How much of a part of the image has arrived. `loaded` and `total` are bytes as they are sent. */
export interface Progress {
  /** The name of the part, such as `python` or `pandas`. */
  name: string;
  loaded: number;
  total: number;
}

type Data = string | Uint8Array;
type Stdin = Data | Iterable<Data> | AsyncIterable<Data>;

/** The options of a cell. */
export type CellOptions = AnyCellOptions<Stdin>;
/** The options of a command. */
export interface ExecOptions extends Omit<AnyExecOptions<Stdin>, "keepBackground"> {
  /**
   * Runs the command on a terminal of this size. `stdin` is then what is typed, and has no end;
   * Ctrl+C is the character U+0003. `Session.resize` changes the size. The outcome has no output.
   */
  terminal?: TerminalSize;
  /**
   * Called with what the terminal shows: text with control sequences, as UTF-8 that may be cut
   * anywhere. Programs wait while promises that it has returned for 128 KiB are not settled.
   */
  onScreen?: (bytes: Uint8Array) => unknown;
}

/** The size of a terminal. */
export interface TerminalSize {
  rows: number;
  columns: number;
}

/** A file that a commit has changed. */
export interface Changed {
  path: string;
  change: "created" | "modified" | "deleted";
  /**
   * The file's text before and after the commit. It is null if the file does not exist, is not
   * text, is too long, or is partly in the image.
   */
  before: string | null;
  after: string | null;
}

/** The options of a command whose whole output is needed. */
const WHOLE = { maxOutput: Number.MAX_SAFE_INTEGER, listFiles: false };

/** Passes requests to a machine one after another, and keeps the changes of each. */
class PageTransport implements Transport<Uint8Array> {
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly machine: Machine,
    /** The session's file, if the page keeps it. */
    readonly kept: Kept | null,
  ) {}

  /** Calls `act` when all earlier requests have ended, and then keeps its changes. */
  turn<T>(act: () => T | Promise<T>): Promise<T> {
    const done = this.#queue.then(async () => {
      try {
        return await act();
      } finally {
        await this.keep();
      }
    });
    this.#queue = done.catch(() => {});
    return done;
  }

  /** Appends the changes that the session's file does not have yet. */
  async keep(): Promise<void> {
    if (this.kept === null || this.machine.closed) return;
    await this.kept.append(await this.machine.ask("record"));
  }

  ask(type: string, message: object = {}): Promise<any> {
    return this.turn(() => this.machine.ask(type, message));
  }

  apply(request: any): Promise<any> {
    return request.files === undefined ? this.ask("past", { request }) : this.ask("files", { request: request.files });
  }

  read(path: string): Promise<Uint8Array> {
    return this.ask("readFile", { path });
  }

  directory(): Promise<string> {
    return this.apply("directory");
  }
}

/** Returns the parts of output as one array. */
function joined(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/**
 * Files, a shell, interpreters that keep their state between calls, and the history of them all.
 * The calls of a session run one after another. Methods throw a `WasiboxError` if a request fails.
 */
export class Session extends SessionBase {
  readonly #way: PageTransport;
  readonly #options: CreateOptions;

  private constructor(way: PageTransport, options: CreateOptions) {
    super(way);
    this.#way = way;
    this.#options = options;
  }

  /** Creates or opens a session. */
  static create(options: CreateOptions): Promise<Session> {
    return Session.#begin(options, async () => {});
  }

  /** Creates a session from a snapshot (`.wbs`) that `export` or the native runner has made. */
  static load(source: Uint8Array | ArrayBuffer, options: Omit<CreateOptions, "open">): Promise<Session> {
    return Session.#load(source, options, false);
  }

  static #load(source: Uint8Array | ArrayBuffer, options: CreateOptions, isFork: boolean): Promise<Session> {
    const bytes = new Uint8Array(source);
    return Session.#begin({ ...options, open: "create" }, (machine) => machine.ask("import", { bytes, isFork }));
  }

  /** Makes a session, or opens the kept one. `fill` is called for a new session only. */
  static async #begin(options: CreateOptions = {}, fill: (machine: Machine) => Promise<unknown>): Promise<Session> {
    const isKept = options.store !== undefined;
    const { kept, bytes } = isKept ? await Kept.open(options) : { kept: null, bytes: [] };
    let machine: Machine | undefined;
    try {
      machine = await Machine.create(options);
      const whole = bytes.length > 0 ? await machine.ask("replay", { bytes }) : 0;
      if (whole < bytes.length) await kept?.cut(whole);
      if (whole === 0) await fill(machine);
      const way = new PageTransport(machine, kept);
      await way.keep();
      return new Session(way, options);
    } catch (error) {
      machine?.close();
      await kept?.close();
      throw error;
    }
  }

  // Calls.

  /**
   * Runs a command to its end. This is a script for the session's shell, which continues with the
   * directory, variables and functions of the script before, or a list of arguments, which runs
   * without the shell. A command that fails is an outcome, not an error.
   */
  exec(what: string | readonly string[], options: ExecOptions = {}): Promise<Outcome> {
    return this.#call(command(what), options);
  }

  /** Runs a cell in the session's Python interpreter, which keeps variables and imports. */
  python(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#call({ python: code }, options);
  }

  /**
   * Runs a cell in the session's JavaScript interpreter, which keeps variables. Top-level `await`
   * and `import` are allowed.
   */
  javascript(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#call({ javascript: code }, options);
  }

  #call(what: Command, options: ExecOptions): Promise<Outcome> {
    // The page itself measures the time and writes the input, so these are not part of the request.
    const { timeout, stdin, ...rest } = options;
    const call = callOf(what, rest);
    const asked = rest.terminal === undefined ? call : { terminal: rest.terminal, call };
    return this.#way.turn(() => this.#run(asked, { ...rest, timeout, stdin }));
  }

  async #run(asked: object, options: ExecOptions): Promise<Outcome> {
    const { stdin = "", timeout, signal, onStdout, onStderr, check = false } = options;
    signal?.throwIfAborted();
    const parts: Uint8Array[][] = [[], [], []];
    const readers = [undefined, onStdout, onStderr].map((read) => read && { read, decoder: new TextDecoder() });
    let thrown: { error: unknown } | undefined;
    const give = (stream: number, bytes: Uint8Array, more: boolean) => {
      const reader = readers[stream];
      const text = reader?.decoder.decode(bytes, { stream: more });
      if (!text || thrown) return;
      try {
        reader?.read(text);
      } catch (error) {
        // The reader cannot continue, so the call ends.
        thrown = { error };
        this.interrupt();
      }
    };
    const show = async (bytes: Uint8Array) => {
      try {
        if (!thrown) await options.onScreen?.(bytes);
      } catch (error) {
        thrown ??= { error };
        this.interrupt();
      }
      // The call may have ended, and the session may be closed.
      await this.#way.machine.ask("shown", { bytes: bytes.length }).catch(() => {});
    };
    // The screen is shown part after part, and the call's outcome comes after its last part.
    let screen = Promise.resolve();
    const output = (stream: number, bytes: Uint8Array) => {
      if (options.terminal !== undefined) {
        screen = screen.then(() => show(bytes));
        return;
      }
      parts[stream]?.push(bytes);
      give(stream, bytes, true);
    };
    const json = await this.#way.machine.run(asked, { stdin, timeout, signal, output });
    for (const stream of [1, 2]) give(stream, new Uint8Array(0), false);
    if (!signal?.aborted) await screen;
    if (thrown) throw (thrown as { error: unknown }).error;
    signal?.throwIfAborted();
    const outcome = new Outcome(json, joined(parts[1]!), joined(parts[2]!), (path) => this.read(path));
    if (check && !outcome.ok) throw new CommandError(outcome);
    return outcome;
  }

  /** Ends the running call, if there is one. */
  interrupt(): void {
    this.#way.machine.interrupt();
  }

  /** Sets the size of the terminal of the running call, if it has one. */
  async resize({ rows, columns }: TerminalSize): Promise<void> {
    await this.#way.machine.ask("resize", { rows, columns });
  }

  /**
   * Makes the prepared memory of all interpreters, or fetches it if the image is in parts, and
   * waits for it. Interpreters that begin later start from this memory. A parked interpreter of the
   * native runner needs it, and gets it without this call.
   */
  async prepare(): Promise<void> {
    await this.#way.turn(() => this.#run({ prepare: true }, {}));
  }

  // Files. Relative paths start at the current directory of the shell.

  /** Returns the text of a file. */
  async readText(path: string, encoding = "utf-8"): Promise<string> {
    return new TextDecoder(encoding).decode(await this.read(path));
  }

  /**
   * Replaces the contents of a file. Missing folders above it are created. A text is written as
   * UTF-8. With `commit: false`, the change becomes part of the next call's commit.
   */
  async write(path: string, data: string | Uint8Array, options: { commit?: boolean } = {}): Promise<void> {
    const { commit = true } = options;
    await this.#way.ask("writeFile", { path, bytes: bytesOf(data), commit });
  }

  /**
   * Returns whether a script is complete; otherwise the shell would ask for another line. The
   * script does not run, and no commit is made.
   */
  isComplete(script: string): Promise<boolean> {
    return this.#way.ask("isComplete", { script });
  }

  // History.

  /** Returns the files that a commit has changed, with their texts. */
  changes(number: number): Promise<Changed[]> {
    return this.#way.apply({ changes: number });
  }

  /**
   * Returns a copy of the session. The copy has a kernel of its own, and gets the parts of the
   * image that it needs from the browser's cache. With a name, it is kept in the same store.
   */
  async fork(name?: string): Promise<Session> {
    const store = name === undefined ? undefined : this.#options.store;
    return Session.#load(await this.export({ history: true }), { ...this.#options, store, name }, true);
  }

  /**
   * Returns a snapshot of the session (`.wbs`), for `Session.load` here or in the native packages.
   * With `history`, it has all commits, otherwise only the current one.
   */
  export(options: { history?: boolean } = {}): Promise<Uint8Array> {
    return this.#way.ask("export", { all: options.history ?? false });
  }

  /**
   * Returns a directory and everything below it as a `.zip`. The default is the current directory
   * of the shell.
   *
   * @throws a `CommandError` if there is no such directory.
   */
  async zip(path = "."): Promise<Uint8Array> {
    const script = 'cd -- "$1" && zip -qr - .';
    const { stdoutBytes } = await this.exec(["sh", "-c", script, "sh", path], { ...WHOLE, check: true });
    return stdoutBytes;
  }

  /**
   * Unpacks a `.zip` below a directory, which is created if it does not exist. Existing files with
   * the same names are replaced.
   *
   * @throws a `CommandError` if the `.zip` is damaged.
   */
  async unzip(source: Uint8Array | ArrayBuffer, path = "."): Promise<void> {
    const script = 'f=$(mktemp) && cat > "$f" && mkdir -p -- "$1" && unzip -qo "$f" -d "$1"; s=$?; rm -f -- "$f"; exit $s';
    await this.exec(["sh", "-c", script, "sh", path], { stdin: new Uint8Array(source), check: true });
  }

  /** The session's name. */
  get name(): string {
    return this.#options.name ?? "default";
  }

  /** Closes the session: ends everything that runs, and frees the memory. */
  async close(): Promise<void> {
    const isOpen = !this.closed;
    this.#way.machine.close();
    if (isOpen) await this.#way.kept?.close();
  }

  /** Whether the session is closed. */
  get closed(): boolean {
    return this.#way.machine.closed;
  }

  /** Closes the session, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * The number of workers, the number of idle ones (`free`), and the bytes that the kernel has
   * allocated, which include all files.
   */
  get usage(): { workers: number; free: number; kernelBytes: number } {
    return this.#way.machine.usage;
  }
}
