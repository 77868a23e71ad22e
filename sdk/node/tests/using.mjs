// Sessions of tests.
import { Session } from "wasibox";

/** Opens a session, does something with it, and closes it. */
export async function using(options, act) {
  const s = await Session.create(options);
  try {
    return await act(s);
  } finally {
    await s.close();
  }
}
