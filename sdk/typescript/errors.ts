// The errors of the packages for Node and for pages.

import type { Outcome } from "./outcome.js";
import type { RefusalKind } from "./protocol.js";

/** The kind of an error. */
export type Kind = RefusalKind | "file" | "command";

/**
 * The base of all errors of this package: a request failed. Reasons that callers may want to
 * distinguish have classes of their own.
 */
export class WasiboxError extends Error {
  /** The class in one word, for programs that load this package twice, where `instanceof` fails. */
  readonly kind: Kind;

  constructor(message: string, kind: Kind = "internal") {
    super(message);
    this.name = new.target.name;
    this.kind = kind;
  }
}

/** The request is invalid. */
export class InvalidError extends WasiboxError {
  constructor(message: string) {
    super(message, "invalid");
  }
}

/** The request names a session, a commit or a command that does not exist. */
export class NotFoundError extends WasiboxError {
  constructor(message: string) {
    super(message, "missing");
  }
}

/** The request conflicts with the current state, such as a name that is taken. */
export class ConflictError extends WasiboxError {
  constructor(message: string) {
    super(message, "conflict");
  }
}

/** Another process, page or call uses what the request needs. */
export class BusyError extends WasiboxError {
  constructor(message: string) {
    super(message, "busy");
  }
}

/**
 * The call was cancelled before it began, or its stream was closed. A call with an `AbortSignal`
 * throws the signal's reason instead.
 */
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

/** Node's codes for reasons that Node's own file functions report, too. */
const CODES: Readonly<Record<string, string>> = {
  not_found: "ENOENT",
  exists: "EEXIST",
  not_a_file: "EISDIR",
  directory: "EISDIR",
  too_large: "EFBIG",
};

/** A file request failed. */
export class FileError extends WasiboxError {
  /**
   * The reason in one word: the name of an error in C, such as `ENOENT`, or a word such as
   * `ambiguous` or `no_match`.
   */
  readonly code: string;

  constructor(message: string, code: string) {
    super(message, "file");
    this.code = CODES[code] ?? code;
  }
}

/** A command failed, and the caller required success (`check`). */
export class CommandError extends WasiboxError {
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

/** Returns the error for a refusal. */
export function errorOf({ kind, text, code }: { kind: string; text: string; code?: string }): WasiboxError {
  if (kind === "file") return new FileError(text, code ?? "EIO");
  const Class = CLASSES[kind];
  return Class === undefined ? new WasiboxError(text) : new Class(text);
}
