// The options of calls, converted to the protocol's JSON.

import type { CallOptions } from "./protocol.js";

/** The options of a cell. */
export interface CellOptions<Stdin = string | Uint8Array> {
  /** The standard input; empty by default. */
  stdin?: Stdin;
  /** The time limit in seconds, which cannot exceed that of a native session's policy. */
  timeout?: number;
  /** The maximum number of bytes of output; 16 MiB by default. */
  maxOutput?: number;
  /**
   * Called with output as it is written. If it throws, the call is ended and throws the error. In a
   * native session, the guest waits if the function has returned many promises that are not
   * settled.
   */
  onStdout?: (text: string) => unknown;
  /** The same for standard error. */
  onStderr?: (text: string) => unknown;
  /** Ends the call when the signal is aborted. The call then throws the signal's reason. */
  signal?: AbortSignal;
  /** Whether a failure throws a `CommandError`; false by default. */
  check?: boolean;
}

/** The options of a command. */
export interface ExecOptions<Stdin = string | Uint8Array> extends CellOptions<Stdin> {
  /** Environment variables. Those of a script stay for the next one, as after `export`. */
  env?: Readonly<Record<string, string>>;
  /** The directory, as an absolute path. That of a script stays for the next one, as after `cd`. */
  cwd?: string;
  /** Whether the outcome lists changed files; true by default. */
  listFiles?: boolean;
  /** Whether processes that the command leaves running continue; false by default. */
  keepBackground?: boolean;
}

/** The command of a call. */
export type Command = Pick<CallOptions, "script" | "argv" | "python" | "javascript">;

/** Returns the command for a script (a string) or for the arguments of a program (a list). */
export const command = (given: string | readonly string[]): Command =>
  typeof given === "string" ? { script: given } : { argv: [...given] };

/** Returns a call as an object of the protocol. */
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
