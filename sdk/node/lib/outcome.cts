// The outcomes of calls in native sessions, and their other answers.

import type { NativeOutcome } from "./native.cjs";
import { Outcome as AnyOutcome, type Figure as AnyFigure } from "./shared/outcome.js";

/** A picture file that a call has created or changed. */
export type Figure = AnyFigure<Buffer>;

/** The result of a command or a cell. A command that fails has an outcome, too. */
export class Outcome extends AnyOutcome<Buffer> {
  /** @internal */
  constructor(native: NativeOutcome, read: (path: string) => Promise<Buffer>) {
    super(JSON.parse(native.rest), native.stdout, native.stderr, read);
  }
}

/** The result of applying a session's changes to the workspace's folder on the host. */
export interface Applied {
  done: string[];
  /** The paths that were left as they are, each with the reason. */
  left: { path: string; why: string }[];
}
