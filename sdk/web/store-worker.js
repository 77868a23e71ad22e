// The worker that has one session of a store open (`store-files.js`, `store-database.js`), and
// writes it.

import * as database from './store-database.js';
import * as files from './store-files.js';

const PLACES = { database, files };

let session;

const answers = {
  /** Opens the session and returns its bytes. */
  async open({ place, store, name }) {
    const { bytes, ...writes } = await PLACES[place].open(store, name);
    session = writes;
    return bytes;
  },
  cut: ({ length }) => session.cut(length),
  append: ({ bytes }) => session.append(bytes),
  close: () => session?.close(),
};

/** Messages are answered in their order, one at a time. */
let queue = Promise.resolve();
onmessage = ({ data }) => {
  queue = queue.then(async () => {
    try {
      const value = await answers[data.type](data);
      postMessage({ value }, value instanceof Uint8Array ? [value.buffer] : []);
    } catch (error) {
      postMessage({ error: { name: error.name, text: error.message } });
    }
  });
};
