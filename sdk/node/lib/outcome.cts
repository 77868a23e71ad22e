// Answers of native sessions.

import type { NativeOutcome } from "./native.cjs";
import { Outcome as AnyOutcome, type Figure as AnyFigure } from "./shared/outcome.js";

/** A picture that a call has made. */
export type Figure = AnyFigure<Buffer>;

/** The outcome of a command or a cell. A command that fails has an outcome, too. */
export class Outcome extends AnyOutcome<Buffer> {
  /** @internal */
  constructor(native: NativeOutcome, read: (path: string) => Promise<Buffer>) {
    super(JSON.parse(native.rest), native.stdout, native.stderr, read);
  }
}

/** The changes that were brought back to a workspace's folder. */
export interface Applied {
  done: string[];
  /** Paths that were left as they are, each with the reason. */
  left: { path: string; why: string }[];
}
