// Outcomes of calls, and other answers of a session.

import { CommandError, WasiboxError } from "./errors.js";
import { OutcomeFields, toEntryFields, type EntryFields, type FileEntry, type OutcomeJson } from "./protocol.js";

export { toCommit } from "./protocol.js";
export type { Commit, CommitReport, FileChange } from "./protocol.js";

/** Pictures that are fetched of one outcome at most, and bytes of each. */
const PICTURES = 16;
const PICTURE = 8 << 20;

const text = new TextDecoder("utf-8", { ignoreBOM: true });

/** A picture that a call has made. */
export interface Figure<Bytes extends Uint8Array = Uint8Array> {
  path: string;
  mimeType: string;
  data: Bytes;
}

/** The outcome of a command or a cell. A command that fails has an outcome, too. */
export class Outcome<Bytes extends Uint8Array = Uint8Array> extends OutcomeFields {
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  /** Output as text; bytes that are not UTF-8 are replaced here, and kept in `stdoutBytes`. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Bytes;
  readonly stderrBytes: Bytes;
  /**
   * The value of a cell's last expression: the value itself if it is plain data (what JSON has), otherwise as the language
   * writes it; null if it is too long (`valueBytes`).
   */
  readonly value: unknown;
  /** The value as `repr` or `util.inspect` writes it; of a long one the beginning and the end. */
  readonly valueRepr: string | null;
  readonly #read: (path: string) => Promise<Bytes>;

  /** @internal */
  constructor(json: OutcomeJson, stdout: Bytes, stderr: Bytes, read: (path: string) => Promise<Bytes>) {
    super(json);
    this.ok = json.exit_code === 0;
    this.stdout = text.decode(stdout);
    this.stderr = text.decode(stderr);
    this.stdoutBytes = stdout;
    this.stderrBytes = stderr;
    this.valueRepr = json.value ?? null;
    // Part of a value would pass for another one.
    const shown = this.valueBytes === null ? this.valueRepr : null;
    this.value = "value_json" in json ? json.value_json : shown;
    this.#read = read;
  }

  /** Returns the outcome itself; throws a `CommandError` if the exit code is not 0. */
  check(): this {
    if (!this.ok) throw new CommandError(this);
    return this;
  }

  /** Returns the pictures that the call has made, as they are in the session now. */
  async figures(): Promise<Figure<Bytes>[]> {
    const found: Figure<Bytes>[] = [];
    for (const { path, change, size, mimeType } of this.files) {
      if (change === "deleted" || !mimeType?.startsWith("image/") || size > PICTURE) continue;
      try {
        found.push({ path, mimeType, data: await this.#read(path) });
      } catch (error) {
        // The file was removed meanwhile, or the session is closed; its name is in the list.
        if (!(error instanceof WasiboxError)) throw error;
      }
      if (found.length === PICTURES) break;
    }
    return found;
  }
}

/** A file as `list` and `stat` describe it. */
export interface Entry extends EntryFields {
  readonly isDirectory: boolean;
}

/** Converts an entry from JSON. */
export function toEntry(json: FileEntry): Entry {
  return { ...toEntryFields(json), isDirectory: json.kind === "directory" };
}

/** A line that `grep` has found. */
export interface Match {
  path: string;
  line: number;
  text: string;
}
