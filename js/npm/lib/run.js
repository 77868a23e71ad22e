'use strict';

// `npm run`, `npm test` and `npm exec`: run commands in the shell, with the commands of installed
// packages in PATH.

const fs = require('fs');
const path = require('path');
const { spawn } = require('child_process');
const { constants } = require('os');
const { Config } = require('./config.js');
const { readJson } = require('./lock.js');
const { NpmError } = require('./errors.js');

const quoted = (word) => /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;

// The folder of commands that take precedence over commands of packages with the same name.
const OWN = path.join(__dirname, '../own');

// Returns the variables of a script. PATH begins with OWN and with node_modules/.bin of the folder
// and of all folders above it.
function environment(folder, manifest, event, script) {
  const bins = [];
  for (let at = folder; ; at = path.dirname(at)) {
    if (path.basename(at) !== 'node_modules') bins.push(path.join(at, 'node_modules', '.bin'));
    if (at === path.dirname(at)) break;
  }
  const env = { ...process.env, PATH: [OWN, ...bins, process.env.PATH ?? '/usr/bin:/bin'].join(':'), INIT_CWD: process.cwd() };
  Object.assign(env, {
    npm_execpath: process.argv[1], npm_node_execpath: process.execPath, npm_command: 'run-script', npm_package_json: path.join(folder, 'package.json'),
    npm_lifecycle_event: event, npm_lifecycle_script: script, NODE: process.execPath,
  });
  if (manifest.name !== undefined) env.npm_package_name = manifest.name;
  if (manifest.version !== undefined) env.npm_package_version = manifest.version;
  for (const [name, value] of Object.entries(manifest.config ?? {})) env[`npm_package_config_${name}`] = String(value);
  return env;
}

function shell(command, cwd, env) {
  return new Promise((done, fail) => {
    const child = spawn('sh', ['-c', command], { cwd, env, stdio: 'inherit' });
    child.on('error', (error) => fail(new NpmError(error.code, error.message)));
    child.on('close', (status, signal) => done(signal === null ? status : 128 + (constants.signals[signal] ?? 0)));
  });
}

const DEFAULTS = { start: (folder) => fs.existsSync(path.join(folder, 'server.js')) ? 'node server.js' : undefined };

async function run([name, ...args], options) {
  const config = new Config(options);
  const manifest = readJson(path.join(config.root, 'package.json')).value;
  const scripts = manifest.scripts ?? {};
  if (name === undefined) {
    if (options.json) console.log(JSON.stringify(scripts, null, 2));
    else if (Object.keys(scripts).length > 0) {
      console.log(`Scripts available in ${manifest.name ?? path.basename(config.root)}@${manifest.version ?? ''} via \`npm run\`:`);
      for (const [script, text] of Object.entries(scripts)) console.log(`  ${script}\n    ${text}`);
    }
    return 0;
  }
  const main = scripts[name] ?? DEFAULTS[name]?.(config.root);
  if (main === undefined) {
    if (options['if-present']) return 0;
    if (name === 'restart' && (scripts.stop ?? scripts.start) !== undefined) {
      return await run(['stop'], { ...options, 'if-present': true }) || run(['start', ...args], options);
    }
    const near = Object.keys(scripts).filter((s) => s.includes(name) || name.includes(s));
    throw new NpmError('EMISSINGSCRIPT', `Missing script: "${name}"${near.length > 0 ? `\nDid you mean: ${near.join(', ')}?` : ''}\nTo see a list of scripts, run:\n  npm run`);
  }
  const quiet = config.on('silent') || config.get('loglevel') === 'silent';
  for (const event of [`pre${name}`, name, `post${name}`]) {
    const script = event === name ? main : scripts[event];
    if (script === undefined || (event !== name && options['ignore-scripts'])) continue;
    const command = event === name ? [script, ...args.map(quoted)].join(' ') : script;
    if (!quiet) console.log(`\n> ${manifest.name ?? path.basename(config.root)}${manifest.version === undefined ? '' : `@${manifest.version}`} ${event}\n> ${command}\n`);
    const status = await shell(command, config.root, environment(config.root, manifest, event, script));
    if (status !== 0) return status;
  }
  return 0;
}

const test = (args, options) => run(['test', ...args], options);

// Runs a command of an installed package. Unlike npm, it never installs the package; the user must
// run `npm install` first.
async function exec(words, options) {
  const config = new Config(options);
  const env = environment(process.cwd(), {}, 'npx', '');
  if (options.call !== undefined) return shell(options.call, process.cwd(), env);
  let [name, ...args] = words;
  if (name === undefined) throw new NpmError('EUSAGE', 'npx: no command is named');
  const plain = name.replace(/(?!^)@[^/]*$/, '');
  const names = [plain.split('/').at(-1)];
  // The only command of a package may have a different name than the package.
  for (let at = process.cwd(); ; at = path.dirname(at)) {
    const file = path.join(at, 'node_modules', plain, 'package.json');
    if (fs.existsSync(file)) {
      const { bin } = JSON.parse(fs.readFileSync(file, 'utf8'));
      const own = typeof bin === 'object' && bin !== null ? Object.keys(bin) : [];
      if (own.length === 1) names.unshift(own[0]);
      break;
    }
    if (at === path.dirname(at)) break;
  }
  for (const folder of env.PATH.split(':').filter((p) => p === OWN || p.endsWith('node_modules/.bin'))) {
    const found = names.find((n) => fs.existsSync(path.join(folder, n)));
    if (found !== undefined) return shell([path.join(folder, found), ...args].map(quoted).join(' '), process.cwd(), env);
  }
  throw new NpmError('ENOTFOUND', `could not determine executable to run: '${name}' is not installed in ${config.root}\nRun 'npm install ${plain}' first.`);
}

module.exports = { run, test, exec };
