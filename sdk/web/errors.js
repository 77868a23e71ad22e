// The errors that calls throw. The classes are those of the package for Node.

/** The base class of all errors: something could not be done. */
export class WasiboxError extends Error {
  constructor(message, kind = 'internal') {
    super(message);
    this.name = new.target.name;
    /** The kind of the error: a word for each class. */
    this.kind = kind;
  }
}

/** The request is invalid. */
export class InvalidError extends WasiboxError {
  constructor(message) {
    super(message, 'invalid');
  }
}

/** The request names a session, a commit or a command that does not exist. */
export class NotFoundError extends WasiboxError {
  constructor(message) {
    super(message, 'missing');
  }
}

/** The request conflicts with the current state, such as a name that is taken. */
export class ConflictError extends WasiboxError {
  constructor(message) {
    super(message, 'conflict');
  }
}

/** Another page uses what the request needs. */
export class BusyError extends WasiboxError {
  constructor(message) {
    super(message, 'busy');
  }
}

/** The session is closed. */
export class ClosedError extends WasiboxError {
  constructor(message) {
    super(message, 'closed');
  }
}

/** The codes that programs for Node expect. */
const CODES = {
  not_found: 'ENOENT',
  exists: 'EEXIST',
  not_a_file: 'EISDIR',
  directory: 'EISDIR',
  too_large: 'EFBIG',
};

/** A file request could not be carried out. */
export class FileError extends WasiboxError {
  constructor(message, code) {
    super(message, 'file');
    /**
     * The reason: an error's name in C (`ENOENT`) if there is one, otherwise a word such as
     * `no_match`.
     */
    this.code = CODES[code] ?? code;
  }
}

/** A command has failed, and the caller required success (`check: true`). */
export class CommandError extends WasiboxError {
  constructor(outcome) {
    const last = (outcome.stderr || outcome.stdout).trim().split('\n').pop();
    const why = outcome.limitHit === null ? '' : ` (${outcome.limitHit})`;
    super(`exit code ${outcome.exitCode}${why}${last ? `: ${last}` : ''}`, 'command');
    this.outcome = outcome;
  }
}

const CLASSES = { invalid: InvalidError, missing: NotFoundError, conflict: ConflictError, closed: ClosedError };

/**
 * Returns the error for a failure that the kernel reports: its kind, its text, and perhaps a code.
 */
export function errorOf({ kind, text, code }) {
  if (kind === 'file') return new FileError(text, code ?? 'EIO');
  const Class = CLASSES[kind];
  return Class === undefined ? new WasiboxError(text) : new Class(text);
}
