// Runs the tests in a page, and reports each result to the server that the page came from
// (browser.js).

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

const world = await (await fetch('/world')).json();
const list = [];
const close = define(sdk, { baseUrl: '/web/' }, (name, run) => list.push({ name, run }), native, world);
list.push({ name: 'the example of the README for pages', run: example });

/** Runs the README's example of sessions that stay. */
async function example() {
  const readme = await (await fetch('/web/README.md')).text();
  const [, code] = /## Sessions that stay\n\n```js\n([^]*?)```/.exec(readme);
  const here = code.replace("'wasibox-web'", `'${location.origin}/web/index.js'`).replace("'/wasibox/'", "'/web/'");
  // The result that the example's comment states is checked.
  const told = here.replace(/await sessions\('work'\); \/\/ (.*)/, "if (String(await sessions('work')) !== String($1)) throw new Error('sessions');");
  if (told === here) throw new Error('the README has another example');
  await import(URL.createObjectURL(new Blob([told], { type: 'text/javascript' })));
  if ((await sdk.sessions('work')).length !== 0) throw new Error('a session is left');
}
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
