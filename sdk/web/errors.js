// What calls throw: the classes of the package for Node.

/** Something could not be done. Reasons that callers tell apart have classes of their own. */
export class WasiboxError extends Error {
  constructor(message, kind = 'internal') {
    super(message);
    this.name = new.target.name;
    /** The same as the class, as a word. */
    this.kind = kind;
  }
}

/** The request makes no sense. */
export class InvalidError extends WasiboxError {
  constructor(message) {
    super(message, 'invalid');
  }
}

/** It speaks of a session, a commit or a command that is not there. */
export class NotFoundError extends WasiboxError {
  constructor(message) {
    super(message, 'missing');
  }
}

/** It does not go together with what is there, such as a name that is taken. */
export class ConflictError extends WasiboxError {
  constructor(message) {
    super(message, 'conflict');
  }
}

/** Another page has what it needs. */
export class BusyError extends WasiboxError {
  constructor(message) {
    super(message, 'busy');
  }
}

/** The session was closed. */
export class ClosedError extends WasiboxError {
  constructor(message) {
    super(message, 'closed');
  }
}

/** The names that Node's own programs look for. */
const CODES = {
  not_found: 'ENOENT',
  exists: 'EEXIST',
  not_a_file: 'EISDIR',
  directory: 'EISDIR',
  too_large: 'EFBIG',
};

/** A request about a file cannot be done. */
export class FileError extends WasiboxError {
  constructor(message, code) {
    super(message, 'file');
    /** Why, in a word: C's name of an error (`ENOENT`) where there is one, else `ambiguous`, `no_match`, ... */
    this.code = CODES[code] ?? code;
  }
}

/** A command has failed, and the caller had asked for success (`check: true`). */
export class CommandError extends WasiboxError {
  constructor(outcome) {
    const last = (outcome.stderr || outcome.stdout).trim().split('\n').pop();
    const why = outcome.limitHit === null ? '' : ` (${outcome.limitHit})`;
    super(`exit code ${outcome.exitCode}${why}${last ? `: ${last}` : ''}`, 'command');
    this.outcome = outcome;
  }
}

const CLASSES = { invalid: InvalidError, missing: NotFoundError, conflict: ConflictError, closed: ClosedError };

/** The error for what the kernel tells: kind, text, perhaps a code. */
export function errorOf({ kind, text, code }) {
  if (kind === 'file') return new FileError(text, code ?? 'EIO');
  const Class = CLASSES[kind];
  return Class === undefined ? new WasiboxError(text) : new Class(text);
}
