// The output of calls as it is written, passed to functions or read by loops.

import { StringDecoder } from "node:string_decoder";
import { CancelledError } from "./shared/errors.js";
import { native, type NativeCall, type NativeOutput } from "./native.cjs";
import type { Outcome } from "./outcome.cjs";

/** A piece of a command's output. */
export interface Chunk {
  stream: "stdout" | "stderr";
  text: string;
}

/** A function that takes a chunk, and calls `taken` when there is room for the next one. */
export type Tell = (chunk: Chunk, taken: () => void) => void;

/** Decodes the output of a call and passes it to a reader. Partial characters wait for the rest. */
export class Output {
  readonly #call: NativeCall;
  readonly #tell: Tell;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #seen = 0;
  #arrived: { count: number; wake: () => void } | undefined;
  #failed: { error: unknown } | undefined;
  #isOver = false;

  constructor(call: NativeCall, tell: Tell) {
    this.#call = call;
    this.#tell = tell;
  }

  /** Takes output from the native module. This never throws, because the error would be lost. */
  readonly take: NativeOutput = (isStderr, data) => {
    const stream = isStderr ? "stderr" : "stdout";
    this.#give(stream, this.#decoders[stream].write(data));
    this.#seen += 1;
    if (this.#arrived?.count === this.#seen) this.#arrived.wake();
  };

  #give(stream: Chunk["stream"], text: string): void {
    const taken = () => this.#call.taken();
    if (text === "" || this.#isOver || this.#failed) {
      taken();
      return;
    }
    try {
      this.#tell({ stream, text }, taken);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Drops all output from now on, because the reader has left. */
  stop(): void {
    this.#isOver = true;
  }

  /** Ends the call, because its reader has failed with `error`. */
  fail(error: unknown): void {
    this.#failed ??= { error };
    this.#call.cancel();
  }

  /**
   * Waits for the last chunks of a call that has ended, and passes on incomplete characters. The
   * chunks and the end of the call are reported to the event loop separately, so the end may arrive
   * before the last chunks.
   *
   * @param count the number of chunks that the native module has passed on.
   * @throws the error that the reader has thrown.
   */
  async finish(count: number): Promise<void> {
    if (this.#seen < count && !this.#failed) {
      await new Promise<void>((wake) => {
        this.#arrived = { count, wake };
      });
    }
    for (const stream of ["stdout", "stderr"] as const) this.#give(stream, this.#decoders[stream].end());
    this.check();
  }

  /** @throws the error that the reader has thrown, if there is one. */
  check(): void {
    if (this.#failed) throw this.#failed.error;
  }
}

/**
 * A reader that calls functions. If a function returns a promise, the chunk is taken when it
 * settles.
 */
export class Callbacks {
  readonly #functions: { readonly [stream in Chunk["stream"]]: ((text: string) => unknown) | undefined };
  readonly #due = new Set<Promise<void>>();
  #output: Output | undefined;

  constructor(onStdout: ((text: string) => unknown) | undefined, onStderr: ((text: string) => unknown) | undefined) {
    this.#functions = { stdout: onStdout, stderr: onStderr };
  }

  /** The output that fails if a promise of a function is rejected. */
  set output(output: Output) {
    this.#output = output;
  }

  readonly tell: Tell = ({ stream, text }, taken) => {
    const given = this.#functions[stream]?.(text);
    if (!(given instanceof Promise)) {
      taken();
      return;
    }
    const due = given
      .then(
        () => undefined,
        (error: unknown) => this.#output?.fail(error),
      )
      .finally(() => {
        this.#due.delete(due);
        taken();
      });
    this.#due.add(due);
  };

  /** Waits for the promises that the functions have returned. */
  async settle(): Promise<void> {
    while (this.#due.size > 0) await Promise.all(this.#due);
  }
}

/**
 * The output of a command as it is written. `for await` yields its chunks, and `outcome` is its
 * result. Leaving the loop early ends the command. The command waits for its reader, so a stream
 * that is not read must be closed, unless `outcome` is requested.
 */
export class Stream implements AsyncIterable<Chunk> {
  readonly #call = new native.Call();
  readonly #done: Promise<Outcome>;
  #chunks: { chunk: Chunk; taken: () => void }[] = [];
  #wake = () => {};
  #hasEnded = false;
  #isLeft = false;

  /** @internal */
  constructor(begin: (call: NativeCall, tell: Tell) => Promise<Outcome>) {
    this.#done = begin(this.#call, (chunk, taken) => {
      if (this.#isLeft) return;
      this.#chunks.push({ chunk, taken });
      this.#wake();
    });
    const ended = () => {
      this.#hasEnded = true;
      this.#wake();
    };
    // The readers of the chunks and of the outcome get a failure, so it must not count as
    // unhandled.
    this.#done.then(ended, ended);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Chunk, void, undefined> {
    try {
      for (;;) {
        const next = this.#chunks.shift();
        if (next !== undefined) {
          next.taken();
          yield next.chunk;
        } else if (this.#hasEnded) {
          break;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
      if (!this.#isLeft) await this.#done;
    } finally {
      await this.close();
    }
  }

  /**
   * The outcome of the command. Once this is requested, the command no longer waits for its reader:
   * output that is not read is kept, up to the policy's limit of output.
   *
   * @throws a `CancelledError` if the stream was closed before the command had ended.
   */
  get outcome(): Promise<Outcome> {
    this.#call.lift();
    return this.#done.then((outcome) => {
      if (this.#isLeft) throw new CancelledError("the command was ended");
      return outcome;
    });
  }

  /** Ends the command if it is running. */
  async close(): Promise<void> {
    if (this.#hasEnded) return;
    this.#isLeft = true;
    this.#chunks = [];
    this.#call.cancel();
    await this.#done.catch(() => undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
