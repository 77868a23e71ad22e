// Makes a session the sandbox of `bash-tool` (`createBashTool`), whose tools are for the AI SDK.

import path = require("node:path");
import type { Session } from "../session.cjs";
import type { ExecOptions } from "../shared/options.js";

/** A sandbox for `bash-tool`, which is compatible with the package's type `Sandbox`. */
export interface BashToolSandbox {
  executeCommand(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }>;
  readFile(path: string): Promise<string>;
  writeFiles(files: { path: string; content: string | Buffer }[]): Promise<void>;
  /** The session, for operations such as `undo` and `fork`. */
  readonly session: Session;
}

/** The options of the sandbox and its commands. */
export interface BashToolOptions extends Pick<ExecOptions, "env" | "timeout" | "maxOutput" | "signal"> {
  /**
   * The folder that is also passed to `createBashTool` as `destination`. It is created if it does
   * not exist. As in `createBashTool`, the default is `/workspace`.
   */
  destination?: string;
}

/**
 * Returns a sandbox for `createBashTool`:
 *
 *     const sandbox = await bashToolSandbox(session);
 *     const { tools } = await createBashTool({ sandbox });
 *
 * Commands run in the session's shell, which keeps variables and functions between them. If a
 * command exceeds a limit, the end of its standard error names the limit, so that the model learns
 * of it.
 *
 * @throws a `WasiboxError` if the folder cannot be created.
 */
export async function bashToolSandbox(session: Session, options: BashToolOptions = {}): Promise<BashToolSandbox> {
  const { destination = "/workspace", ...how } = options;
  const root = path.posix.resolve(await session.cwd(), destination);
  await session.makeDir(root);
  return {
    session,
    async executeCommand(command) {
      const { stdout, stderr, exitCode, limitHit } = await session.exec(command, how);
      const told = limitHit === null ? stderr : `${stderr}${stderr.endsWith("\n") || stderr === "" ? "" : "\n"}[limit: ${limitHit}]\n`;
      return { stdout, stderr: told, exitCode };
    },
    readFile: (file) => session.readText(file),
    async writeFiles(files) {
      for (const { path, content } of files) await session.write(path, content);
    },
  };
}
