'use strict';

// Replaces Node's internal/modules/typescript. It removes types, turns JSX, enums and similar
// syntax into code (Node refuses these), and keeps the source maps for stack traces. It also
// resolves names of modules as users of TypeScript expect: `./x.js` may mean `x.ts`, and `paths` of
// tsconfig.json applies.

const { host } = internalBinding('host');
const { native } = host;
const { dirname, resolve, extname } = require('path');
const { codes } = require('internal/errors');

// --- tsconfig.json -------------------------------------------------------------------------------

// Parses JSON with comments and trailing commas, which tsconfig.json may have.
function parseJSONC(text) {
  const plain = text.replace(/^\ufeff/, '').replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (all, string) => string ?? '');
  return JSON.parse(plain.replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (all, string) => string ?? ''));
}

function isFile(path) {
  const stat = native.tryStat(path, true);
  return stat !== undefined && stat !== null && (stat[1] & 0o170000) === 0o100000;
}

function fail(file, why) {
  return new Error(`${file}: ${why}`);
}

// Returns the file that `extends` names: a path, or a file in a package.
function extended(name, from) {
  const tries = (base) => [base, `${base}.json`, `${base}/tsconfig.json`];
  if (/^\.{0,2}\//.test(name) || name === '.' || name === '..') return tries(resolve(dirname(from), name)).find(isFile);
  for (let at = dirname(from); ; at = dirname(at)) {
    const found = tries(`${at === '/' ? '' : at}/node_modules/${name}`).find(isFile);
    if (found !== undefined || at === '/') return found;
  }
}

// Returns the options of a file. They override those of the files that it extends.
function readConfig(file, above = []) {
  if (above.includes(file)) throw fail(file, `extends itself by way of ${above.at(-1)}`);
  let json;
  try {
    json = parseJSONC(host.readText(file));
  } catch (error) {
    throw fail(file, error.message);
  }
  const options = { __proto__: null };
  const bases = typeof json.extends === 'string' ? [json.extends] : Array.isArray(json.extends) ? json.extends : [];
  for (const name of bases) {
    const base = extended(name, file);
    if (base === undefined) throw fail(file, `'${name}' in "extends" is not there`);
    Object.assign(options, readConfig(base, [...above, file]));
  }
  const own = json.compilerOptions ?? {};
  Object.assign(options, own);
  if (typeof own.baseUrl === 'string') options.baseUrl = resolve(dirname(file), own.baseUrl);
  // `paths` are relative to `baseUrl`, or to the folder of the file that has them.
  if (own.paths !== undefined) options.pathsFrom = dirname(file);
  return options;
}

const configs = new Map();
const NONE = { __proto__: null };

// Returns the options for files in a folder, from the nearest tsconfig.json in it or above it.
// Files in node_modules have no options.
function configOf(folder) {
  if (configs.has(folder)) return configs.get(folder);
  let found = NONE;
  if (!folder.includes('/node_modules')) {
    const file = `${folder === '/' ? '' : folder}/tsconfig.json`;
    found = isFile(file) ? readConfig(file) : folder === '/' ? NONE : configOf(dirname(folder));
  }
  configs.set(folder, found);
  return found;
}

// Returns the options for a file that the transformation needs.
function transformOptions(filename, kind) {
  // The name of evaluated code, such as [eval], has no folder.
  const config = configOf(dirname(resolve(filename)));
  const old = /^es(3|5|6|20(1\d|20|21))$/i.test(config.target ?? '');
  return {
    kind, jsx: config.jsx, jsxFactory: config.jsxFactory, jsxFragmentFactory: config.jsxFragmentFactory,
    jsxImportSource: config.jsxImportSource,
    experimentalDecorators: config.experimentalDecorators === true,
    emitDecoratorMetadata: config.emitDecoratorMetadata === true,
    assignFields: config.useDefineForClassFields === undefined ? old : config.useDefineForClassFields === false,
    verbatimModuleSyntax: config.verbatimModuleSyntax === true,
  };
}

// --- transformation ------------------------------------------------------------------------------

// Returns the error for a text that is refused, with the line that Node shows above it.
function refusal({ message, line, column, length, text }, filename, code) {
  const error = code === undefined ? new SyntaxError(message) : new code(message);
  error[host.privateSymbols.arrow_message_private_symbol] =
    `${filename}:${line}\n${text}\n${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}${'^'.repeat(length)}\n`;
  return error;
}

// Returns 'module' if the package of a file declares that kind. The names of other files, such as
// .mts, determine their kinds.
function kindOf(filename) {
  if (!/\.(ts|tsx|jsx)$/.test(filename)) return undefined;
  return host.binding('modules').getNearestParentPackageJSONType(filename) === 'module' ? 'module' : undefined;
}

// The last text that was transformed. Node's library requests each text twice: for its format, and
// to run it.
let last = {};

function stripTypeScriptModuleTypes(source, filename) {
  if (last.source === source && last.filename === filename) return last.code;
  // Evaluated code has a name such as [eval]. If it is no TypeScript either, the caller reports the
  // error that the code has as JavaScript.
  const isEvaluated = extname(filename) === '';
  const name = isEvaluated ? `${filename}.ts` : filename;
  const done = native.transform(source, name, transformOptions(name, kindOf(name)));
  if (done.error) throw refusal(done.error, filename, isEvaluated ? codes.ERR_INVALID_TYPESCRIPT_SYNTAX : undefined);
  host.sourceMaps.set(filename, { mappings: done.mappings, sources: [filename] });
  last = { source, filename, code: done.code };
  return done.code;
}

// Implements `module.stripTypeScriptTypes`. The empty first line of the transformation is removed.
function stripTypeScriptTypes(code, options = {}) {
  const { validateString, validateObject, validateOneOf } = require('internal/validators');
  validateString(code, 'code');
  validateObject(options, 'options');
  const { mode = 'strip', sourceMap = false, sourceUrl = '' } = options;
  validateOneOf(mode, 'options.mode', ['strip', 'transform']);
  if (mode === 'strip') validateOneOf(sourceMap, 'options.sourceMap', [false, undefined]);
  const name = sourceUrl === '' ? 'source.ts' : sourceUrl;
  const done = native.transform(code, name, { verbatimModuleSyntax: true });
  if (done.error) throw refusal(done.error, name, codes.ERR_INVALID_TYPESCRIPT_SYNTAX);
  let text = done.code.startsWith('\n') ? done.code.slice(1) : done.code;
  if (sourceMap) {
    const mappings = text === done.code ? done.mappings : done.mappings.slice(1);
    const map = JSON.stringify({ version: 3, sources: [sourceUrl], names: [], mappings });
    text += `\n\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}`;
  } else if (sourceUrl !== '') {
    text += `\n\n//# sourceURL=${sourceUrl}`;
  }
  return text;
}

// --- names of modules ----------------------------------------------------------------------------

const TYPED = /\.(?:[mc]?ts|tsx|jsx)$/;
const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json'];
const WRITTEN = { __proto__: null, '.js': ['.ts', '.tsx', '.jsx'], '.mjs': ['.mts'], '.cjs': ['.cts'], '.jsx': ['.tsx'] };

// Returns the file that a path means, or undefined if there is none. The path may have another
// extension than the file or none, or name a folder.
function fileOf(path) {
  const end = extname(path);
  for (const other of WRITTEN[end] ?? []) {
    const file = path.slice(0, -end.length) + other;
    if (isFile(file)) return file;
  }
  if (isFile(path)) return path;
  for (const other of EXTENSIONS) if (isFile(path + other)) return path + other;
  for (const other of EXTENSIONS) if (isFile(`${path}/index${other}`)) return `${path}/index${other}`;
  return undefined;
}

// Returns the targets of a specifier in `paths`: those of the exact name, otherwise those of the
// matching pattern with the longest beginning (TypeScript's rule).
function mapped(specifier, config) {
  let best;
  for (const [pattern, targets] of Object.entries(config.paths ?? {})) {
    const star = pattern.indexOf('*');
    if (star === -1) {
      if (pattern === specifier) return targets;
      continue;
    }
    const [head, tail] = [pattern.slice(0, star), pattern.slice(star + 1)];
    const fits = specifier.startsWith(head) && specifier.endsWith(tail) && specifier.length >= head.length + tail.length;
    if (fits && !(best?.head.length >= head.length)) best = { head, tail, targets };
  }
  if (best === undefined) return undefined;
  const part = specifier.slice(best.head.length, specifier.length - best.tail.length);
  return best.targets.map((t) => t.replace('*', () => part));
}

// Returns the file of a specifier in the file `parent`, by the `paths` and `baseUrl` that apply to
// `parent`. Returns undefined if there is none.
function byConfig(specifier, parent) {
  const config = configOf(dirname(parent));
  if (config === NONE || /^(\.{0,2}\/|node:|file:|data:|#)/.test(specifier)) return undefined;
  const from = config.baseUrl ?? config.pathsFrom;
  for (const target of (from === undefined ? undefined : mapped(specifier, config)) ?? []) {
    const file = fileOf(resolve(from, target));
    if (file !== undefined) return file;
  }
  return config.baseUrl === undefined ? undefined : fileOf(resolve(config.baseUrl, specifier));
}

// Returns whether a file's imports are resolved as TypeScript resolves them. This is so if the file
// is TypeScript or JSX, or the command is `tsx`.
function applies(parent) {
  return parent !== undefined && !parent.includes('/node_modules/') && (host.tsx === true || TYPED.test(parent));
}

// Returns the file of a relative specifier that Node's own resolution has not found.
function missing(specifier, parent) {
  return /^\.{0,2}(\/|$)/.test(specifier) ? fileOf(resolve(dirname(parent), specifier)) : undefined;
}

module.exports = {
  stripTypeScriptModuleTypes,
  stripTypeScriptTypes,
  stripTypeScriptTypesForCoverage: (code) => stripTypeScriptTypes(code),
  applies, byConfig, missing, fileOf, refusal, transformOptions, kindOf, parseJSONC,
};
