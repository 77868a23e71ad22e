// Tests scripts that remove or break the iterators of arrays, maps and sets. Libraries must still
// work.

//# no iterator of arrays: output, errors and timers
delete Array.prototype[Symbol.iterator];
console.log('%s %d', 'one', 2, { three: [3, 4] }, new Map().set(1, [2]), new Set(), [5]);
try {
  null.x;
} catch (error) {
  console.log(error instanceof TypeError, typeof error.stack);
}
setTimeout(() => console.log('timeout'), 20);
setImmediate(() => console.log('immediate'));
process.nextTick(() => console.log('tick'));
Promise.resolve().then(() => console.log('job'));
process.on('exit', (code) => console.log('exit', code));

//# no iterator of arrays: an error that nobody catches
Array.prototype[Symbol.iterator] = () => { throw new Error('spoiled'); };
process.on('exit', (code) => console.log('exit', code));
throw new RangeError('mine');

//# no iterator of arrays: a rejection, an exception from a timer
Array.prototype[Symbol.iterator] = undefined;
process.on('unhandledRejection', (reason) => console.log('rejected', reason));
process.on('uncaughtException', (error) => console.log('uncaught', error.message));
Promise.reject(1);
setTimeout(() => { throw new Error('late'); }, 1);

//# an iterator of arrays that lies: files
const fs = require('fs');
const path = require('path');
Array.prototype[Symbol.iterator] = function* () { yield 'lie'; };
const dir = fs.mkdtempSync(path.join(require('os').tmpdir(), 'spoiled-'));
const file = path.join(dir, 'a.txt');
fs.writeFileSync(file, 'text');
fs.appendFileSync(file, ' more');
fs.mkdirSync(path.join(dir, 'b/c'), { recursive: true });
console.log(fs.readFileSync(file, 'utf8'), fs.statSync(file).size, fs.existsSync(file), fs.readdirSync(dir).join());
fs.promises.readFile(file, 'utf8').then((text) => {
  console.log(text);
  fs.readFile(path.join(dir, 'none'), (error) => {
    console.log(error.code, error.syscall);
    fs.rmSync(dir, { recursive: true });
    console.log(fs.existsSync(dir));
  });
});

//# an iterator of arrays that lies: modules, vm and events
const EventEmitter = require('events');
const vm = require('vm');
Array.prototype[Symbol.iterator] = function* () { yield 'lie'; };
const emitter = new EventEmitter();
emitter.on('a', (x, y) => console.log(x, y));
emitter.emit('a', 1, 2);
console.log(vm.runInNewContext('a + 1', { a: 41 }), vm.runInThisContext('1 + 1'));
console.log(typeof require('string_decoder').StringDecoder, structuredClone({ a: [1, { b: 2 }] }).a.length);
import('data:text/javascript,export default 6 * 7').then((m) => console.log(m.default));

//# iterators of maps and sets that throw
const map = new Map([[1, { a: 2 }]]);
const set = new Set([1]);
const spoil = () => { throw new Error('spoiled'); };
[new Map().keys(), new Set().keys()].forEach((kind) => { Object.getPrototypeOf(kind).next = spoil; });
console.log(structuredClone(map).get(1).a, structuredClone(set).has(1));
setImmediate(() => console.log('immediate'));
require('child_process').exec('echo child', (error, out) => {
  console.log(error, out.trim());
  setTimeout(() => console.log('timeout'), 1);
});
process.on('exit', (code) => console.log('exit', code));

//# a stack trace of a script's own without iterators
delete Array.prototype[Symbol.iterator];
Error.prepareStackTrace = (error, sites) => sites.length > 0 && typeof sites[0].getLineNumber() === 'number';
console.log(new Error('x').stack);
const holder = {};
Error.captureStackTrace(holder);
console.log(holder.stack);
Error.captureStackTrace(holder, undefined);
console.log(holder.stack);
console.log(Error.captureStackTrace.length);
