// Times one of the subjects in this page: `bench.html?subject=NAME`. The driver (bench.js) reads
// `window.told`.

import { SUBJECTS } from './subjects.js';

/** The number of seconds after which a step counts as hanging. */
const PATIENCE = 60;
const REPEATS = 20;

const bytes = async () => Number(await (await fetch('/bytes')).text());

function within(promise) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error(`not within ${PATIENCE} s`)), PATIENCE * 1000));
  return Promise.race([promise, late]);
}

/**
 * Returns the time of the first call and the median of some more, the time since the page began,
 * and the number of bytes sent until then.
 */
async function timed(act) {
  const begun = performance.now();
  await within(act());
  const first = performance.now();
  const sent = await bytes();
  const times = [];
  for (let n = 0; n < REPEATS && performance.now() - first < 10_000; n++) {
    const began = performance.now();
    await within(act());
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return { since: first, first: first - begun, again: times[times.length >> 1], sent };
}

async function run(name) {
  const told = { name, steps: {} };
  try {
    const steps = await within(SUBJECTS[name]());
    told.ready = performance.now();
    for (const [step, act] of Object.entries(steps)) {
      told.steps[step] = await timed(act).catch((error) => ({ failed: error.message.split('\n')[0] }));
      if (told.steps[step].failed) break;
    }
  } catch (error) {
    told.failed = error.message;
  }
  return told;
}

window.told = await run(new URLSearchParams(location.search).get('subject'));
