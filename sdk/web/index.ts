// Wasibox in a page or in Node, without a server.

export {
  BusyError,
  ClosedError,
  CommandError,
  ConflictError,
  FileError,
  InvalidError,
  NotFoundError,
  WasiboxError,
  type Kind,
} from "../typescript/errors.js";
export { Outcome, type Commit, type Entry, type Figure, type FileChange, type Match } from "../typescript/outcome.js";
export { Session, type CellOptions, type Changed, type CreateOptions, type ExecOptions, type Network, type Progress, type TerminalSize } from "./session.js";
export { persist, remove, sessions, storage } from "./store.js";
