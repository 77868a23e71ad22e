// What calls give.

import { CommandError, WasiboxError } from "./errors.cjs";
import type { NativeOutcome } from "./native.cjs";

/** Pictures that are fetched of one outcome at most, and bytes of each. */
const PICTURES = 16;
const PICTURE = 8 << 20;

/** A file that a call has made, changed or removed. */
export interface FileChange {
  path: string;
  change: "created" | "modified" | "deleted";
  size: number;
  mimeType: string | null;
  sha256: string | null;
}

/** A picture that a call has made. */
export interface Figure {
  path: string;
  mimeType: string;
  data: Buffer;
}

/** What the native module reports in addition to the output. */
interface Rest {
  exit_code: number;
  duration_ms: number;
  cpu_ms: number;
  peak_memory: number;
  limit_hit: string | null;
  truncated: boolean;
  files: { path: string; change: FileChange["change"]; size: number; mime_type?: string; sha256?: string }[];
  files_truncated: boolean;
  value?: string;
  value_json?: unknown;
  value_bytes?: number;
  ended: string[];
  background: string[];
  put_back?: boolean;
  commit?: number;
}

/** What became of a command or a cell. A command that fails is an outcome, too. */
export class Outcome {
  /** What a shell would report; 124 after the time limit, 130 after a cancellation, 137 after the output limit. */
  readonly exitCode: number;
  /** Whether the exit code is 0. */
  readonly ok: boolean;
  /** Output as text; bytes that are not UTF-8 are replaced, and stand in `stdoutBytes`. */
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: Buffer;
  readonly stderrBytes: Buffer;
  /** Seconds, by the clock */
  readonly duration: number;
  /** and of all guests' CPU time. */
  readonly cpuTime: number;
  /** Most bytes that the guests' memories had together. */
  readonly peakMemory: number;
  /** The limit that ended the call, else the first that it ran into. */
  readonly limitHit: string | null;
  /** Output was cut at its limit. */
  readonly truncated: boolean;
  readonly files: readonly FileChange[];
  /** More files may have changed than are listed. */
  readonly filesTruncated: boolean;
  /**
   * The value of a cell's last expression: itself where it is plain data (what JSON has), else as the language writes it;
   * null if it is too long (`valueBytes`).
   */
  readonly value: unknown;
  /** The same as `repr` or `util.inspect` writes it; of a long one the beginning and the end. */
  readonly valueRepr: string | null;
  /** How many bytes the value has at least, if it was cut: at 64 KiB of text, 1 MiB of JSON, `maxOutput`. */
  readonly valueBytes: number | null;
  /** Processes that were left and ended with the call, */
  readonly ended: readonly string[];
  /** and those that go on (`keepBackground`). */
  readonly background: readonly string[];
  /** The cell's interpreter has ended; the next cell continues from the state before this one. */
  readonly putBack: boolean;
  /** The commit that the call has made. */
  readonly commit: number | null;
  readonly #read: (path: string) => Promise<Buffer>;

  /** @internal */
  constructor(native: NativeOutcome, read: (path: string) => Promise<Buffer>) {
    const rest = JSON.parse(native.rest) as Rest;
    this.exitCode = rest.exit_code;
    this.ok = rest.exit_code === 0;
    this.stdout = native.stdout.toString();
    this.stderr = native.stderr.toString();
    this.stdoutBytes = native.stdout;
    this.stderrBytes = native.stderr;
    this.duration = rest.duration_ms / 1e3;
    this.cpuTime = rest.cpu_ms / 1e3;
    this.peakMemory = rest.peak_memory;
    this.limitHit = rest.limit_hit;
    this.truncated = rest.truncated;
    this.files = rest.files.map(({ path, change, size, mime_type: mimeType = null, sha256 = null }) => {
      return { path, change, size, mimeType, sha256 };
    });
    this.filesTruncated = rest.files_truncated;
    this.valueRepr = rest.value ?? null;
    this.valueBytes = rest.value_bytes ?? null;
    // Part of a value would pass for another one.
    const shown = this.valueBytes === null ? this.valueRepr : null;
    this.value = "value_json" in rest ? rest.value_json : shown;
    this.ended = rest.ended;
    this.background = rest.background;
    this.putBack = rest.put_back ?? false;
    this.commit = rest.commit ?? null;
    this.#read = read;
  }

  /** The outcome itself; throws a `CommandError` if the exit code is not 0. */
  check(): this {
    if (!this.ok) throw new CommandError(this);
    return this;
  }

  /** The pictures that the call has made, as they are in the session now. */
  async figures(): Promise<Figure[]> {
    const found: Figure[] = [];
    for (const { path, change, size, mimeType } of this.files) {
      if (change === "deleted" || !mimeType?.startsWith("image/") || size > PICTURE) continue;
      try {
        found.push({ path, mimeType, data: await this.#read(path) });
      } catch (error) {
        // Gone meanwhile, or the session is closed: its name is in the list.
        if (!(error instanceof WasiboxError)) throw error;
      }
      if (found.length === PICTURES) break;
    }
    return found;
  }
}

/** A file as `list` and `stat` tell of it. */
export interface Entry {
  path: string;
  kind: "file" | "directory" | "symlink" | "fifo" | "socket" | "device";
  size: number;
  /** Permission bits. */
  mode: number;
  /** Seconds since the epoch. */
  modified: number;
  /** What a symbolic link names. */
  target: string | null;
  isDirectory: boolean;
}

/** Converts an entry that the native module reports. */
export function entry(native: Omit<Entry, "isDirectory" | "target"> & { target?: string | null }): Entry {
  const { modified, target = null, kind, ...rest } = native;
  return { ...rest, kind, modified: modified / 1e9, target, isDirectory: kind === "directory" };
}

/** A line that `grep` has found. */
export interface Match {
  path: string;
  line: number;
  text: string;
}

/** What a session was when a call had returned. */
export interface Commit {
  number: number;
  parent: number | null;
  /** What was called. */
  command: string;
  exitCode: number | null;
  /** When it began, in seconds since the epoch; */
  time: number;
  /** how long it took. */
  duration: number;
  changedFiles: number;
  /** Names that it was given. */
  tags: string[];
}

/** Converts a commit that the native module reports. */
export interface CommitRecord extends Omit<Commit, "exitCode" | "changedFiles"> {
  exit_code: number | null;
  changed_files: number;
}

export function commit({ exit_code: exitCode, changed_files: changedFiles, ...rest }: CommitRecord): Commit {
  return { ...rest, exitCode, changedFiles };
}

/** What was brought back to a workspace's folder. */
export interface Applied {
  done: string[];
  /** Paths that were left as they are, and why. */
  left: { path: string; why: string }[];
}
