// What calls throw.

import type { Outcome } from "./outcome.cjs";

/** What sort of reason it is that something could not be done. */
export type Kind =
  | "invalid"
  | "missing"
  | "conflict"
  | "busy"
  | "file"
  | "cancelled"
  | "closed"
  | "internal"
  | "command";

/** Something could not be done. Reasons that callers tell apart have classes of their own. */
export class WasiboxError extends Error {
  /** The same as the class, as a word: for a program that has this package twice. */
  readonly kind: Kind;

  constructor(message: string, kind: Kind = "internal") {
    super(message);
    this.name = new.target.name;
    this.kind = kind;
  }
}

/** The request makes no sense. */
export class InvalidError extends WasiboxError {
  constructor(message: string) {
    super(message, "invalid");
  }
}

/** It speaks of a session, a commit or a command that is not there. */
export class NotFoundError extends WasiboxError {
  constructor(message: string) {
    super(message, "missing");
  }
}

/** It does not go together with what is there, such as a name that is taken. */
export class ConflictError extends WasiboxError {
  constructor(message: string) {
    super(message, "conflict");
  }
}

/** Another process, or another call, has what it needs. */
export class BusyError extends WasiboxError {
  constructor(message: string) {
    super(message, "busy");
  }
}

/** The call was cancelled before it began. With an `AbortSignal` its reason is thrown instead. */
export class CancelledError extends WasiboxError {
  constructor(message: string) {
    super(message, "cancelled");
  }
}

/** The session was closed. */
export class ClosedError extends WasiboxError {
  constructor(message: string) {
    super(message, "closed");
  }
}

/** The names that Node's own programs look for. */
const CODES: Readonly<Record<string, string>> = {
  not_found: "ENOENT",
  exists: "EEXIST",
  not_a_file: "EISDIR",
  directory: "EISDIR",
  too_large: "EFBIG",
};

/** A request about a file cannot be done. */
export class FileError extends WasiboxError {
  /** Why, in a word: C's name of an error (`ENOENT`) where there is one, else `ambiguous`, `no_match`, ... */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message, "file");
    this.code = CODES[code] ?? code;
  }
}

/** A command has failed, and the caller had asked for success (`check: true`). */
export class CommandError extends WasiboxError {
  /** What became of it. */
  readonly outcome: Outcome;

  constructor(outcome: Outcome) {
    const last = (outcome.stderr || outcome.stdout).trim().split("\n").pop();
    const why = outcome.limitHit === null ? "" : ` (${outcome.limitHit})`;
    super(`exit code ${outcome.exitCode}${why}${last ? `: ${last}` : ""}`, "command");
    this.outcome = outcome;
  }
}

const CLASSES: Readonly<Record<string, new (message: string) => WasiboxError>> = {
  invalid: InvalidError,
  missing: NotFoundError,
  conflict: ConflictError,
  busy: BusyError,
  cancelled: CancelledError,
  closed: ClosedError,
};

/** The package's error for one of the native module's, whose message has kind, code and text, a line each. */
function ofNative(error: unknown): unknown {
  const [kind, code, ...text] = error instanceof Error ? error.message.split("\n") : [];
  if (kind === undefined || code === undefined || text.length === 0) return error;
  const message = text.join("\n");
  if (kind === "file") return new FileError(message, code);
  const Class = CLASSES[kind];
  return Class === undefined ? new WasiboxError(message) : new Class(message);
}

/** Awaits what the native module does; what it throws becomes one of the package's errors. */
export async function raising<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw ofNative(error);
  }
}

/** The same for what it does at once. */
export function raisingNow<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw ofNative(error);
  }
}
