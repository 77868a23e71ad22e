//# traces of errors made in a context
const vm = require('vm'); const c = vm.createContext({});
const trace = (code, file) => vm.runInContext(code, c, file);
console.log(trace('function f() {\n  return new Error("inside").stack;\n}\nf();', '/x/file.js').split('\n').slice(0, 3).map((l) => l.replace(/:\d+\)?$/, '')).join('|'));
console.log(trace('new TypeError("t").stack.split("\\n")[0]'), trace('Error.stackTraceLimit'), trace('typeof Error.prepareStackTrace'));
console.log(trace('class Own extends Error {}; function g() { return new Own("m"); } g().stack.split("\\n")[0]', 'k.js'), trace('const o = {}; Error.captureStackTrace(o); typeof o.stack'));
//# prepareStackTrace of a context, and of the main one for it
const vm = require('vm'); const c = vm.createContext({});
vm.runInContext('Error.prepareStackTrace = (e, s) => s[0].getFileName() + ":" + s[0].getLineNumber()', c);
console.log(vm.runInContext('\nnew Error("z").stack', c, 'own.js'));
Error.prepareStackTrace = (e, s) => 'main ' + s[0].getFileName(); console.log(vm.runInContext('new Error("z").stack', vm.createContext({}), 'other.js'));
//# stackTraceLimit counts the script's own frames
function f() { return new Error('x').stack.split('\n').length; } function deep(n) { return n ? deep(n - 1) : f(); }
for (const limit of [1, 2, 3, 0, 10]) { Error.stackTraceLimit = limit; console.log(limit, deep(20)); }
class A extends Error { constructor(m) { super(m); } } class B extends A {} Error.stackTraceLimit = 3; console.log(new B('q').stack.split('\n').length);
Error.stackTraceLimit = Infinity; console.log(deep(30) > 31); const o = {}; Error.stackTraceLimit = 1; Error.captureStackTrace(o); console.log(o.stack.split('\n').length, Error.stackTraceLimit);
Error.stackTraceLimit = 'none'; console.log(new Error('n').stack);
//# call sites have the methods of their prototype
Error.prepareStackTrace = (e, s) => s; const sites = [new Error('1').stack[0]]; function later() { return new Error('2').stack[0]; }
sites.push(later()); for (const s of sites) { const p = Object.getPrototypeOf(s); console.log(typeof p.getFileName, s.getLineNumber(), s.getFunctionName(), typeof p.toString, Object.getOwnPropertyNames(p).filter((n) => /^(?:is|get)/.test(n)).length > 10); }
//# require of modules with a default export
const fs = require('fs'); fs.writeFileSync('d.mjs', 'export default class X {}; export const named = 1;'); fs.writeFileSync('n.mjs', 'export let n = 1; export function inc() { n++; }');
fs.writeFileSync('as.mjs', "export { x as 'module.exports' }; const x = () => 5; export default 7;");
const d = require('./d.mjs'); console.log(Object.keys(d), typeof d.default, d.__esModule, d.named, d === require('./d.mjs'));
const n = require('./n.mjs'); n.inc(); console.log(Object.keys(n), n.n, n.__esModule, require('./as.mjs')());
import('./d.mjs').then((m) => console.log(m.default === d.default, Object.keys(m)));
//# import from new Function is relative to the program
const fs = require('fs'); fs.mkdirSync('sub'); fs.writeFileSync('sub/m.mjs', 'export default "sub";');
fs.writeFileSync('sub/main.cjs', "new Function('s', 'return import(s)')('./m.mjs').then((m) => console.log(m.default)); eval(\"import('./m.mjs')\").then((m) => console.log(m.default));");
console.log(require('child_process').execFileSync(process.execPath, ['sub/main.cjs'], { encoding: 'utf8' }));
//# http2 can be loaded
const h = require('http2'); console.log(Object.keys(h).join(), h.constants.HTTP2_HEADER_PATH, h.constants.NGHTTP2_CANCEL, h.getDefaultSettings().maxFrameSize);
console.log({} instanceof h.Http2ServerRequest, typeof h.Http2ServerResponse, require('node:http2') === h);
//# TZ is the zone of local times
const d = new Date(Date.UTC(2024, 6, 1, 12)); for (const zone of ['Asia/Tokyo', 'America/New_York', 'Europe/Berlin', 'UTC']) {
  process.env.TZ = zone; console.log(zone, d.getHours(), d.getTimezoneOffset(), new Date(2024, 0, 1).toISOString(), new Date('2024-07-01T00:00').toISOString(), d.toString().slice(0, 33));
}
console.log(require('child_process').execFileSync(process.execPath, ['-p', 'new Date(0).getHours()'], { env: { TZ: 'Asia/Kolkata' }, encoding: 'utf8' }));
//# a REPL on a pipe
const { spawnSync } = require('child_process'); const { stdout, status } = spawnSync(process.execPath, ['-i'], { input: '1+1\nconst a = 5\na * 2\nthrow new Error("x")\nnope\n.exit\n', encoding: 'utf8' });
console.log(stdout.split('\n').slice(2).join('|'), status);
