// The common part of native sessions and those of pages: files and history, by requests of the
// protocol.

import { FileError, InvalidError, NotFoundError } from "./errors.js";
import { toCommit, toEntry, type Commit, type CommitReport, type Entry, type Match } from "./outcome.js";
import type { FileAnswers, FileRequests } from "./protocol.js";

/** The connection between a session's object and the session itself. */
export interface Transport<Bytes extends Uint8Array> {
  /** Carries out a request of the protocol, and returns its answer. */
  apply(request: unknown): Promise<any>;
  /** Returns the bytes of a file. */
  read(path: string): Promise<Bytes>;
  /** Returns the current directory of the shell. */
  directory(): Promise<string>;
}

/** The files and the history of a session. */
export abstract class SessionBase<Bytes extends Uint8Array = Uint8Array> {
  readonly #way: Transport<Bytes>;

  /** @internal */
  protected constructor(way: Transport<Bytes>) {
    this.#way = way;
  }

  /** Ends the interpreters. The next cell begins a new one. */
  async reset(): Promise<void> {
    await this.#way.apply("reset");
  }

  // Files. Relative paths start at the current directory of the shell.

  /** Returns the bytes of a file. */
  read(path: string): Promise<Bytes> {
    return this.#way.read(path);
  }

  /**
   * Carries out a file request, such as `{ grep: { pattern: "x" } }`, and returns the answer.
   * docs/protocol.md lists all requests and answers.
   */
  files(request: Readonly<Record<string, unknown>>): Promise<any> {
    return this.#way.apply({ files: request });
  }

  async #ask<Key extends keyof FileRequests, Answer extends keyof FileAnswers>(
    key: Key,
    request: FileRequests[Key],
    answer: Answer,
  ): Promise<FileAnswers[Answer]> {
    return (await this.files({ [key]: request }))[answer];
  }

  /**
   * Replaces text in a file, and returns the changed place with line numbers. The text `old` must
   * occur exactly once, unless `replaceAll` is true.
   */
  async edit(path: string, old: string, text: string, options: { replaceAll?: boolean } = {}): Promise<string> {
    const edits = [{ old, new: text, replace_all: options.replaceAll ?? false }];
    return (await this.#ask("edit", { path, edits }, "edited")).shown;
  }

  /** Applies a unified diff completely or not at all, and returns the paths of the files. */
  async patch(patch: string): Promise<string[]> {
    const { files } = await this.#ask("apply_patch", { patch }, "patched");
    return files.map((file) => file.path);
  }

  /** Returns the entries of a directory, `depth` levels deep. */
  async list(path = ".", options: { depth?: number; hidden?: boolean } = {}): Promise<Entry[]> {
    const { depth = 1, hidden = true } = options;
    const found: Entry[] = [];
    for (;;) {
      const { entries, next_offset } = await this.#ask("ls", { path, depth, hidden, offset: found.length }, "entries");
      found.push(...entries.map(toEntry));
      if (next_offset == null || entries.length === 0) return found;
    }
  }

  /** Returns the paths that match a pattern, which may have `*`, `?`, `[...]`, `{a,b}` and `**`. */
  async glob(pattern: string, path = ".", options: { hidden?: boolean; limit?: number } = {}): Promise<string[]> {
    const { hidden = false, limit = 1000 } = options;
    return [...(await this.#ask("glob", { pattern, path, hidden, limit }, "paths")).paths];
  }

  /**
   * Returns the lines that match a pattern in a file, or in all files below a directory. The
   * pattern is a regular expression in Perl's syntax, or with `literal` a plain text.
   */
  async grep(
    pattern: string,
    path = ".",
    options: { ignoreCase?: boolean; literal?: boolean; include?: readonly string[]; limit?: number } = {},
  ): Promise<Match[]> {
    const { ignoreCase = false, literal = false, include = [], limit = 200 } = options;
    const syntax = literal ? "literal" : "perl";
    const request = { pattern, path, ignore_case: ignoreCase, syntax, include, limit } as const;
    const { files } = await this.#ask("grep", request, "matches");
    const lines = files.flatMap(({ path, lines }) => lines.map((line) => ({ path, ...line })));
    return lines.filter((line) => line.matches).map(({ path, number, text }) => ({ path, line: number, text }));
  }

  /** Returns the entry of a path. With `follow` (the default), a symbolic link means its target. */
  async stat(path: string, options: { follow?: boolean } = {}): Promise<Entry> {
    return toEntry(await this.#ask("stat", { path, follow: options.follow ?? true }, "stat"));
  }

  /** Returns whether a path exists. */
  async exists(path: string): Promise<boolean> {
    try {
      await this.stat(path);
      return true;
    } catch (error) {
      if (error instanceof FileError && error.code === "ENOENT") return false;
      throw error;
    }
  }

  /** Removes a file or, with `recursive`, a directory. Returns how many were removed. */
  async delete(path: string, options: { recursive?: boolean } = {}): Promise<number> {
    return (await this.#ask("delete", { path, recursive: options.recursive ?? false }, "deleted")).count;
  }

  /** Renames or moves a file or a directory. */
  async move(from: string, to: string): Promise<void> {
    await this.#ask("move", { from, to }, "moved");
  }

  /** Creates a directory, and the missing directories above it. */
  async makeDir(path: string): Promise<void> {
    await this.#ask("make_dir", { path }, "made");
  }

  // History.

  /** Carries out a request about the history, and returns the number of the resulting commit. */
  async #move(request: unknown): Promise<number> {
    return (await this.#way.apply({ history: request })).number;
  }

  /** Returns the directory in which the next script begins. */
  cwd(): Promise<string> {
    return this.#way.directory();
  }

  /** Returns the number of the current commit, which is the state after the last call. */
  head(): Promise<number> {
    return this.#move("head");
  }

  /** Returns all commits, the oldest first, with those that were undone. */
  async history(): Promise<Commit[]> {
    const commits: CommitReport[] = await this.#way.apply({ history: { list: { last: null } } });
    return commits.map(toCommit);
  }

  /**
   * Goes back to the commit before the current one, with files, shell and interpreters. Returns the
   * number of that commit.
   */
  undo(): Promise<number> {
    return this.#move("undo");
  }

  /** Reverts an `undo`, if no call was made since. Returns the number of the commit. */
  redo(): Promise<number> {
    return this.#move("redo");
  }

  /**
   * Returns the number of the current commit, for `restore`. With a tag, the commit can also be
   * restored by that name.
   */
  async snapshot(tag?: string): Promise<number> {
    const number = await this.head();
    if (tag !== undefined) await this.#way.apply({ history: { tag: { name: tag, number } } });
    return number;
  }

  /**
   * Restores the state of a commit, given by its number or a tag. This makes a new commit, which
   * can be undone. Returns the number of the new commit.
   */
  async restore(to: number | string): Promise<number> {
    const number = typeof to === "string" ? (await this.tags()).get(to) : to;
    if (number === undefined) throw new NotFoundError(`no tag '${to}'`);
    if (!Number.isSafeInteger(number) || number < 0) throw new InvalidError(`${number} is no commit's number`);
    return this.#move({ restore: number });
  }

  /** Returns the tags, with the numbers of their commits. */
  async tags(): Promise<Map<string, number>> {
    return new Map(Object.entries(await this.#way.apply({ history: "tags" })));
  }
}
