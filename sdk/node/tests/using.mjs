// Opens sessions for tests.
import { Session } from "wasibox";

/** Opens a session, passes it to `act`, and closes it. */
export async function using(options, act) {
  const s = await Session.create(options);
  try {
    return await act(s);
  } finally {
    await s.close();
  }
}
