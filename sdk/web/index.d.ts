// The names are those of the package for Node (sdk/node), as far as there are the same things.

/** Where a session's parts come from, and how it begins. */
export interface CreateOptions {
  /** The folder that `cargo xtask dist --web` makes, with `image/` and `wasibox.wasm` in it; relative to the page. */
  baseUrl?: string | URL;
  /** The kernel's module, instead of the one there. */
  kernel?: Uint8Array | ArrayBuffer;
  /** The image whole (`image.webc`), instead of parts from there that are fetched as they are needed. */
  image?: Uint8Array | ArrayBuffer;
  /** Is told of parts of the image that are fetched, as they come. */
  onProgress?: (progress: Progress) => void;
  /** The store that keeps it, a name: of pages only. Without one it is gone when it is closed. */
  store?: string;
  /** Its name, in a store `default` if nothing is said. */
  name?: string;
  /** Whether to open the one of that name or make it, or only one of both. */
  open?: 'any' | 'create' | 'open';
  /** Workers that are made before the first command; more are made as they are needed. 3 by default. */
  workers?: number;
  /**
   * Rules of the requests that guests may make (docs/network.md): `"GET https://api.example.com/"`. Nothing is allowed if
   * nothing is said. The page makes them by its `fetch`, without cookies, and what other origins answer it is shown only
   * as far as they allow (CORS).
   */
  network?: string | readonly string[] | Network;
  /**
   * Whether the prepared memory of an interpreter that has begun for the second time is fetched or made in the background,
   * as by `prepare()`; it is if nothing is said.
   */
  prepare?: boolean;
  /** Is told what goes wrong in the kernel itself. */
  log?: (text: string) => void;
}

/** Requests that guests may make. A rule with `at` is refused: nobody tells a page where a name leads. */
export interface Network {
  /** Rules such as `"GET,POST https://*.example.com/api/"`. */
  allow?: readonly string[];
  /** What is not allowed after all. */
  deny?: readonly string[];
}

/** How much of a part of the image has come, in bytes as they are sent. */
export interface Progress {
  /** Such as `python` or `pandas`. */
  name: string;
  loaded: number;
  total: number;
}

/** How a cell runs. */
export interface CellOptions {
  /** Standard input; empty by default. */
  stdin?: string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** Seconds after which the call is ended. */
  timeout?: number;
  /** Bytes of output that are kept, 16 MiB if nothing is said. */
  maxOutput?: number;
  /** Called with output as it comes. What it throws ends the call, and is thrown by it. */
  onStdout?: (text: string) => void;
  /** The same for standard error. */
  onStderr?: (text: string) => void;
  /** Ends the call. */
  signal?: AbortSignal;
  /** Whether a failure is thrown as a `CommandError`. */
  check?: boolean;
}

/** How a command runs. */
export interface ExecOptions extends CellOptions {
  /** Variables; of a script they stay for the next one, as after `export`. */
  env?: Readonly<Record<string, string>>;
  /** The directory, absolute; of a script it stays for the next one, as after `cd`. */
  cwd?: string;
  /** Whether the outcome lists changed files; it does if nothing is said. */
  listFiles?: boolean;
}

/** A file that a call has made, changed or removed. */
export interface FileChange {
  path: string;
  change: 'created' | 'modified' | 'deleted';
  size: number;
  mimeType: string | null;
  sha256: string | null;
}

/** A picture that a call has made. */
export interface Figure {
  path: string;
  mimeType: string;
  data: Uint8Array;
}

/** What became of a command or a cell. A command that fails is an outcome, too. */
export declare class Outcome {
  private constructor();
  /** What a shell would report; 124 after the time limit, 130 after an interruption, 137 after the output limit. */
  readonly exitCode: number;
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  /** Output as text; bytes that are not UTF-8 are replaced, and stand in `stdoutBytes`. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Uint8Array;
  readonly stderrBytes: Uint8Array;
  /** Seconds, by the clock */
  readonly duration: number;
  /** and of all guests: the time that has passed in them. */
  readonly cpuTime: number;
  /** Most bytes that the session was charged for. */
  readonly peakMemory: number;
  /** The limit that ended the call, else the first that it ran into. */
  readonly limitHit: string | null;
  /** Output was cut at its limit. */
  readonly truncated: boolean;
  readonly files: readonly FileChange[];
  /** More files may have changed than are listed. */
  readonly filesTruncated: boolean;
  /**
   * The value of a cell's last expression: itself where it is plain data (what JSON has), else as the language writes it;
   * null if it is too long (`valueBytes`).
   */
  readonly value: unknown;
  /** The same as `repr` or `util.inspect` writes it; of a long one the beginning and the end. */
  readonly valueRepr: string | null;
  /** How many bytes the value has at least, if it was cut: at 64 KiB of text, 1 MiB of JSON, `maxOutput`. */
  readonly valueBytes: number | null;
  /** Processes that were left and ended with the call. */
  readonly ended: readonly string[];
  /** The cell's interpreter has ended. */
  readonly putBack: boolean;
  /** The commit that the call has made. */
  readonly commit: number | null;
  /** The outcome itself; throws a `CommandError` if the exit code is not 0. */
  check(): this;
  /** The pictures that the call has made, as they are in the session now. */
  figures(): Promise<Figure[]>;
}

/** What sort of reason it is that something could not be done. */
export type Kind = 'invalid' | 'missing' | 'conflict' | 'busy' | 'file' | 'closed' | 'internal' | 'command';

/** Something could not be done. Reasons that callers tell apart have classes of their own. */
export declare class WasiboxError extends Error {
  constructor(message: string, kind?: Kind);
  /** The same as the class, as a word. */
  readonly kind: Kind;
}
/** The request makes no sense. */
export declare class InvalidError extends WasiboxError {}
/** It speaks of a session, a commit or a command that is not there. */
export declare class NotFoundError extends WasiboxError {}
/** It does not go together with what is there, such as a name that is taken. */
export declare class ConflictError extends WasiboxError {}
/** Another page has what it needs. */
export declare class BusyError extends WasiboxError {}
/** The session was closed. */
export declare class ClosedError extends WasiboxError {}
/** A request about a file cannot be done. */
export declare class FileError extends WasiboxError {
  /** Why, in a word: C's name of an error (`ENOENT`) where there is one. */
  readonly code: string;
}
/** A command has failed, and the caller had asked for success (`check: true`). */
export declare class CommandError extends WasiboxError {
  readonly outcome: Outcome;
}

/** A file as `list` and `stat` tell of it. */
export interface Entry {
  path: string;
  kind: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device';
  size: number;
  /** Permission bits. */
  mode: number;
  /** Seconds since the epoch. */
  modified: number;
  /** What a symbolic link names. */
  target: string | null;
  isDirectory: boolean;
}

/** What a session was when a call had returned. */
export interface Commit {
  number: number;
  parent: number | null;
  /** What was called. */
  command: string;
  exitCode: number | null;
  /** When it began, in seconds since the epoch; */
  time: number;
  /** how long it took. */
  duration: number;
  changedFiles: number;
  /** Names that it was given. */
  tags: string[];
}

/** A file as a commit has changed it. */
export interface Changed {
  path: string;
  change: 'created' | 'modified' | 'deleted';
  /** What it was and what it is; null if it is not there, is no text, too long, or partly the image's. */
  before: string | null;
  after: string | null;
}

/** Files, a shell, interpreters that stay, and the history of files and shell. Calls of a session take turns. */
export declare class Session {
  private constructor();
  static create(options: CreateOptions): Promise<Session>;
  /** A session out of what `export` has written, here or by the native runner (`.wbs`). */
  static load(source: Uint8Array | ArrayBuffer, options: Omit<CreateOptions, 'open'>): Promise<Session>;

  /**
   * Runs a command to its end: a script for the session's shell, which continues with the directory, variables and
   * functions of the script before, or a list of arguments, run without the shell. One that fails is an outcome, too.
   */
  exec(what: string | readonly string[], options?: ExecOptions): Promise<Outcome>;
  /** Runs a cell in the session's Python interpreter: variables and imports are there for the next one. */
  python(code: string, options?: CellOptions): Promise<Outcome>;
  /** The same in its JavaScript interpreter: `await` and `import` are allowed at its top. */
  javascript(code: string, options?: CellOptions): Promise<Outcome>;
  /** Ends the call that runs, if one does. */
  interrupt(): void;
  /**
   * Has the interpreters' memory prepared, fetched with the image if that is in parts, once in a session: a cell that begins later, a command, and a parked cell of the native
   * runner's begin from there. One that needs it has it done.
   */
  prepare(): Promise<void>;
  /** Ends the interpreters; the next cell begins a new one. */
  reset(): Promise<void>;

  // Files. Relative paths are from the directory that the shell is in.

  /** A file's bytes. */
  read(path: string): Promise<Uint8Array>;
  /** A file's text. */
  readText(path: string, encoding?: string): Promise<string>;
  /**
   * Makes a file's content this; folders above it are made. A text is written as UTF-8. With `commit: false` it is
   * no commit of its own: that of the next call has it.
   */
  write(path: string, data: string | Uint8Array, options?: { commit?: boolean }): Promise<void>;
  /** Whether the shell would run a script, and not ask for another line. Nothing is run, and no commit made. */
  isComplete(script: string): Promise<boolean>;
  /** Any request about files, in the words of docs/files.md: `{ grep: { pattern: "x" } }`. */
  files(request: Readonly<Record<string, unknown>>): Promise<any>;
  /** What is in a directory, so many levels deep. */
  list(path?: string, options?: { depth?: number; hidden?: boolean }): Promise<Entry[]>;
  /** What is at a path. */
  stat(path: string, options?: { follow?: boolean }): Promise<Entry>;
  /** Whether something is at a path. */
  exists(path: string): Promise<boolean>;
  /** Removes a file or, with `recursive`, a directory; gives how many were removed. */
  delete(path: string, options?: { recursive?: boolean }): Promise<number>;
  /** Gives a file or a directory another name. */
  move(from: string, to: string): Promise<void>;
  /** Makes a directory and those above it. */
  makeDir(path: string): Promise<void>;

  /** The directory in which the next script begins. */
  cwd(): Promise<string>;
  /** The number of the current commit. */
  head(): Promise<number>;
  /** All commits, the oldest first, those that were undone too. */
  history(): Promise<Commit[]>;
  /** What a commit has changed of the session's files, with their texts. */
  changes(number: number): Promise<Changed[]>;
  /** Goes back to the commit before this one, with files and shell; gives its number. */
  undo(): Promise<number>;
  /** Goes forward again after `undo`, if nothing was done since. */
  redo(): Promise<number>;
  /** The number of the current commit, for a later `restore`; given a tag, it gets that name. */
  snapshot(tag?: string): Promise<number>;
  /** Makes everything as it was at a commit, by a new one, which can be undone; gives its number. */
  restore(to: number | string): Promise<number>;
  /** The names of commits. */
  tags(): Promise<Map<string, number>>;
  /**
   * A second session that is what this one is. It has a kernel of its own, and fetches the image's parts anew, from the browser's cache. With a name it is
   * kept in the store of this one.
   */
  fork(name?: string): Promise<Session>;
  /** The session as it is, or with all its history (`.wbs`), for `Session.load` here or in the native packages. */
  export(options?: { history?: boolean }): Promise<Uint8Array>;
  /** A directory with all that is below it, as a `.zip`; the one that the shell is in if nothing is said. */
  zip(path?: string): Promise<Uint8Array>;
  /** Puts what is in a `.zip` below a directory, which is made; files that are there are replaced. A damaged one is a `CommandError`. */
  unzip(source: Uint8Array | ArrayBuffer, path?: string): Promise<void>;

  /** The session's name. */
  readonly name: string;
  /** Ends all that runs, and gives back the memory. */
  close(): Promise<void>;
  readonly closed: boolean;
  [Symbol.asyncDispose](): Promise<void>;
  /** Workers there are, how many of them wait, and bytes that the kernel has allocated, all files among them. */
  readonly usage: { workers: number; free: number; kernelBytes: number };
}

/** The names of a store's sessions. */
export declare function sessions(store: string): Promise<string[]>;
/** Forgets a session of a store that nobody uses. */
export declare function remove(store: string, name: string): Promise<void>;
/** Bytes that this origin has on the disk and may have, and whether the browser has promised to keep them. */
export declare function storage(): Promise<{ usage: number; quota: number; isPersisted: boolean }>;
/** Asks the browser to keep what is stored until a person removes it; whether it will. Firefox asks that person. */
export declare function persist(): Promise<boolean>;
