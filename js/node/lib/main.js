// Parses the command line, and defines the two halves of a start: `prepare` and `goOn`.
(function (native, host) {
'use strict';

// --- options, by Node's own table ----------------------------------------------------------------

const defaults = host.revive(host.tables.$options, 'options', '');
// Options that are not supported.
Object.assign(defaults, {
  '--async-context-frame': true, '--no-async-context-frame': false,
  '--experimental-sqlite': false, '--no-experimental-sqlite': true,
});
const info = host.revive(host.tables.$optionsInfo, 'options', '');
let values = defaults;

host.bindings.options = (table) => ({
  getCLIOptionsValues: () => values,
  getCLIOptionsInfo: () => info,
  getOptionsAsFlags: () => [],
  getEmbedderOptions: () => host.tables.$embedder,
  getEnvOptionsInputType: () => new Map(),
  getNamespaceOptionsInputType: () => new Map(),
  envSettings: table.envSettings,
  types: table.types,
  noGlobalSearchPaths: false,
  shouldNotRegisterESMLoader: false,
});

// The long names of short options.
const SHORT = { '-e': '--eval', '-p': '--print', '-c': '--check', '-r': '--require', '-i': '--interactive',
                '-v': '--version', '-h': '--help', '-C': '--conditions', '-pe': '--print', '-ep': '--print' };

class UsageError extends Error {}

// Reads one option of a command line or of NODE_OPTIONS. Returns the number of words that it takes.
function takeOption(words, at, into) {
  let [word, ...rest] = words[at].split(/=(.*)/s);
  let value = rest.length > 0 ? rest[0] : undefined;
  if (SHORT[word] !== undefined) word = SHORT[word];
  word = word.startsWith('--') ? `--${word.slice(2).replace(/_/g, '-')}` : word;
  if (word === '--print') {
    into['--print'] = true;
    const next = words[at + 1];
    if (value !== undefined) into['--eval'] = value;
    else if (next !== undefined && !next.startsWith('-')) {
      into['--eval'] = next;
      return 2;
    }
    return 1;
  }
  const negated = word.startsWith('--no-') && !info.options.has(word);
  const name = negated ? `--${word.slice(5)}` : word;
  const known = info.options.get(name);
  const alias = info.aliases.get(name)?.[0];
  if (known === undefined && alias !== undefined && info.options.has(alias)) {
    return takeOption([...words.slice(0, at), value === undefined ? alias : `${alias}=${value}`, ...words.slice(at + 1)], at, into);
  }
  if (known === undefined) throw new UsageError(`bad option: ${words[at]}`);
  const { types } = host.binding('options');
  if (known.type === types.kBoolean || known.type === types.kNoOp || known.type === types.kV8Option) {
    if (known.type !== types.kBoolean) return 1;
    into[name] = !negated;
    into[`--no-${name.slice(2)}`] = negated;
    return 1;
  }
  let took = 1;
  if (value === undefined) {
    value = words[at + 1];
    took = 2;
    if (value === undefined || (value.startsWith('-') && value !== '-' && name !== '--eval')) {
      throw new UsageError(`${words[at]} requires an argument`);
    }
  }
  if (known.type === types.kStringList) into[name] = [...into[name], value];
  else if (known.type === types.kInteger || known.type === types.kUInteger) into[name] = Number(value);
  else into[name] = value;
  return took;
}

// Calls `see` for each option of a command line: its words, its names, and a text if it is not valid.
function eachOption(words, see) {
  for (let at = 0; at < words.length && words[at].startsWith('-');) {
    const into = Object.create(defaults);
    let [took, wrong] = [1, undefined];
    try {
      took = takeOption(words, at, into);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      wrong = error.message.replace(/^bad option: /, '');
    }
    see(words.slice(at, at + took), Object.keys(into), wrong);
    at += took;
  }
}

// Options that say what the main thread runs, which workers do not inherit.
const MAIN_OPTIONS = ['--eval', '--print', '--check', '--interactive', '--test'];
host.inheritedOptions = (words) => {
  const kept = [];
  eachOption(words, (own, names) => { if (!names.some((name) => MAIN_OPTIONS.includes(name))) kept.push(...own); });
  return kept;
};

// Options of a whole process (PerProcessOptions in Node's C++), which workers cannot have.
const PROCESS_OPTIONS = [
  '--completion-bash', '--debug-arraybuffer-allocations', '--disable-proto', '--disable-wasm-trap-handler', '--enable-fips',
  '--force-fips', '--help', '--icu-data-dir', '--node-snapshot', '--openssl-config', '--openssl-legacy-provider',
  '--openssl-shared-config', '--secure-heap', '--secure-heap-min', '--security-revert', '--title', '--tls-cipher-list',
  '--trace-event-categories', '--trace-event-file-pattern', '--trace-sigint', '--use-bundled-ca', '--use-largepages',
  '--use-openssl-ca', '--v8-options', '--v8-pool-size', '--version', '--zero-fill-buffers',
];
// Returns what is not valid in the options of a worker, and in its NODE_OPTIONS.
host.invalidOptions = (words) => {
  const out = [];
  const { types } = host.binding('options');
  const isOfEngine = (word) => info.options.get(word.split('=')[0].replace(/_/g, '-'))?.type === types.kV8Option;
  eachOption(words, (own, names, wrong) => {
    if (wrong !== undefined) out.push(wrong);
    else if (isOfEngine(own[0]) || names.some((name) => PROCESS_OPTIONS.includes(name))) out.push(own[0]);
  });
  return out;
};
host.invalidNodeOptions = (text) => host.invalidOptions(splitOptions(text))
  .map((one) => `${one.replace(/=.*/s, '=')} is not allowed in NODE_OPTIONS`);

// The environment variables that have the effect of options.
const VARIABLES = [
  ['NODE_PENDING_DEPRECATION', '--pending-deprecation'], ['NODE_PRESERVE_SYMLINKS', '--preserve-symlinks'],
  ['NODE_PRESERVE_SYMLINKS_MAIN', '--preserve-symlinks-main'], ['NODE_REDIRECT_WARNINGS', '--redirect-warnings'],
];

// Splits NODE_OPTIONS at spaces outside of double quotes, in which a backslash quotes a character.
function splitOptions(text) {
  const wrong = (what) => new UsageError(`invalid value for NODE_OPTIONS (${what})`);
  const words = [];
  let [isQuoted, begins] = [false, true];
  for (let i = 0; i < text.length; i++) {
    let c = text[i];
    if (c === '\\' && isQuoted) {
      if (++i === text.length) throw wrong('invalid escape');
      c = text[i];
    } else if (c === ' ' && !isQuoted) {
      begins = true;
      continue;
    } else if (c === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    if (begins) words.push(c);
    else words[words.length - 1] += c;
    begins = false;
  }
  if (isQuoted) throw wrong('unterminated string');
  return words;
}

function parseCommandLine(args, env) {
  const into = { ...defaults, '--eval': undefined, '--print': false };
  for (const [name, option] of VARIABLES) {
    if (env[name]) into[option] = typeof into[option] === 'boolean' ? env[name] === '1' : env[name];
  }
  const fromEnv = splitOptions(env.NODE_OPTIONS ?? '');
  for (let at = 0; at < fromEnv.length;) at += takeOption(fromEnv, at, into);
  let at = 1;
  while (at < args.length) {
    const word = args[at];
    if (word === '--') { at++; break; }
    if (word === '-' || !word.startsWith('-')) break;
    at += takeOption(args, at, into);
  }
  return { into, execArgv: args.slice(1, at), rest: args.slice(at) };
}

// Returns whether an option of V8 is given. Node's table has only the names of these options, so
// `takeOption` does not keep their values.
const asksFor = (execArgv, env, option) => [...execArgv, ...splitOptions(env.NODE_OPTIONS ?? '')]
  .some((word) => word.replace(/_/g, '-').replace(/^-+/, '--') === option);

// --- errors that were not caught ------------------------------------------------------------

function sourceLine(error) {
  const { arrow_message_private_symbol: arrow } = host.privateSymbols;
  if (typeof error[arrow] === 'string') return error[arrow];
  const top = /(?:\(|at )(<cell \d+>|(?:file:\/\/)?\/[^():]+):(\d+):(\d+)\)?$/m.exec(String(error.stack));
  if (top === null) return undefined;
  const { 1: file, 2: line, 3: column } = top;
  let text;
  try {
    const path = file.startsWith('file:') ? host.require('internal/url').fileURLToPath(file) : file;
    text = file.startsWith('<') ? host.cellLine(file, line) : host.readText(path).split('\n')[line - 1];
  } catch {
    return undefined;
  }
  if (text === undefined) return undefined;
  return `${file}:${line}\n${text}\n${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}^\n`;
}

host.printUncaught = function(error) {
  let text = '';
  const { inspect } = host.require('internal/util/inspect');
  const isError = host.types.isNativeError(error) || error instanceof Error;
  if (isError) {
    const arrow = sourceLine(error);
    if (arrow !== undefined) text += `${arrow}\n`;
    let shown;
    try {
      shown = inspect(error, { customInspect: false, depth: 5 });
    } catch {
      shown = String(error?.stack ?? error);
    }
    text += `${shown}\n`;
  } else {
    text += `Uncaught:\n${typeof error === 'string' ? `'${error}'` : inspect(error)}\n`;
    text += '(Use `node --trace-uncaught ...` to show where the exception was thrown)\n';
  }
  host.writeError(host.inCell ? text : `${text}\nNode.js ${host.process.version}\n`);
};

// Handles an uncaught error: calls the script's handlers, or ends the process.
host.uncaught = function(error, fromPromise) {
  let handled = false;
  // In a cell, an error that the code does not handle ends the cell only.
  if (host.inCell && !host.require('internal/process/execution').hasUncaughtExceptionCaptureCallback() &&
      host.process.listenerCount('uncaughtException') === 0) {
    host.cellFailed(error);
    return;
  }
  try {
    handled = host.process._fatalException(error, fromPromise);
  } catch (second) {
    host.printUncaught(second);
    native.exit(7);
  }
  if (handled) return;
  host.printUncaught(error);
  const code = host.exitCode();
  native.exit(code === 0 ? 1 : code);
};

// --- the halves of a start ----------------------------------------------------------------------

// The modules that most scripts use. They are loaded once, during the preparation.
const WARM = [
  'assert', 'buffer', 'child_process', 'crypto', 'events', 'fs', 'fs/promises', 'module', 'os', 'path', 'perf_hooks',
  'process', 'querystring', 'readline', 'readline/promises', 'stream', 'stream/promises', 'string_decoder', 'test',
  'timers', 'timers/promises', 'tty', 'url', 'util', 'vm', 'zlib',
  'internal/fs/sync_write_stream', 'internal/fs/streams',
  'internal/process/pre_execution', 'internal/modules/run_main', 'internal/console/global', 'internal/webstreams/readablestream',
  'internal/util/colors', 'internal/abort_controller', 'internal/navigator', 'internal/dns/utils', 'internal/blob',
  'internal/process/execution', 'internal/modules/typescript', 'internal/event_target', 'internal/url',
  'internal/modules/esm/get_format', 'internal/modules/esm/resolve', 'internal/modules/esm/assert', 'internal/modules/esm/load',
  'internal/vm/module', 'internal/deps/acorn/acorn/dist/acorn', 'net', 'dns', 'http', 'https', 'tls', 'internal/deps/undici/undici',
];

host.prepare = function() {
  host.cwd = '/';
  host.started = 0;
  host.origin = 0;
  host.installStackTraces();
  host.bootstrap();
  host.afterBootstrap();
  for (const id of WARM) {
    try {
      host.require(id);
    } catch (error) {
      if (native.environ().includes('WASIBOX_JS_PARTS')) host.writeError(`${id}: ${error?.stack ?? error}\n`);
    }
  }
  for (const which of ['script', 'eval', 'stdin']) host.readyMain(MAIN[which]);
  native.runJobs();
};

function usage(text) {
  host.writeError(`node: ${text}\n`);
  return 9;
}

const MAIN = {
  script: 'internal/main/run_main_module', eval: 'internal/main/eval_string', stdin: 'internal/main/eval_stdin',
  check: 'internal/main/check_syntax', repl: 'internal/main/repl', test: 'internal/main/test_runner',
  bundle: 'wasibox/bundle', worker: 'internal/main/worker_thread',
};

function choose(parsed) {
  const { into, rest } = parsed;
  if (into['--test']) return 'test';
  if (into['--check']) return 'check';
  if (into['--eval'] !== undefined) return 'eval';
  if (rest.length > 0 && rest[0] !== '-') return 'script';
  if (into['--interactive'] || (rest.length === 0 && native.isatty(0))) return 'repl';
  return 'stdin';
}

// Returns the arguments of `node` for a call of this program, which has other commands, too: `npm`,
// `npx`, `tsx` and `--bundle`.
function command(args) {
  const name = (args[0] ?? 'node').split('/').at(-1);
  host.tsx = name === 'tsx';
  if (name === 'npm' || name === 'npx') return [args[0], `/usr/lib/js/npm/${name}.js`, ...args.slice(1)];
  if (args[1] === '--bundle') {
    host.bundleWords = args.slice(2);
    return [args[0]];
  }
  return args;
}

host.goOn = function() {
  const args = command(native.args());
  const env = {};
  const pairs = native.environ();
  for (let i = 0; i < pairs.length; i += 2) env[pairs[i]] = pairs[i + 1];
  let parsed;
  try {
    parsed = parseCommandLine(args, env);
  } catch (error) {
    if (error instanceof UsageError) return usage(error.message);
    throw error;
  }
  const { into, execArgv, rest } = parsed;
  if (into['--version']) {
    native.write(1, new Uint8Array(native.encode(`${host.process.version}\n`, 'utf8')), 0, 64, -1);
    return 0;
  }
  values = into;
  host.beginProcess([args[0] ?? 'node', ...rest], execArgv);
  if (into['--title']) host.process.title = into['--title'];
  host.beginLoop();
  const worker = host.workerOf(env);
  let which = host.bundleWords === undefined ? choose(parsed) : 'bundle';
  if (worker !== undefined) {
    which = 'worker';
    host.beginWorker(worker);
  }
  if (!host.restrictStrings(asksFor(execArgv, env, '--disallow-code-generation-from-strings'), env, which)) {
    host.writeError(host.refusalOfStrings);
    return 1;
  }
  // Code that reads options at its start must not see those of the preparation.
  host.require('internal/options').refreshOptions();
  host.turn(() => host.runMain(MAIN[which]));
  host.runLoop();
  return host.end();
};

// Runs the exit handlers, then returns the status.
host.end = function() {
  const { process } = host;
  if (!process._exiting) {
    process._exiting = true;
    try {
      process.emit('exit', host.exitCode());
    } catch (error) {
      host.uncaught(error, false);
    }
  }
  host.endWorkers();
  const code = host.exitCode();
  if (code === 0 && host.unsettled?.()) {
    host.writeError('Warning: Detected unsettled top-level await\n');
    return 13;
  }
  return code;
};
})
