// Sessions of a page or of Node. Files and history are those of the package for Node (`sdk/typescript/session.ts`).

import { CommandError } from "../typescript/errors.js";
import { callOf, command, type CellOptions as AnyCellOptions, type Command, type ExecOptions as AnyExecOptions } from "../typescript/options.js";
import { Outcome } from "../typescript/outcome.js";
import { SessionBase, type Transport } from "../typescript/session.js";
import { Machine, bytesOf } from "./machine.js";
import { Kept } from "./store.js";

/** The source of a session's parts, and how it begins. */
export interface CreateOptions {
  /** The folder that `cargo xtask dist --web` makes, with `image/` and `wasibox.wasm` in it; relative to the page. */
  baseUrl?: string | URL;
  /** The kernel's module, instead of the one in that folder. */
  kernel?: Uint8Array | ArrayBuffer;
  /** The whole image (`image.webc`), instead of parts that are fetched from that folder as they are needed. */
  image?: Uint8Array | ArrayBuffer;
  /** Called for parts of the image that are fetched, as they come. */
  onProgress?: (progress: Progress) => void;
  /** The name of the store that keeps the session, in pages only. Without a store it is gone when it is closed. */
  store?: string;
  /** The session's name, in a store `default` by default. */
  name?: string;
  /** Whether to open the session of that name or create it, or only one of both. */
  open?: "any" | "create" | "open";
  /** Workers that are made before the first command; more are made as they are needed. 3 by default. */
  workers?: number;
  /**
   * Rules of the requests that guests may make (docs/network.md): `"GET https://api.example.com/"`. Nothing is allowed by
   * default. The page makes them by its `fetch`, without cookies, and answers of other origins are shown only as far as
   * those allow it (CORS).
   */
  network?: string | readonly string[] | Network;
  /**
   * Whether the prepared memory of an interpreter that has begun for the second time is fetched or made in the background,
   * as by `prepare()`; true by default.
   */
  prepare?: boolean;
  /** Called with errors of the kernel itself. */
  log?: (text: string) => void;
}

/** Requests that guests may make. A rule with `at` is refused, because a page cannot learn to which address a name leads. */
export interface Network {
  /** Rules such as `"GET,POST https://*.example.com/api/"`. */
  allow?: readonly string[];
  /** Exceptions that are not allowed. */
  deny?: readonly string[];
}

/** How much of a part of the image has come, in bytes as they are sent. */
export interface Progress {
  /** For example `python` or `pandas`. */
  name: string;
  loaded: number;
  total: number;
}

type Data = string | Uint8Array;
type Stdin = Data | Iterable<Data> | AsyncIterable<Data>;

/** Options of a cell. */
export type CellOptions = AnyCellOptions<Stdin>;
/** Options of a command. */
export type ExecOptions = Omit<AnyExecOptions<Stdin>, "keepBackground">;

/** A file as a commit has changed it. */
export interface Changed {
  path: string;
  change: "created" | "modified" | "deleted";
  /** The text before and after; null if there is no file, it is no text, too long, or partly the image's. */
  before: string | null;
  after: string | null;
}

/** All output is wanted. */
const WHOLE = { maxOutput: Number.MAX_SAFE_INTEGER, listFiles: false };

/** Requests to a machine, one after another; each is kept when it has ended. */
class PageTransport implements Transport<Uint8Array> {
  #queue: Promise<unknown> = Promise.resolve();

  constructor(
    readonly machine: Machine,
    /** The session's file, if the page keeps it. */
    readonly kept: Kept | null,
  ) {}

  /** Runs `act` when all earlier requests have ended, and keeps what it has changed. */
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

  /** Adds to the session's file what it does not have yet. */
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

/** Joins parts of output. */
function joined(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Files, a shell, interpreters that stay, and the history of all that. Calls of a session take turns. */
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

  /** Creates a session from what `export` has written, here or by the native runner (`.wbs`). */
  static load(source: Uint8Array | ArrayBuffer, options: Omit<CreateOptions, "open">): Promise<Session> {
    return Session.#load(source, options, false);
  }

  static #load(source: Uint8Array | ArrayBuffer, options: CreateOptions, isFork: boolean): Promise<Session> {
    const bytes = new Uint8Array(source);
    return Session.#begin({ ...options, open: "create" }, (machine) => machine.ask("import", { bytes, isFork }));
  }

  /** Makes a session; `fill` gives its contents to a new one. */
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
   * Runs a command to its end: a script for the session's shell, which continues with the directory, variables and
   * functions of the script before, or a list of arguments, which runs without the shell. A command that fails has an
   * outcome, too.
   */
  exec(what: string | readonly string[], options: ExecOptions = {}): Promise<Outcome> {
    return this.#call(command(what), options);
  }

  /** Runs a cell in the session's Python interpreter: variables and imports stay for the next one. */
  python(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#call({ python: code }, options);
  }

  /** Runs a cell in the session's JavaScript interpreter: `await` and `import` are allowed at its top. */
  javascript(code: string, options: CellOptions = {}): Promise<Outcome> {
    return this.#call({ javascript: code }, options);
  }

  #call(what: Command, options: ExecOptions): Promise<Outcome> {
    // The page measures the time, and feeds the input.
    const { timeout, stdin, ...rest } = options;
    return this.#way.turn(() => this.#run(callOf(what, rest), { ...rest, timeout, stdin }));
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
    const output = (stream: number, bytes: Uint8Array) => {
      parts[stream]?.push(bytes);
      give(stream, bytes, true);
    };
    const json = await this.#way.machine.run(asked, { stdin, timeout, signal, output });
    for (const stream of [1, 2]) give(stream, new Uint8Array(0), false);
    if (thrown) throw (thrown as { error: unknown }).error;
    signal?.throwIfAborted();
    const outcome = new Outcome(json, joined(parts[1]!), joined(parts[2]!), (path) => this.read(path));
    if (check && !outcome.ok) throw new CommandError(outcome);
    return outcome;
  }

  /** Ends the call that runs, if there is one. */
  interrupt(): void {
    this.#way.machine.interrupt();
  }

  /**
   * Prepares the interpreters' memory, once in a session, or fetches it with the image if that is in parts. A cell that
   * begins later, a command, and a parked cell of the native runner's begin from there. A cell that needs the memory has it
   * prepared by itself.
   */
  async prepare(): Promise<void> {
    await this.#way.turn(() => this.#run({ prepare: true }, {}));
  }

  // Files. Relative paths start from the shell's directory.

  /** Returns a file's text. */
  async readText(path: string, encoding = "utf-8"): Promise<string> {
    return new TextDecoder(encoding).decode(await this.read(path));
  }

  /**
   * Replaces a file's content; folders above it are made. A text is written as UTF-8. With `commit: false` the change is no
   * commit of its own: that of the next call has it.
   */
  async write(path: string, data: string | Uint8Array, options: { commit?: boolean } = {}): Promise<void> {
    const { commit = true } = options;
    await this.#way.ask("writeFile", { path, bytes: bytesOf(data), commit });
  }

  /** Returns whether the shell would run a script, and not ask for another line. Nothing runs, and no commit is made. */
  isComplete(script: string): Promise<boolean> {
    return this.#way.ask("isComplete", { script });
  }

  // History.

  /** Returns what a commit has changed of the session's files, with their texts. */
  changes(number: number): Promise<Changed[]> {
    return this.#way.apply({ changes: number });
  }

  /**
   * Returns a second session with the same state. It has a kernel of its own, and fetches the parts of the image that it
   * comes to need from the browser's cache. With a name it is kept in the store of this one.
   */
  async fork(name?: string): Promise<Session> {
    const store = name === undefined ? undefined : this.#options.store;
    return Session.#load(await this.export({ history: true }), { ...this.#options, store, name }, true);
  }

  /** Returns the session as it is, or with all its history (`.wbs`), for `Session.load` here or in the native packages. */
  export(options: { history?: boolean } = {}): Promise<Uint8Array> {
    return this.#way.ask("export", { all: options.history ?? false });
  }

  /** Returns a directory with everything below it as a `.zip`; by default the shell's directory. */
  async zip(path = "."): Promise<Uint8Array> {
    const script = 'cd -- "$1" && zip -qr - .';
    const { stdoutBytes } = await this.exec(["sh", "-c", script, "sh", path], { ...WHOLE, check: true });
    return stdoutBytes;
  }

  /**
   * Unpacks a `.zip` below a directory, which is made; existing files of the same names are replaced. A damaged one is a
   * `CommandError`.
   */
  async unzip(source: Uint8Array | ArrayBuffer, path = "."): Promise<void> {
    const script = 'f=$(mktemp) && cat > "$f" && mkdir -p -- "$1" && unzip -qo "$f" -d "$1"; s=$?; rm -f -- "$f"; exit $s';
    await this.exec(["sh", "-c", script, "sh", path], { stdin: new Uint8Array(source), check: true });
  }

  /** The session's name. */
  get name(): string {
    return this.#options.name ?? "default";
  }

  /** Ends everything that runs, and releases the memory. */
  async close(): Promise<void> {
    const isOpen = !this.closed;
    this.#way.machine.close();
    if (isOpen) await this.#way.kept?.close();
  }

  /** Whether it was closed. */
  get closed(): boolean {
    return this.#way.machine.closed;
  }

  /** For `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The numbers of workers and of those that wait, and the bytes that the kernel has allocated, including all files. */
  get usage(): { workers: number; free: number; kernelBytes: number } {
    return this.#way.machine.usage;
  }
}
