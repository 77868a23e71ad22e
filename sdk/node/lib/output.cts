// Output as it comes: to functions, and to loops.

import { StringDecoder } from "node:string_decoder";
import { CancelledError } from "./shared/errors.js";
import { native, type NativeCall, type NativeOutput } from "./native.cjs";
import type { Outcome } from "./outcome.cjs";

/** Output as it comes. */
export interface Chunk {
  stream: "stdout" | "stderr";
  text: string;
}

/** Takes a chunk; `taken` is called when there is room for the next one. */
export type Tell = (chunk: Chunk, taken: () => void) => void;

/** Makes text of a call's bytes and gives it on. Characters that are not whole wait for the rest. */
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

  /** The native module calls it. It never throws, because the error would be lost. */
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

  /** Whoever read has gone: what still comes is passed over. */
  stop(): void {
    this.#isOver = true;
  }

  /** Ends the call: its reader cannot go on. */
  fail(error: unknown): void {
    this.#failed ??= { error };
    this.#call.cancel();
  }

  /**
   * Gives what is left when the call has ended. Chunks and the call's end come to the loop by ways of their own, so that
   * the end may be told before the last chunks.
   *
   * @throws what the reader has thrown.
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

  /** @throws what the reader has thrown. */
  check(): void {
    if (this.#failed) throw this.#failed.error;
  }
}

/** Functions as a reader. Those that give promises are waited for. */
export class Callbacks {
  readonly #functions: { readonly [stream in Chunk["stream"]]: ((text: string) => unknown) | undefined };
  readonly #due = new Set<Promise<void>>();
  #output: Output | undefined;

  constructor(onStdout: ((text: string) => unknown) | undefined, onStderr: ((text: string) => unknown) | undefined) {
    this.#functions = { stdout: onStdout, stderr: onStderr };
  }

  /** Where failures go. */
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

  /** Waits for promises that were given. */
  async settle(): Promise<void> {
    while (this.#due.size > 0) await Promise.all(this.#due);
  }
}

/**
 * A command's output as it comes: chunks by `for await`, then `outcome`. A loop that ends early ends the command; who does
 * not read is to call `close`.
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
    // Whoever reads the chunks or the outcome hears of a failure.
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
   * What becomes of the command. From then on it does not wait for its reader: what is not read is kept, up to the policy's
   * limit of output.
   */
  get outcome(): Promise<Outcome> {
    this.#call.lift();
    return this.#done.then((outcome) => {
      if (this.#isLeft) throw new CancelledError("the command was ended");
      return outcome;
    });
  }

  /** Ends the command if it runs. */
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
