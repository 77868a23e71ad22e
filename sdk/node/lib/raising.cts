// Errors of the native module as errors of the package.

import { errorOf } from "./shared/errors.js";

/** Converts an error of the native module, whose message has class, code and text, a line each. */
function ofNative(error: unknown): unknown {
  const [kind, code, ...text] = error instanceof Error ? error.message.split("\n") : [];
  if (kind === undefined || code === undefined || text.length === 0) return error;
  return errorOf({ kind, code, text: text.join("\n") });
}

/** Awaits what the native module does, and throws its errors as the package's. */
export async function raising<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw ofNative(error);
  }
}

/** The same for what the native module does at once. */
export function raisingNow<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw ofNative(error);
  }
}
