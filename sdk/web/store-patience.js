// How long to wait for a page that is just being left, which has a session still.

export const PATIENCE = 5000;
const PAUSE = 50;

/** Tries until it works or the time is over. */
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
