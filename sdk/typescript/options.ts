// Options of calls.

import type { CallOptions } from "./protocol.js";

/** Options of a cell. */
export interface CellOptions<Stdin = string | Uint8Array> {
  /** Standard input; empty by default. */
  stdin?: Stdin;
  /** Seconds after which the call is ended; a native session's policy may allow less. */
  timeout?: number;
  /** Bytes of output that are kept, 16 MiB by default. */
  maxOutput?: number;
  /**
   * Called with output as it comes. What it throws ends the call, and is thrown by it. For a promise that it returns a
   * native session's guest waits, when many are due.
   */
  onStdout?: (text: string) => unknown;
  /** The same for standard error. */
  onStderr?: (text: string) => unknown;
  /** Ends the call. */
  signal?: AbortSignal;
  /** Whether a failure is thrown as a `CommandError`. */
  check?: boolean;
}

/** Options of a command. */
export interface ExecOptions<Stdin = string | Uint8Array> extends CellOptions<Stdin> {
  /** Variables; those of a script stay for the next one, as after `export`. */
  env?: Readonly<Record<string, string>>;
  /** The directory, absolute; that of a script stays for the next one, as after `cd`. */
  cwd?: string;
  /** Whether the outcome lists changed files; true by default. */
  listFiles?: boolean;
  /** Whether processes that are left continue. */
  keepBackground?: boolean;
}

/** What runs. */
export type Command = Pick<CallOptions, "script" | "argv" | "python" | "javascript">;

/** Returns a script for the session's shell, or the arguments of a command. */
export const command = (given: string | readonly string[]): Command =>
  typeof given === "string" ? { script: given } : { argv: [...given] };

/** Returns a call in JSON. */
export function callOf(what: Command, options: ExecOptions<never>): CallOptions {
  return {
    ...what,
    env: options.env,
    cwd: options.cwd,
    timeout: options.timeout,
    max_output: options.maxOutput,
    list_files: options.listFiles,
    keep_background: options.keepBackground,
  };
}
