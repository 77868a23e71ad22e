// Waiting for a session that another page still has open because that page is just being left.
// Times are in milliseconds.

export const PATIENCE = 5000;
const PAUSE = 50;

/**
 * Calls `act` until it succeeds, and returns its result. After `PATIENCE` throws its last error.
 */
export async function patiently(act) {
  const until = performance.now() + PATIENCE;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
