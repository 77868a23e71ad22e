// The tests in a page: each result is told to the server that the page came from (browser.js).

import * as sdk from '/web/index.js';
import { define } from './tests.js';

const tell = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
const unexpected = (error) => tell({ name: 'the page', error: String(error?.stack ?? error) });
addEventListener('error', (event) => unexpected(event.error ?? event.message));
addEventListener('unhandledrejection', (event) => unexpected(event.reason));

async function ask(what, body) {
  const answer = await fetch(`/native/${what}`, { method: 'POST', body });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}
const native = {
  made: async () => new Uint8Array(await (await ask('made', '')).arrayBuffer()),
  take: async (bytes, steps) => (await ask(`take?steps=${encodeURIComponent(JSON.stringify(steps))}`, bytes)).json(),
  run: async (programs) => (await ask('run', JSON.stringify(programs))).json(),
};

const list = [];
const close = define(sdk, { baseUrl: '/web/' }, (name, run) => list.push({ name, run }), native);
for (const { name, run } of list) {
  const began = performance.now();
  let error;
  try {
    await run();
  } catch (caught) {
    error = `${caught}\n${caught?.stack ?? ''}`;
  }
  await tell({ name, error, ms: Math.round(performance.now() - began) });
}
close();
await tell({ over: list.length });
