// A page that is left in the middle of a write again and again, by a reload or by the end of the
// whole browser. The server (browser.js) knows the last call that has returned. The session must be
// as that call or the next one has left it.

// The package's separate modules are imported, because one of their classes is changed here.
import { Session, sessions } from '/source/index.js';
import { Kept } from '/source/store.js';
import * as assert from './assert.js';

// Without private files, the session is kept in IndexedDB.
if (location.search === '?database') StorageManager.prototype.getDirectory = undefined;

const tell = (what) => fetch('/result', { method: 'POST', body: JSON.stringify(what) });
/** Reports what the page does now, so that the server can say where the page has stopped. */
const doing = (what) => tell({ doing: `round ${round}: ${what}` });
const { round, finished } = await (await fetch('/round')).json();
/** The number of bytes that each call writes. */
const SIZE = 300_000;
const soon = (most) => Math.random() * most;

const call = (n) => `n=${n}; echo ${n} > count; head -c ${SIZE} /dev/urandom > big; sha256sum big > sum`;

/**
 * Returns the number of the last call in the session. Throws if the session is not in the state in
 * which that call left it.
 */
async function found(session) {
  const { stdout } = await session.exec('echo $n; cat count; wc -c < big; sha256sum -c sum', { listFiles: false });
  const [variable, count, size, sum] = stdout.split('\n');
  assert.deepEqual([variable, size, sum], [count, String(SIZE), 'big: OK']);
  await session.undo();
  return Number(count);
}

/**
 * Whether the page is being left. Firefox continues to run the page's script for a while, but the
 * script's requests fail.
 */
let isLeft = false;

/**
 * Has the page left while it writes, or at a random time. The page reloads itself, or it asks the
 * server to kill the browser.
 */
function leave() {
  const goes = () => {
    isLeft = true;
    if (round % 5 === 4) tell({ kill: true });
    else location.reload();
  };
  if (round % 2 === 0) return setTimeout(goes, soon(1000));
  const { append } = Kept.prototype;
  let left = Math.ceil(soon(4));
  Kept.prototype.append = function (bytes) {
    const done = append.call(this, bytes);
    if (--left === 0) setTimeout(goes, soon(5));
    return done;
  };
}

async function run() {
  const began = performance.now();
  await doing('opens the session');
  const session = await Session.create({ baseUrl: '/web/', store: 'reload', name: 'a' });
  let last = finished;
  await doing('looks at what it has');
  if (round > 0) {
    assert.deepEqual(await sessions('reload'), ['a']);
    last = await found(session);
    assert.ok(last === finished || last === finished + 1, `call ${finished} had returned, the session has ${last}`);
    assert.equal((await session.history()).filter(({ command }) => command.startsWith('n=')).length, last);
    // A call that is on the disk counts as finished, even if it has not returned.
    await tell({ finished: last });
  }
  await tell({ name: `round ${round}: ${last} calls`, ms: Math.round(performance.now() - began) });
  if ((await (await fetch('/round')).json()).isLast) return tell({ over: round + 1 });
  if (round === 0) {
    await session.exec(call(1));
    await tell({ finished: (last = 1) });
  }
  leave();
  for (let n = last + 1; ; n++) {
    await session.exec(call(n));
    await tell({ finished: n });
  }
}

run().catch(async (error) => {
  if (isLeft) return;
  await tell({ name: `round ${round}`, error: `${error}\n${error?.stack}` });
  await tell({ over: round });
});
