// Processes that continue from call to call, and ports of the host that lead to a session's.

import type { NativeExposedPort } from "./native.cjs";
import { raisingNow } from "./raising.cjs";
import { toProcess, type Process } from "./shared/outcome.js";
import type { ProcessOutput as OutputJson, ProcessReport } from "./shared/protocol.js";
import type { Transport } from "./shared/session.js";

/** The rows and columns of a terminal. */
export interface ScreenSize {
  readonly rows: number;
  readonly columns: number;
}

/** The options of a process that begins. */
export interface ProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The directory in which it starts. */
  readonly cwd?: string;
  /** The time limit in seconds; none by default. */
  readonly timeout?: number;
  /** Whether it has a terminal; `size` implies one. */
  readonly terminal?: boolean;
  readonly size?: ScreenSize;
}

/** What is read of a process's output, and what is waited for. */
export interface ReadOptions {
  /**
   * Seconds to wait for `until` or `port`, or without them for any output. The end of the process
   * ends every wait.
   */
  readonly wait?: number;
  /** A regular expression to wait for in the output. */
  readonly until?: string;
  /** A port to wait for, until a program of the session listens at it. */
  readonly port?: number;
  /** The position from which output is returned; by default where the last read has ended. */
  readonly after?: number;
  /** The maximum bytes of output. */
  readonly maxOutput?: number;
}

/** Output of a process. */
export interface ProcessOutput {
  readonly process: Process;
  /** Standard output and standard error as they came, or what the terminal shows. */
  readonly output: string;
  /** The position behind this output, for `after`. */
  readonly next: number;
  /** Bytes before this output that are no longer kept. */
  readonly dropped: number;
  /** Whether what was waited for has come. */
  readonly found: boolean;
}

/**
 * The processes of a session that continue while other calls run. They keep the session awake, and
 * end with `kill`, with the session's process, and when the session moves to another of its states.
 */
export class Processes {
  readonly #way: Transport<Buffer>;

  /** @internal */
  constructor(way: Transport<Buffer>) {
    this.#way = way;
  }

  async #ask(request: unknown): Promise<Process> {
    return toProcess((await this.#way.apply({ processes: request })) as ProcessReport);
  }

  /** Starts a process: a script for a bash of its own, or a list of arguments. */
  start(what: string | readonly string[], options: ProcessOptions = {}): Promise<Process> {
    const { env = {}, cwd, timeout, size, terminal = size !== undefined } = options;
    const command = typeof what === "string" ? { script: what } : { argv: what };
    return this.#ask({ start: { ...command, env, cwd, timeout, terminal, size } });
  }

  /** Returns output of the process with that number, after a wait for what the options name. */
  async read(process: number, options: ReadOptions = {}): Promise<ProcessOutput> {
    const { wait, until, port, after, maxOutput: max_output } = options;
    const request = { read: { process, wait, until, port, after, max_output } };
    const { report, ...rest }: OutputJson = await this.#way.apply({ processes: request });
    return { process: toProcess(report), ...rest };
  }

  /** Writes to a process's standard input, or types at its terminal. */
  write(process: number, text: string, options: { end?: boolean; size?: ScreenSize } = {}): Promise<Process> {
    return this.#ask({ write: { process, text, end: options.end ?? false, size: options.size } });
  }

  /**
   * Sends a signal to a process and those that it has begun, and waits for its end. Without a
   * signal it is SIGTERM, and SIGKILL if the process still runs after `wait` seconds (5).
   */
  kill(process: number, signal?: number, options: { wait?: number } = {}): Promise<Process> {
    return this.#ask({ kill: { process, signal, wait: options.wait } });
  }

  /** Returns the processes that run, and those that ended last. */
  async list(): Promise<Process[]> {
    const all: ProcessReport[] = await this.#way.apply({ processes: "list" });
    return all.map(toProcess);
  }
}

/** A port of 127.0.0.1 that leads to a port of a session, until it is closed. */
export class ExposedPort {
  readonly #native: NativeExposedPort;
  /** The port of the host. */
  readonly port: number;
  /** The address for HTTP. */
  readonly url: string;

  /** @internal */
  constructor(made: NativeExposedPort) {
    this.#native = made;
    this.port = made.port();
    this.url = `http://127.0.0.1:${this.port}/`;
  }

  /** Closes the port. Connections go on. */
  close(): void {
    raisingNow(() => this.#native.close());
  }

  /** Closes the port, for `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
