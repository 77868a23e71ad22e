// Declares and loads the native module (`src`), which only the files of this package call.

import path = require("node:path");

/** A call that is running or will begin. */
export interface NativeCall {
  /** Ends the call, or prevents it from beginning. */
  cancel(): void;
  /** Notes that the reader has taken a chunk of output. */
  taken(): void;
  /** Lets output continue without waiting for its reader. */
  lift(): void;
}

/** The result of a call. Everything except its output is JSON. */
export interface NativeOutcome {
  stdout: Buffer;
  stderr: Buffer;
  rest: string;
  /**
   * The number of chunks of output that were passed to the event loop. Some of them may not have
   * arrived yet.
   */
  chunks: number;
}

export type NativeOutput = (isStderr: boolean, data: Buffer) => void;

/** A function that guests may call: its description in JSON, and the function that runs a call. */
export interface NativeTool {
  definition: string;
  /**
   * Called with the number of a call and its arguments as JSON. Null instead of arguments means
   * that the call was abandoned.
   */
  act: (call: number, args: string | null) => void;
}

export interface NativeToolCalls {
  /** Settles a call: `text` is its result as JSON or, unless `ok`, the reason why it failed. */
  settle(call: number, ok: boolean, text: string): void;
}

/** A port of the host that leads to a port of a session. */
export interface NativeExposedPort {
  port(): number;
  close(): void;
}

export interface NativeSession {
  call(
    options: string,
    stdin: Buffer,
    onOutput: NativeOutput | undefined,
    call: NativeCall,
  ): Promise<NativeOutcome>;
  interrupt(): void;
  setTools(tools: NativeTool[], calls: NativeToolCalls): Promise<void>;
  apply(request: string): Promise<string>;
  read(path: string): Promise<Buffer>;
  write(path: string, data: Buffer, mode: number | undefined): Promise<void>;
  name(): string;
  directory(): Promise<string>;
  log(): Promise<string>;
  fork(name: string | undefined): Promise<NativeSession>;
  forkMany(count: number): Promise<NativeSession[]>;
  export(all: boolean): Promise<Buffer>;
  exportFile(path: string, all: boolean): Promise<void>;
  value(key: string): Promise<Buffer | null>;
  setValue(key: string, value: Buffer): Promise<void>;
  removeValue(key: string): Promise<boolean>;
  keys(): Promise<string[]>;
  expose(port: number, hostPort: number): Promise<NativeExposedPort>;
  park(): Promise<void>;
  isAwake(): Promise<boolean>;
  missingWalls(): Promise<string[] | null>;
  close(): Promise<void>;
  isClosed(): boolean;
}

export interface NativeEngine {
  open(opener: string): Promise<NativeSession>;
  load(opener: string, source: Buffer): Promise<NativeSession>;
  loadFile(opener: string, path: string): Promise<NativeSession>;
  sessions(store: string): Promise<string[]>;
  remove(store: string, name: string): Promise<void>;
  awake(): number;
  warmUp(): Promise<void>;
}

export type Progress = (line: string) => void;

interface NativeModule {
  Call: new () => NativeCall;
  ToolCalls: new () => NativeToolCalls;
  openEngine(options: string, progress: Progress): Promise<NativeEngine>;
  unpack(bundle: string, images: string, progress: Progress): Promise<string>;
}

const folder = path.join(__dirname, "..", "native");

/** The program that sessions' processes run. */
export const workerProgram = path.join(folder, "runner");

/**
 * Returns why the C library of this machine does not suit the module, or undefined if it does. The
 * package names the version that it needs (`cargo xtask dist --sdk`).
 */
function wrongLibrary(): string | undefined {
  if (process.platform !== "linux") return undefined;
  const description = require("../package.json") as { config?: { glibc?: string } };
  const wanted = /^>=(\d+)\.(\d+)$/.exec(description.config?.glibc ?? "");
  if (wanted === null) return undefined;
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const here = report.header?.glibcVersionRuntime;
  const needs = `it is built for glibc ${wanted[1]}.${wanted[2]} and later`;
  if (here === undefined) return `${needs}, and this machine has another C library`;
  const [major = 0, minor = 0] = here.split(".").map(Number);
  const isOlder = major < Number(wanted[1]) || (major === Number(wanted[1]) && minor < Number(wanted[2]));
  return isOlder ? `${needs}, and this machine has ${here}` : undefined;
}

function load(): NativeModule {
  const { platform, arch } = process;
  const file = path.join(folder, `wasibox.${platform}-${arch}.node`);
  try {
    return require(file) as NativeModule;
  } catch (error) {
    const why = wrongLibrary() ?? (error as Error).message;
    throw new Error(`wasibox: no native module for ${platform}-${arch} (${why})`, { cause: error });
  }
}

export const native: NativeModule = load();
