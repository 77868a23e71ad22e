/** Where a session's parts come from, and how it begins. */
export interface CreateOptions {
  /** A folder with `wasibox.wasm` and `image.webc`; relative to the page. */
  baseUrl?: string | URL;
  /** The kernel's module, instead of `wasibox.wasm` there. */
  kernel?: Uint8Array | ArrayBuffer;
  /** The image, instead of `image.webc` there. */
  image?: Uint8Array | ArrayBuffer;
  /** Workers that are made before the first command; more are made as they are needed. 3 by default. */
  workers?: number;
  /** Is told what goes wrong in the kernel itself. */
  log?: (text: string) => void;
}

export interface ExecOptions {
  /** Standard input; empty by default. */
  stdin?: string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;
  /** The directory that it begins in, absolute; `/home/user` by default. */
  cwd?: string;
  /** Variables beside the usual ones. */
  env?: Record<string, string>;
  /** Milliseconds after which the command is ended. */
  timeout?: number;
  /** Ends the command. */
  signal?: AbortSignal;
  /** Gets standard output as it comes; then the result has none. */
  onStdout?: (bytes: Uint8Array) => void;
  /** Gets standard error as it comes; then the result has none. */
  onStderr?: (bytes: Uint8Array) => void;
}

/** What became of a command. */
export declare class Result {
  /** What a shell reports: the exit code, or 128 plus a signal's number. */
  readonly status: number;
  /** Whether a limit, of time or of output, has ended it. */
  readonly timedOut: boolean;
  /** Whether its signal has ended it. */
  readonly interrupted: boolean;
  readonly stdoutBytes: Uint8Array;
  readonly stderrBytes: Uint8Array;
  /** The same as text; what is no UTF-8 is replaced. */
  get stdout(): string;
  get stderr(): string;
}

/** A failure of the session, not of a command. */
export declare class SandboxError extends Error {
  /** WASI's number of an error with a file. */
  readonly errno?: number;
}

/** A session: files that stay, and one command at a time. */
export declare class Sandbox {
  private constructor();
  static create(options: CreateOptions): Promise<Sandbox>;
  /**
   * Runs a line in bash, or a list of arguments without a shell. Commands of a session take turns. Fails only if the
   * command cannot be run at all.
   */
  exec(command: string | string[], options?: ExecOptions): Promise<Result>;
  /** Makes or replaces a file; its directory must be there. */
  writeFile(path: string, data: string | Uint8Array): Promise<void>;
  readFile(path: string): Promise<Uint8Array>;
  /** Ends all that runs, and gives back the memory. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
  /** Workers there are, how many of them wait, and bytes of the kernel's memory, in which all files lie. */
  readonly usage: { workers: number; free: number; kernelBytes: number };
}
