// The outcomes of calls, and the other answers of a session.

import { CommandError, WasiboxError } from "./errors.js";
import { OutcomeFields, toEntryFields, type EntryFields, type FileEntry, type OutcomeJson } from "./protocol.js";

export { toCommit, toPort, toProcess } from "./protocol.js";
export type { Commit, CommitReport, FileChange, Port, Process } from "./protocol.js";

/** The maximum number of pictures of one outcome, and the maximum number of bytes of each. */
const PICTURES = 16;
const PICTURE = 8 << 20;

const text = new TextDecoder("utf-8", { ignoreBOM: true });

/** A picture file that a call has created or changed. */
export interface Figure<Bytes extends Uint8Array = Uint8Array> {
  path: string;
  mimeType: string;
  data: Bytes;
}

/** The result of a command or a cell. A command that fails has an outcome, too. */
export class Outcome<Bytes extends Uint8Array = Uint8Array> extends OutcomeFields {
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  /** Standard output as text. Bytes that are not UTF-8 are replaced; `stdoutBytes` has them. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Bytes;
  readonly stderrBytes: Bytes;
  /**
   * The value of a cell's last expression: the value itself if JSON can express it, otherwise
   * `valueRepr`; null if it is too long (`valueBytes`).
   */
  readonly value: unknown;
  /** The value as `repr` or `util.inspect` shows it; of a long one the beginning and the end. */
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
    // A part of a value could be taken for another value.
    const shown = this.valueBytes === null ? this.valueRepr : null;
    this.value = "value_json" in json ? json.value_json : shown;
    this.#read = read;
  }

  /**
   * Returns the outcome itself if the command has succeeded.
   *
   * @throws a `CommandError` if the exit code is not 0.
   */
  check(): this {
    if (!this.ok) throw new CommandError(this);
    return this;
  }

  /**
   * Returns the pictures among `files`, with their current contents in the session. There are at
   * most 16 of them, each of at most 8 MiB.
   */
  async figures(): Promise<Figure<Bytes>[]> {
    const found: Figure<Bytes>[] = [];
    for (const { path, change, size, mimeType } of this.files) {
      if (change === "deleted" || !mimeType?.startsWith("image/") || size > PICTURE) continue;
      try {
        found.push({ path, mimeType, data: await this.#read(path) });
      } catch (error) {
        // The file was removed meanwhile, or the session is closed. Its name stays in `files`.
        if (!(error instanceof WasiboxError)) throw error;
      }
      if (found.length === PICTURES) break;
    }
    return found;
  }
}

/** A file, directory or other node, as `list` and `stat` return it. */
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
