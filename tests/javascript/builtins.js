//# every built-in module and the kinds of what it exports
// Missing here, as docs/javascript.md says: the inspector, coverage, SQLite, trace events, URL patterns.
const MISSING = ['inspector', 'inspector/promises', 'trace_events', 'sea', 'sqlite'];
const NAMES = ['console.context', 'constants.defaultCipherList', 'url.URLPattern', 'v8.stopCoverage', 'v8.takeCoverage', 'process.binding', 'process.features'];
for (const id of require('module').builtinModules.filter((name) => !name.startsWith('_') && !MISSING.includes(name.replace('node:', ''))).sort()) {
  const exports = require(id); const kinds = {};
  for (const name of Object.keys(exports).sort()) { if (NAMES.includes(`${id}.${name}`)) continue; let kind; try { kind = typeof exports[name]; } catch (error) { kind = `throws ${error.code}`; } (kinds[kind] ??= []).push(name); }
  console.log(id, JSON.stringify(kinds)); require('util').inspect(exports);
}
//# every built-in module can be imported
const MISSING = ['inspector', 'inspector/promises', 'trace_events', 'sea', 'sqlite'];
(async () => { for (const id of require('module').builtinModules.filter((name) => !name.startsWith('_') && !MISSING.includes(name.replace('node:', ''))).sort()) { const m = await import(id); console.log(id, m.default === require(id), Object.keys(m).length > 0); } })();
