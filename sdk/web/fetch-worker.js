// Runs a fetcher (`fetching.js`) in a worker of its own, for `RemoteFetcher`.

import { Fetcher, cache } from './fetching.js';

let fetcher;

const answers = {
  begin: ({ base }) => {
    const counted = (part, loaded) => postMessage({ counted: { part, loaded } });
    fetcher = new Fetcher(new URL(base), cache(), counted);
  },
  unpacked: ({ part, name }) => fetcher.unpacked(part, name),
  compiled: ({ part }) => fetcher.compiled(part),
  keepProgram: ({ part, packed }) => fetcher.keepProgram(part, packed),
};

onmessage = async ({ data: { id, type, ...message } }) => {
  try {
    const value = await answers[type](message);
    postMessage({ id, value }, value instanceof Uint8Array ? [value.buffer] : []);
  } catch (error) {
    postMessage({ id, error: error.message });
  }
};
