// Tests `node --test`: separate processes for files, options, reporters and statuses.
//# files
const { spawnSync } = require('child_process');
const fs = require('fs');
fs.writeFileSync('package.json', '{"type":"commonjs"}');
fs.writeFileSync('a.test.js', `const { test, describe, it, before, beforeEach, afterEach, after, mock } = require('node:test');
const assert = require('assert');
globalThis.seen = (globalThis.seen ?? 0) + 1;
test('one', () => assert.strictEqual(globalThis.seen, 1));
test('two', async (t) => { await t.test('inner', () => assert.strictEqual(1, 2)); });
test('skipped', { skip: 'why not' }, () => {});
test('to do', { todo: true }, () => { throw new Error('not yet'); });
describe('suite', () => {
  const order = [];
  before(() => order.push('before')); beforeEach(() => order.push('each')); afterEach(() => order.push('behind'));
  after(() => console.log(order.join()));
  it('first', () => {});
  it('second', () => {});
});
test('timers', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1000 });
  let called = 0;
  setTimeout(() => called++, 5000);
  t.mock.timers.tick(4999);
  assert.strictEqual(called, 0);
  t.mock.timers.tick(1);
  assert.deepStrictEqual([called, Date.now()], [1, 6000]);
});
test('functions', () => {
  const add = mock.fn((a, b) => a + b);
  assert.strictEqual(add(1, 2), 3);
  assert.deepStrictEqual(add.mock.calls.map((call) => [call.arguments, call.result]), [[[1, 2], 3]]);
  const thing = { name() { return 'thing'; } };
  const method = mock.method(thing, 'name', () => 'other');
  assert.strictEqual(thing.name(), 'other');
  method.mock.restore();
  assert.strictEqual(thing.name(), 'thing');
});
`);
fs.mkdirSync('test');
fs.writeFileSync('test/b.mjs', `import { test } from 'node:test';
import assert from 'node:assert';
test('another process', () => assert.strictEqual(globalThis.seen, undefined));
console.log('what a file writes');
`);
fs.writeFileSync('ends.test.js', "process.exit(3);\n");
fs.writeFileSync('only.js', `const { test } = require('node:test');
test('alpha', () => {}); test.only('beta', () => {}); test('gamma', (t) => { t.assert.ok(true); t.diagnostic('said'); });
`);
const plain = (text) => text.replace(/\d+\.\d+/g, 'N').replaceAll(process.cwd(), 'HERE').replace(/^ *at .*\n/gm, '').replace(/^ *stack: \|-\n( {4,}.*\n)*/gm, '');
function run(...args) {
  const done = spawnSync(process.execPath, args, { encoding: 'utf8' });
  console.log(`--- ${args.join(' ')} = ${done.status}`);
  console.log(plain(done.stdout), /Cannot find package '\w+'|Could not find '[\w.]+'/.exec(done.stderr)?.[0]);
}
run('--test', '--test-reporter=tap', 'a.test.js', 'test/b.mjs');
run('--test', '--test-reporter=dot', 'a.test.js');
run('--test', '--test-reporter=tap', 'ends.test.js');
run('--test', '--test-reporter=tap', '--test-isolation=none', 'test/b.mjs', 'only.js');
run('--test', '--test-reporter=tap', '--test-name-pattern=/^(one|second)$/', 'a.test.js');
run('--test', '--test-reporter=tap', '--test-skip-pattern=two', '--test-only', 'only.js');
run('--test-only', '--test-reporter=tap', 'only.js');
run('--test-reporter=tap', '--test-name-pattern=gamma', 'only.js');
run('--test', '--test-reporter=junit', 'only.js');
run('--test', '--test-shard=2/2', '--test-reporter=tap', 'a.test.js', 'only.js');
run('--test', '--test-reporter=nothing', 'only.js');
run('--test', 'missing.js');
//# run and snapshots
const { run } = require('node:test');
const fs = require('fs');
const { spawnSync } = require('child_process');
fs.writeFileSync('s.js', `const { test, run } = require('node:test');
test('kept', (t) => { t.assert.snapshot({ a: [1, 2], b: 'text' }); });
test('fails', () => { throw new TypeError('a reason', { cause: 'another' }); });
`);
const status = (...args) => spawnSync(process.execPath, args, { encoding: 'utf8' }).status;
console.log(status('s.js'), status('--test-update-snapshots', '--test-name-pattern=kept', 's.js'), fs.readFileSync('s.js.snapshot', 'utf8'), status('--test-name-pattern=kept', 's.js'));
const events = [];
run({ files: [require('path').resolve('s.js')] })
  .on('test:pass', ({ name }) => events.push(`pass ${name}`))
  .on('test:fail', ({ name, details: { error } }) => events.push(`fail ${name} ${error.code} ${error.cause?.name}: ${error.cause?.message} ${error.cause?.cause}`))
  .on('test:summary', ({ file, success, counts: { tests, passed, failed } }) => events.push(`summary ${file !== undefined} ${success} ${tests} ${passed} ${failed}`))
  .on('end', () => console.log(events.join('\n')))
  .resume();
