// Many commands, each in a fork of its own.

import { availableParallelism } from "node:os";

/** A session as `mapOverForks` needs it. */
interface Forkable<Fork> {
  forkMany(count: number): Promise<Fork[]>;
}

/** How many calls run at once, and the signal that ends them all. */
export interface Turns {
  /** How many commands run at the same time; the number of processors by default. */
  atOnce?: number;
  /** Ends all commands when it is aborted. The loop then throws the signal's reason. */
  signal?: AbortSignal;
}

/**
 * Makes each call in a fork of the session, and yields its index and result when it has ended. When
 * the iterator is closed, calls that run are ended, and others do not begin. All forks are closed
 * in the end.
 */
export async function* mapOverForks<Fork extends { close(): Promise<void> }, Result>(
  session: Forkable<Fork>,
  calls: readonly ((fork: Fork, signal: AbortSignal) => Promise<Result>)[],
  { atOnce = availableParallelism(), signal }: Turns,
): AsyncGenerator<[index: number, result: Result], void, undefined> {
  if (!(atOnce >= 1)) throw new RangeError("atOnce must be at least 1");
  signal?.throwIfAborted();
  const forks = await session.forkMany(calls.length);
  const ended = new AbortController();
  const end = () => ended.abort(signal?.reason);
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  const untaken = new Map<number, Promise<[number, Result]>>();
  let next = 0;
  const begin = () => {
    if (next === calls.length || ended.signal.aborted) return;
    const index = next++;
    const call = async (): Promise<[number, Result]> => {
      try {
        return [index, await calls[index]!(forks[index]!, ended.signal)];
      } finally {
        await forks[index]!.close();
        begin();
      }
    };
    const result = call();
    // An error is thrown when its turn comes, so it is no unhandled rejection until then.
    result.catch(() => {});
    untaken.set(index, result);
  };
  try {
    for (let running = 0; running < atOnce && running < calls.length; running++) begin();
    while (untaken.size > 0) {
      const done = await Promise.race(untaken.values());
      untaken.delete(done[0]);
      yield done;
    }
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener("abort", end);
    ended.abort();
    await Promise.allSettled(untaken.values());
    await Promise.all(forks.map((fork) => fork.close()));
  }
}
