// A session as a backend of deepagents for JavaScript (`createDeepAgent({ backend })`). Files are
// read, listed and searched by file requests of the session, not by commands in the sandbox.

import path = require("node:path");
import type { Session } from "../session.cjs";
import { FileError } from "../shared/errors.js";
import type { ExecOptions } from "../shared/options.js";

/** deepagents' names for errors of files. */
export type FileOperationError = "file_not_found" | "permission_denied" | "is_directory" | "invalid_path";

/** A path that a listing or a search has found. */
export interface FileInfo {
  path: string;
  is_dir: boolean;
  size?: number;
}

/** The options of a backend and its commands. The time limit is 120 seconds by default. */
export type WasiboxBackendOptions = Pick<ExecOptions, "env" | "timeout" | "maxOutput">;

/** The time limit of a command in seconds, and the maximum number of bytes of its output. */
const TIMEOUT = 120;
const OUTPUT = 1 << 20;
/** The most paths and lines that a search returns. */
const FOUND = 10_000;

/** Types of files that models are shown as they are, rather than as text. */
const BINARY: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
};

const ERRORS: Readonly<Record<string, FileOperationError>> = {
  ENOENT: "file_not_found",
  ENOTDIR: "invalid_path",
  EISDIR: "is_directory",
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  EROFS: "permission_denied",
};

/** Returns deepagents' name for an error of a file. Throws other errors. */
function nameOf(error: unknown): FileOperationError {
  if (!(error instanceof FileError)) throw error;
  return ERRORS[error.code] ?? "invalid_path";
}

/** Returns the message of an error of a file. Throws other errors. */
function textOf(error: unknown, file: string): string {
  if (!(error instanceof FileError)) throw error;
  return error.code === "ENOENT" ? `File '${file}' not found` : error.message;
}

/** Returns a file's content as text, unless it is binary. */
function content(file: string, data: Buffer): { content: string | Uint8Array; mimeType: string } {
  const known = BINARY[path.posix.extname(file).toLowerCase()];
  if (known !== undefined) return { content: data, mimeType: known };
  try {
    return { content: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data), mimeType: "text/plain" };
  } catch {
    return { content: data, mimeType: "application/octet-stream" };
  }
}

/**
 * A backend of deepagents over a session:
 *
 *     const agent = createDeepAgent({ model, backend: new WasiboxBackend(session) });
 *
 * It is compatible with the type `SandboxBackendProtocolV2` of deepagents 1.14.
 */
export class WasiboxBackend {
  /** The session, for operations such as `undo` and `fork`. */
  readonly session: Session;
  readonly #options: WasiboxBackendOptions;

  constructor(session: Session, options: WasiboxBackendOptions = {}) {
    this.session = session;
    this.#options = options;
  }

  /** The session's name. */
  get id(): string {
    return this.session.name;
  }

  /** Whether the session is open. */
  get isRunning(): boolean {
    return !this.session.closed;
  }

  /**
   * Runs a command in a new shell. As deepagents expects, the next command does not have its
   * directory and variables. Both streams are one, in the order in which they are written.
   */
  async execute(command: string): Promise<{ output: string; exitCode: number; truncated: boolean }> {
    const argv = ["bash", "-c", 'exec bash -c "$1" 2>&1', "bash", command];
    const options = { timeout: TIMEOUT, maxOutput: OUTPUT, ...this.#options, listFiles: false };
    const { stdout, exitCode, truncated, limitHit } = await this.session.exec(argv, options);
    const output = limitHit === null ? stdout : `${stdout}\n[limit: ${limitHit}]`;
    return { output, exitCode, truncated };
  }

  /** Lists a directory. One that does not exist has no entries, as in deepagents' own backends. */
  async ls(directory: string): Promise<{ files?: FileInfo[]; error?: string }> {
    try {
      const entries = await this.session.list(directory);
      const base = path.posix.resolve(await this.session.cwd(), directory);
      const files = entries.map((entry) => {
        const full = path.posix.resolve(base, entry.path);
        return { path: entry.isDirectory ? `${full}/` : full, is_dir: entry.isDirectory, size: entry.size };
      });
      return { files };
    } catch (error) {
      return nameOf(error) === "file_not_found" ? { files: [] } : { error: textOf(error, directory) };
    }
  }

  /** Reads lines of a text, the first being 0, or a whole binary file. */
  async read(file: string, offset = 0, limit = 500) {
    try {
      const whole = content(file, await this.session.read(file));
      if (typeof whole.content !== "string") return whole;
      const lines = whole.content.split("\n");
      if (lines.at(-1) === "") lines.pop();
      if (offset > 0 && offset >= lines.length) return { error: `'${file}' has only ${lines.length} lines` };
      const end = Math.min(offset + limit, lines.length);
      const shown = { content: lines.slice(offset, end).join("\n"), mimeType: whole.mimeType, totalLines: lines.length };
      const place = end > offset ? { startLine: offset + 1, endLine: end } : {};
      return { ...shown, ...place, ...(end < lines.length ? { nextOffset: end } : {}) };
    } catch (error) {
      return { error: textOf(error, file) };
    }
  }

  /** Reads a whole file. */
  async readRaw(file: string) {
    try {
      const whole = content(file, await this.session.read(file));
      const now = new Date().toISOString();
      return { data: { ...whole, created_at: now, modified_at: now } };
    } catch (error) {
      return { error: textOf(error, file) };
    }
  }

  /** Replaces the contents of a file. Those of a binary file are given as base64. */
  async write(file: string, text: string): Promise<{ path?: string; filesUpdate?: null; error?: string }> {
    const isBinary = path.posix.extname(file).toLowerCase() in BINARY;
    try {
      await this.session.write(file, isBinary ? Buffer.from(text, "base64") : text);
      return { path: file, filesUpdate: null };
    } catch (error) {
      return { error: `Failed to write '${file}': ${textOf(error, file)}` };
    }
  }

  /** Replaces a text in a file, which must occur once unless `replaceAll` is true. */
  async edit(
    file: string,
    old: string,
    text: string,
    replaceAll = false,
  ): Promise<{ path?: string; filesUpdate?: null; occurrences?: number; error?: string }> {
    try {
      const before = (await this.session.read(file)).toString();
      if (old === "" && before !== "") return { error: "The text to replace is empty, but the file is not" };
      const occurrences = old === "" ? 1 : before.split(old).length - 1;
      if (occurrences === 0) return { error: `String not found in file '${file}'` };
      if (occurrences > 1 && !replaceAll) {
        return { error: `Multiple occurrences (${occurrences}) in '${file}': give more context, or replace all` };
      }
      await this.session.write(file, old === "" ? text : before.split(old).join(text));
      return { path: file, filesUpdate: null, occurrences };
    } catch (error) {
      return { error: textOf(error, file) };
    }
  }

  /** Returns the lines in which a text occurs. `include` is a pattern for names of files. */
  async grep(pattern: string, where: string | null = null, include: string | null = null, maxCount: number | null = null) {
    const limit = Math.min(maxCount ?? FOUND, FOUND);
    const grep = { pattern, path: where ?? "/", syntax: "literal", hidden: true, limit, max_bytes: OUTPUT };
    try {
      const { matches } = await this.session.files({ grep: include === null ? grep : { ...grep, include: [include] } });
      const found = matches.files.flatMap(({ path, lines }: { path: string; lines: any[] }) =>
        lines.filter((line) => line.matches).map(({ number, text }) => ({ path, line: number, text })),
      ) as { path: string; line: number; text: string }[];
      return { matches: found, truncated: matches.next_offset !== null };
    } catch (error) {
      return nameOf(error) === "file_not_found" ? { matches: [] } : { error: textOf(error, where ?? "/") };
    }
  }

  /** Returns the files and directories whose paths below a directory match a pattern, relative to it. */
  async glob(pattern: string, where = "/"): Promise<{ files?: FileInfo[]; truncated?: boolean; error?: string }> {
    const find = async (directories: boolean): Promise<string[]> =>
      (await this.session.files({ glob: { pattern, path: where, directories, limit: FOUND } })).paths.paths;
    try {
      const [all, plain] = [await find(true), new Set(await find(false))];
      const base = path.posix.resolve(await this.session.cwd(), where);
      const files = all.map((found) => ({
        path: path.posix.relative(base, path.posix.resolve(base, found)),
        is_dir: !plain.has(found),
      }));
      return { files, truncated: files.length === FOUND };
    } catch (error) {
      return nameOf(error) === "file_not_found" ? { files: [] } : { error: textOf(error, where) };
    }
  }

  /** Removes a file, or a directory with everything in it. */
  async delete(file: string): Promise<{ path?: string; filesUpdate?: null; error?: string }> {
    try {
      await this.session.delete(file, { recursive: true });
      return { path: file, filesUpdate: null };
    } catch (error) {
      return { error: textOf(error, file) };
    }
  }

  /** Writes files. An error in one of them does not affect the others. */
  async uploadFiles(files: [string, Uint8Array][]) {
    const results: { path: string; error: FileOperationError | null }[] = [];
    for (const [file, data] of files) {
      const error = file.startsWith("/") ? await this.session.write(file, data).then(() => null, nameOf) : "invalid_path";
      results.push({ path: file, error });
    }
    return results;
  }

  /** Reads files. An error in one of them does not affect the others. */
  async downloadFiles(paths: string[]) {
    const results: { path: string; content: Uint8Array | null; error: FileOperationError | null }[] = [];
    for (const file of paths) {
      try {
        if (!file.startsWith("/")) throw new FileError("the path is not absolute", "ENOTDIR");
        results.push({ path: file, content: await this.session.read(file), error: null });
      } catch (error) {
        results.push({ path: file, content: null, error: nameOf(error) });
      }
    }
    return results;
  }

  /** Closes the session. */
  close(): Promise<void> {
    return this.session.close();
  }
}
