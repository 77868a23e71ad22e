//# functions compiled in a context
const vm = require('vm'); const context = vm.createContext({}); const global = vm.runInContext('this', context);
global.given = 1; console.log(vm.compileFunction('return typeof given', [], { parsingContext: context })(), vm.compileFunction('return Array', [], { parsingContext: context })() === Array);
console.log(vm.compileFunction('return a + b + x', ['x'], { contextExtensions: [{ a: 1 }, { b: 2 }] })(3), vm.compileFunction('return given + a', [], { parsingContext: context, contextExtensions: [{ a: 5 }] })());
try { vm.compileFunction('foo bar', [], { parsingContext: context }); } catch (error) { console.log(error.name); }
try { vm.compileFunction('\n\nnope()', [], { parsingContext: context, filename: '/x.js' })(); } catch (error) { console.log(error.name, error instanceof ReferenceError, /x\.js:\d+/.exec(error.stack)[0]); }
//# names of the wrapper may be declared in modules
const fs = require('fs'); const { spawnSync } = require('child_process');
const texts = { 'a.js': 'const module = 7; console.log(module);', 'b.js': 'let exports = 1, __dirname = 2; console.log(exports, this);', 'c.js': 'function f(a) { const a = 1; } console.log(1);', 'd.cjs': 'const module = 7;', 'e.js': 'const require = await Promise.resolve(6); console.log(require);', 'f.js': 'class __filename {} module.exports = 1;' };
for (const [name, text] of Object.entries(texts)) { fs.writeFileSync(name, text); const { stdout, status } = spawnSync(process.execPath, [name], { encoding: 'utf8' }); console.log(name, status, stdout.trim()); }
console.log(require('v8').takeCoverage(), require('v8').stopCoverage());
