// Converts errors of the native module to errors of the package.

import { errorOf } from "./shared/errors.js";

/**
 * Converts an error of the native module. Its message has the kind, the code and the text on
 * separate lines. Other errors are returned unchanged.
 */
function ofNative(error: unknown): unknown {
  const [kind, code, ...text] = error instanceof Error ? error.message.split("\n") : [];
  if (kind === undefined || code === undefined || text.length === 0) return error;
  return errorOf({ kind, code, text: text.join("\n") });
}

/** Calls `act`, waits for its result, and throws errors of the native module as the package's. */
export async function raising<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw ofNative(error);
  }
}

/** Calls a synchronous function, and throws errors of the native module as the package's. */
export function raisingNow<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw ofNative(error);
  }
}
