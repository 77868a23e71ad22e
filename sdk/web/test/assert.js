// Assertions, the same in Node and in a page.

export class AssertionError extends Error {
  name = 'AssertionError';
}

const shown = (value) => (value instanceof RegExp ? String(value) : JSON.stringify(value));

function fail(actual, expected, message) {
  const found = `expected ${shown(expected)}, found ${shown(actual)}`;
  throw new AssertionError(message === undefined ? found : `${message}: ${found}`);
}

export function ok(value, message) {
  if (!value) fail(value, true, message);
}

export function equal(actual, expected, message) {
  if (!Object.is(actual, expected)) fail(actual, expected, message);
}

/** Compares values by their JSON. */
export function deepEqual(actual, expected, message) {
  if (shown(actual) !== shown(expected)) fail(actual, expected, message);
}

export function match(actual, pattern, message) {
  if (!pattern.test(actual)) fail(actual, pattern, message);
}

/**
 * Asserts that a promise is rejected. `expected` is a class of errors, a pattern for the error's
 * message, or the error's properties.
 */
export async function rejects(promise, expected) {
  let error;
  try {
    await promise;
  } catch (caught) {
    error = caught;
  }
  if (error === undefined) throw new AssertionError('expected a failure');
  if (expected instanceof RegExp) match(error.message, expected);
  else if (typeof expected === 'function') ok(error instanceof expected, String(error));
  else for (const [key, value] of Object.entries(expected)) equal(error[key], value, key);
}
