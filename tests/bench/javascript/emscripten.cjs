// `emscripten.cjs MODULES SCRIPT` runs a script in quickjs-emscripten (QuickJS-NG as WebAssembly,
// in Node).
'use strict';
const fs = require('fs');
const path = require('path');
const [modules, script] = process.argv.slice(2);
const { newQuickJSWASMModuleFromVariant } = require(path.join(modules, 'quickjs-emscripten-core'));
const variant = require(path.join(modules, '@jitl/quickjs-ng-wasmfile-release-sync'));

(async () => {
  const engine = await newQuickJSWASMModuleFromVariant(variant.default ?? variant);
  const context = engine.newContext();
  const report = context.newFunction('report', (line) => { console.log(context.getString(line)); });
  context.setProp(context.global, 'report', report);
  report.dispose();
  context.unwrapResult(context.evalCode(fs.readFileSync(script, 'utf8'), script)).dispose();
})();
