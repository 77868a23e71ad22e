// Runs the cases in Node: cases.node.js FILE. Prints the cases that fail, and the rate of those
// that pass. WASIBOX_DIST is the folder with `web` and the image.

import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { runCases } from './cases.js';

const dist = process.env.WASIBOX_DIST;
const { Session } = await import(pathToFileURL(`${dist}/web/index.js`));
const baseUrl = pathToFileURL(`${dist}/web/`);
const cases = JSON.parse(await readFile(process.argv[2], 'utf8'));

const make = () => Session.create({ baseUrl, log: (text) => console.error(text) });
let failed = 0;
await runCases(cases, make, (one, problem) => {
  if (problem === null) return;
  failed++;
  console.log(`FAIL  ${one.file}: ${one.name}\n${problem}\n`);
});
const passed = cases.length - failed;
console.log(`cases in Node: ${passed} of ${cases.length} pass, ${((100 * passed) / cases.length).toFixed(2)} %`);
process.exitCode = failed === 0 ? 0 : 1;
