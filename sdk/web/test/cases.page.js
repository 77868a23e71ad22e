// Runs the cases in a page, and reports the result of each to the server that the page came from
// (browser.js).

import { Session } from '/web/index.js';
import { runCases } from './cases.js';

const tell = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });
const cases = await (await fetch('/cases')).json();

const make = () => Session.create({ baseUrl: '/web/', log: (text) => console.error(text) });
let began = performance.now();
try {
  await runCases(cases, make, async (one, error) => {
    const ms = Math.round(performance.now() - began);
    await tell({ name: `${one.file}: ${one.name}`, error: error ?? undefined, ms });
    began = performance.now();
  });
  await tell({ over: cases.length });
} catch (error) {
  await tell({ name: 'the page', error: String(error?.stack ?? error) });
  await tell({ over: cases.length });
}
