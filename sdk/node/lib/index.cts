// A POSIX-flavoured machine for models and people, as WebAssembly, in your process.

export { Engine, defaultEngine } from "./engine.cjs";
export type { EngineOptions } from "./engine.cjs";
export {
  BusyError,
  CancelledError,
  ClosedError,
  CommandError,
  ConflictError,
  FileError,
  InvalidError,
  NotFoundError,
  WasiboxError,
} from "./shared/errors.js";
export type { Kind } from "./shared/errors.js";
export type { CellOptions, ExecOptions } from "./shared/options.js";
export type {
  Grants,
  Limits,
  Mount,
  Network,
  Preset,
  SessionOptions,
  StreamOptions,
  Workspace,
} from "./options.cjs";
export { Outcome } from "./outcome.cjs";
export type { Applied, Figure } from "./outcome.cjs";
export type { Commit, Entry, FileChange, Match, Port, Process } from "./shared/outcome.js";
export { Stream } from "./output.cjs";
export type { Chunk } from "./output.cjs";
export { ExposedPort, Processes } from "./processes.cjs";
export type { ProcessOptions, ProcessOutput, ReadOptions, ScreenSize } from "./processes.cjs";
export { KeyValues, Session } from "./session.cjs";
export type { MapOptions } from "./session.cjs";
export { ToolError, tool } from "./tools.cjs";
export type { HostTool, JsonSchema, StandardResult, StandardSchema, ToolContext } from "./tools.cjs";

/** The version of the package. */
export const version: string = (require("../package.json") as { version: string }).version;
