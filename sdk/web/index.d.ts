// The package for Node (sdk/node) has the same names for the same things.

/** The options of a new session. */
export interface CreateOptions {
  /**
   * The URL of the folder that `cargo xtask dist --web` makes, which contains `image/` and
   * `wasibox.wasm`. A relative URL is relative to the page.
   */
  baseUrl?: string | URL;
  /** The kernel's module, which replaces the one in the folder. */
  kernel?: Uint8Array | ArrayBuffer;
  /**
   * A whole image (`image.webc`), which replaces the parts that are fetched from the folder when
   * needed.
   */
  image?: Uint8Array | ArrayBuffer;
  /** Is called while parts of the image are fetched. */
  onProgress?: (progress: Progress) => void;
  /**
   * The name of the store that keeps the session (in pages only). Without a store it is lost when
   * it is closed.
   */
  store?: string;
  /** The session's name; `default` by default. */
  name?: string;
  /**
   * `any` opens the session of that name, or creates it if there is none; `create` only creates,
   * and `open` only opens. The default is `any`.
   */
  open?: 'any' | 'create' | 'open';
  /**
   * The number of workers that are started before the first command; 3 by default. More are started
   * when needed.
   */
  workers?: number;
  /**
   * Rules for the HTTP requests that guests may make (docs/network.md), such as
   * `"GET https://api.example.com/"`. By default nothing is allowed. The page makes the requests by
   * its `fetch`, without cookies. Responses from other origins are available only as far as those
   * origins allow it (CORS).
   */
  network?: string | readonly string[] | Network;
  /**
   * Whether prepared memory is fetched or made in the background, as by `prepare()`, when an
   * interpreter begins for the second time; true by default.
   */
  prepare?: boolean;
  /** Is called with reports of faults in the kernel itself. */
  log?: (text: string) => void;
}

/**
 * The HTTP requests that guests may make. A rule with `at` is refused, because a page does not know
 * the address of a name.
 */
export interface Network {
  /** The rules for requests that are allowed, such as `"GET,POST https://*.example.com/api/"`. */
  allow?: readonly string[];
  /** The rules for requests that are refused even if `allow` has them. */
  deny?: readonly string[];
}

/** The progress of fetching a part of the image. */
export interface Progress {
  /** The name of the part, such as `python` or `pandas`. */
  name: string;
  /** The number of bytes, as they are sent, that have arrived. */
  loaded: number;
  /** The number of bytes of the whole part, as they are sent. */
  total: number;
}

/** The options of a cell. */
export interface CellOptions {
  /** Standard input; empty by default. */
  stdin?: string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** The time limit of the call in seconds. */
  timeout?: number;
  /** The maximum number of bytes of output; 16 MiB by default. */
  maxOutput?: number;
  /**
   * Is called with output as it is written. If it throws an error, the call ends and throws that
   * error.
   */
  onStdout?: (text: string) => void;
  /** The same for standard error. */
  onStderr?: (text: string) => void;
  /** Ends the call when it is aborted. */
  signal?: AbortSignal;
  /** Whether a failure is thrown as a `CommandError`. */
  check?: boolean;
}

/** The options of a command. */
export interface ExecOptions extends CellOptions {
  /** Environment variables. Those of a script stay for the next one, as after `export`. */
  env?: Readonly<Record<string, string>>;
  /** The directory, as an absolute path. That of a script stays for the next one, as after `cd`. */
  cwd?: string;
  /** Whether the outcome lists changed files; true by default. */
  listFiles?: boolean;
}

/** A file that a call has created, changed or removed. */
export interface FileChange {
  path: string;
  change: 'created' | 'modified' | 'deleted';
  /** The size in bytes. */
  size: number;
  mimeType: string | null;
  /** The SHA-256 digest; null for deleted, special and very large files. */
  sha256: string | null;
}

/** A picture file that a call has created or changed. */
export interface Figure {
  path: string;
  mimeType: string;
  data: Uint8Array;
}

/** How a command or a cell ended. A command that fails has an outcome, too. */
export declare class Outcome {
  private constructor();
  /**
   * The exit code as a shell would report it: 124 after the time limit, 130 after an interruption,
   * 137 after the output limit.
   */
  readonly exitCode: number;
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  /** Standard output as text. Bytes that are not UTF-8 are replaced; `stdoutBytes` has them. */
  readonly stdout: string;
  /** Standard error as text. */
  readonly stderr: string;
  /** Standard output as bytes. */
  readonly stdoutBytes: Uint8Array;
  /** Standard error as bytes. */
  readonly stderrBytes: Uint8Array;
  /** The elapsed time in seconds. */
  readonly duration: number;
  /** The elapsed time of all guests in seconds. Browsers do not report CPU time. */
  readonly cpuTime: number;
  /** The maximum number of bytes of memory that were counted for the session. */
  readonly peakMemory: number;
  /** The limit that ended the call, otherwise the first limit that it ran into. */
  readonly limitHit: string | null;
  /** Whether output was cut at its limit. */
  readonly truncated: boolean;
  /** The files that the call has created, changed or removed. */
  readonly files: readonly FileChange[];
  /** Whether more files may have changed than are listed. */
  readonly filesTruncated: boolean;
  /**
   * The value of a cell's last expression. Plain data (which JSON can represent) is the value
   * itself; any other value is its text in `valueRepr`. Null if the value was cut (`valueBytes`).
   */
  readonly value: unknown;
  /** The value as `repr` or `util.inspect` writes it. A long text is cut. */
  readonly valueRepr: string | null;
  /**
   * The minimum number of bytes of the value if it was cut, at 64 KiB of text, 1 MiB of JSON or
   * `maxOutput`; otherwise null.
   */
  readonly valueBytes: number | null;
  /** The processes that the command left running, and that ended with the call. */
  readonly ended: readonly string[];
  /**
   * Whether the cell's interpreter has ended. The next cell continues from the state before this
   * one.
   */
  readonly putBack: boolean;
  /** The number of the commit that the call has made. */
  readonly commit: number | null;
  /** Returns the outcome itself. Throws a `CommandError` if the exit code is not 0. */
  check(): this;
  /**
   * Resolves to the pictures among `files`, with their current contents in the session: at most 16,
   * each of at most 8 MiB.
   */
  figures(): Promise<Figure[]>;
}

/** The kind of an error: a word for each class of errors. */
export type Kind = 'invalid' | 'missing' | 'conflict' | 'busy' | 'file' | 'closed' | 'internal' | 'command';

/** The base class of all errors: something could not be done. */
export declare class WasiboxError extends Error {
  constructor(message: string, kind?: Kind);
  /** The kind of the error: a word for each class. */
  readonly kind: Kind;
}
/** The request is invalid. */
export declare class InvalidError extends WasiboxError {}
/** The request names a session, a commit or a command that does not exist. */
export declare class NotFoundError extends WasiboxError {}
/** The request conflicts with the current state, such as a name that is taken. */
export declare class ConflictError extends WasiboxError {}
/** Another page uses what the request needs. */
export declare class BusyError extends WasiboxError {}
/** The session is closed. */
export declare class ClosedError extends WasiboxError {}
/** A file request could not be carried out. */
export declare class FileError extends WasiboxError {
  /**
   * The reason: an error's name in C (`ENOENT`) if there is one, otherwise a word such as
   * `no_match`.
   */
  readonly code: string;
}
/** A command has failed, and the caller required success (`check: true`). */
export declare class CommandError extends WasiboxError {
  /** The outcome of the command. */
  readonly outcome: Outcome;
}

/** A file, directory or other node, as `list` and `stat` return it. */
export interface Entry {
  path: string;
  kind: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device';
  /** The size in bytes. */
  size: number;
  /** The permission bits. */
  mode: number;
  /** The time of the last change of the contents, in seconds since the epoch. */
  modified: number;
  /** The target of a symbolic link; null for other nodes. */
  target: string | null;
  isDirectory: boolean;
}

/** The state of a session after a call. */
export interface Commit {
  /** The number of the commit. */
  number: number;
  /** The number of the commit before it. */
  parent: number | null;
  /** The command or cell of the call. */
  command: string;
  /** The exit code of the call. */
  exitCode: number | null;
  /** The start of the call, in seconds since the epoch. */
  time: number;
  /** The duration of the call in seconds. */
  duration: number;
  /** The number of files that the call has changed. */
  changedFiles: number;
  /** The tags of the commit. */
  tags: string[];
}

/** A file that a commit has changed. */
export interface Changed {
  path: string;
  change: 'created' | 'modified' | 'deleted';
  /**
   * The text before the commit. Null if there was no file, or if it is not text, is too long, or is
   * partly that of the image.
   */
  before: string | null;
  /** The text after the commit; null for the same reasons. */
  after: string | null;
}

/**
 * Files, a shell, interpreters that stay between calls, and the history of them all. The calls of a
 * session run one after another.
 */
export declare class Session {
  private constructor();
  /** Opens a session. */
  static create(options: CreateOptions): Promise<Session>;
  /** Creates a session from a snapshot (`.wbs`) that `export` or the native runner has written. */
  static load(source: Uint8Array | ArrayBuffer, options: Omit<CreateOptions, 'open'>): Promise<Session>;

  /**
   * Runs a command to its end. A string is a script for the session's shell, which continues with
   * the directory, variables and functions of the script before. A list of arguments runs without
   * the shell. A command that fails is an outcome, not an error.
   */
  exec(what: string | readonly string[], options?: ExecOptions): Promise<Outcome>;
  /**
   * Runs a cell in the session's Python interpreter. The next cell has its variables and imports.
   */
  python(code: string, options?: CellOptions): Promise<Outcome>;
  /**
   * Runs a cell in the session's JavaScript interpreter. Top-level `await` and `import` are
   * allowed.
   */
  javascript(code: string, options?: CellOptions): Promise<Outcome>;
  /** Ends the running call, if there is one. */
  interrupt(): void;
  /**
   * Fetches or makes the prepared memory of the interpreters, and waits for it. This is done once
   * in a session. Cells and commands that begin later use it, and so do parked interpreters of the
   * native runner, which request it themselves.
   */
  prepare(): Promise<void>;
  /** Ends the interpreters. The next cell begins a new one. */
  reset(): Promise<void>;

  // Files. Relative paths start at the current directory of the shell.

  /** Resolves to the bytes of a file. */
  read(path: string): Promise<Uint8Array>;
  /** Resolves to the text of a file. */
  readText(path: string, encoding?: string): Promise<string>;
  /**
   * Replaces the contents of a file. Missing folders above it are created, and a text is written as
   * UTF-8. With `commit: false` this makes no commit; the change is part of the next call's commit.
   */
  write(path: string, data: string | Uint8Array, options?: { commit?: boolean }): Promise<void>;
  /**
   * Resolves to whether a script is complete: whether the shell would run it, and not read another
   * line. The script does not run, and no commit is made.
   */
  isComplete(script: string): Promise<boolean>;
  /**
   * Carries out a file request, such as `{ grep: { pattern: "x" } }`, and resolves to the answer.
   * docs/files.md describes all requests and answers.
   */
  files(request: Readonly<Record<string, unknown>>): Promise<any>;
  /** Resolves to the entries of a directory, `depth` levels deep. */
  list(path?: string, options?: { depth?: number; hidden?: boolean }): Promise<Entry[]>;
  /** Resolves to the entry of a path. With `follow`, a symbolic link means its target. */
  stat(path: string, options?: { follow?: boolean }): Promise<Entry>;
  /** Resolves to whether a path exists. */
  exists(path: string): Promise<boolean>;
  /** Removes a file or, with `recursive`, a directory. Resolves to the number of removed nodes. */
  delete(path: string, options?: { recursive?: boolean }): Promise<number>;
  /** Renames or moves a file or a directory. */
  move(from: string, to: string): Promise<void>;
  /** Creates a directory, and the missing directories above it. */
  makeDir(path: string): Promise<void>;

  /** Resolves to the directory in which the next script begins. */
  cwd(): Promise<string>;
  /** Resolves to the number of the current commit. */
  head(): Promise<number>;
  /** Resolves to all commits, the oldest first, with those that were undone. */
  history(): Promise<Commit[]>;
  /** Resolves to the files that a commit has changed, with their texts. */
  changes(number: number): Promise<Changed[]>;
  /**
   * Goes back to the commit before the current one, with files, shell and interpreters. Resolves to
   * the number of that commit.
   */
  undo(): Promise<number>;
  /** Reverts an `undo`, if no call was made since. Resolves to the number of the commit. */
  redo(): Promise<number>;
  /**
   * Resolves to the number of the current commit, for `restore`. A tag becomes a name of the
   * commit.
   */
  snapshot(tag?: string): Promise<number>;
  /**
   * Restores the state of a commit, given by its number or a tag. This makes a new commit, which
   * can be undone. Resolves to the number of the new commit.
   */
  restore(to: number | string): Promise<number>;
  /** Resolves to the tags, with the numbers of their commits. */
  tags(): Promise<Map<string, number>>;
  /**
   * Makes a second session with the same state. It has a kernel of its own, and fetches parts of
   * the image again, from the browser's cache. With a name it is kept in the store of this session.
   */
  fork(name?: string): Promise<Session>;
  /**
   * Resolves to a snapshot of the session (`.wbs`), for `Session.load` here or in the native
   * packages. With `history`, it has all commits, otherwise only the current one.
   */
  export(options?: { history?: boolean }): Promise<Uint8Array>;
  /**
   * Resolves to a `.zip` of a directory with everything below it. By default this is the shell's
   * directory.
   */
  zip(path?: string): Promise<Uint8Array>;
  /**
   * Unpacks a `.zip` into a directory, which is created if it does not exist. Existing files are
   * replaced. Throws a `CommandError` for a damaged `.zip`.
   */
  unzip(source: Uint8Array | ArrayBuffer, path?: string): Promise<void>;

  /** The session's name. */
  readonly name: string;
  /** Ends everything that runs, and frees the memory. */
  close(): Promise<void>;
  /** Whether the session is closed. */
  readonly closed: boolean;
  [Symbol.asyncDispose](): Promise<void>;
  /**
   * The number of workers, the number of idle ones, and the bytes that the kernel has allocated,
   * files included.
   */
  readonly usage: { workers: number; free: number; kernelBytes: number };
}

/** Resolves to the names of a store's sessions. */
export declare function sessions(store: string): Promise<string[]>;
/** Removes a session from a store. The session must not be in use. */
export declare function remove(store: string, name: string): Promise<void>;
/**
 * Resolves to the bytes that this origin uses on the disk, the bytes that it may use, and whether
 * the browser has promised to keep them.
 */
export declare function storage(): Promise<{ usage: number; quota: number; isPersisted: boolean }>;
/**
 * Asks the browser to keep stored data until the user removes it. Resolves to whether it will.
 * Firefox asks the user.
 */
export declare function persist(): Promise<boolean>;
