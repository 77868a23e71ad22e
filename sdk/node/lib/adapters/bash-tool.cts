// A session as the sandbox of `bash-tool` (`createBashTool`), and so as tools of the AI SDK.

import path = require("node:path");
import type { Session } from "../session.cjs";
import type { ExecOptions } from "../shared/options.js";

/** What `bash-tool` asks of a sandbox; its own type `Sandbox` fits. */
export interface BashToolSandbox {
  executeCommand(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }>;
  readFile(path: string): Promise<string>;
  writeFiles(files: { path: string; content: string | Buffer }[]): Promise<void>;
  /** The session itself, for `undo`, `fork` and the rest. */
  readonly session: Session;
}

/** How commands run. */
export interface BashToolOptions extends Pick<ExecOptions, "env" | "timeout" | "maxOutput" | "signal"> {
  /** The folder that `createBashTool` gets as `destination`; it is created. As there, the default is `/workspace`. */
  destination?: string;
}

/**
 * A sandbox for `createBashTool`:
 *
 *     const sandbox = await bashToolSandbox(session);
 *     const { tools } = await createBashTool({ sandbox });
 *
 * Commands are scripts of the session's shell: variables and functions stay from one to the next. A limit that a command
 * has run into is told at the end of its standard error, where the model reads it.
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
