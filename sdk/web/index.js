// The machine of Wasibox in a page or in Node.

export {
  BusyError,
  ClosedError,
  CommandError,
  ConflictError,
  FileError,
  InvalidError,
  NotFoundError,
  WasiboxError,
} from './errors.js';
export { Outcome } from './outcome.js';
export { Session } from './session.js';
export { persist, remove, sessions, storage } from './store.js';
