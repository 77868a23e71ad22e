'use strict';

// `npm ls`: shows the installed packages, and reports missing, invalid and extraneous ones.

const path = require('path');
const { Config } = require('./config.js');
const { readJson } = require('./lock.js');
const { edges, fromLock } = require('./tree.js');
const { satisfies } = require('./registry.js');
const { warn } = require('./errors.js');

function ls(args, options) {
  const config = new Config(options);
  const manifest = readJson(path.join(config.root, 'package.json'), {}).value;
  const hidden = readJson(path.join(config.root, 'node_modules/.package-lock.json'), { packages: {} }).value;
  const root = fromLock(hidden, manifest);
  Object.assign(root, { ...manifest, parent: undefined });
  const most = options.all ? Infinity : Number(options.depth ?? 0);
  const problems = [];
  const seen = new Set([root]);
  // Returns an entry for each dependency of a node, as npm shows it: its name and version, its
  // problem if it has one, and the entries of its own dependencies.
  const show = (node, depth) => {
    const out = [];
    const table = edges(node, node === root).sort(([a], [b]) => a.localeCompare(b, 'en'));
    for (const [name, range, kind] of table) {
      const found = node.resolve(name);
      if (found === undefined) {
        if (kind === 'optional' || kind === 'peerOptional') continue;
        if (kind === 'peer' && node === root) continue;
        problems.push(`missing: ${name}@${range}, required by ${label(node)}`);
        out.push({ name, text: `UNMET DEPENDENCY ${name}@${range}`, missing: true, required: range, children: [] });
        continue;
      }
      const fits = satisfies(found, range, node === root ? config.root : path.join(config.root, node.location), config.root);
      if (!fits) problems.push(`invalid: ${name}@${found.version} ${path.join(config.root, found.location)}`);
      const again = seen.has(found);
      seen.add(found);
      const link = found.link ? ` -> ./${found.resolved}` : '';
      const text = `${name}@${found.version ?? ''}${fits ? '' : ` invalid: "${range}" from ${node === root ? 'the root project' : node.location}`}${again && depth > 0 ? ' deduped' : ''}${link}`;
      const children = depth < most && !(again && depth > 0) ? show(found, depth + 1) : [];
      out.push({ name, text, version: found.version, resolved: found.resolved, invalid: fits ? undefined : `"${range}"`, children });
    }
    if (node === root) {
      const asked = new Set(table.map(([n]) => n));
      const needed = new Set();
      const walk = (n) => edges(n, n === root).forEach(([name]) => {
        const f = n.resolve(name);
        if (f !== undefined && !needed.has(f)) { needed.add(f); walk(f); }
      });
      walk(root);
      for (const child of root.children.values()) {
        if (asked.has(child.name) || needed.has(child)) continue;
        problems.push(`extraneous: ${child.name}@${child.version} ${path.join(config.root, child.location)}`);
        out.push({ name: child.name, text: `${child.name}@${child.version} extraneous`, version: child.version, children: [] });
      }
    }
    return out;
  };
  const label = (node) => node === root ? `${manifest.name ?? path.basename(config.root)}@${manifest.version ?? ''}` : `${node.name}@${node.version}`;
  const wanted = (entry) => args.includes(entry.name) || entry.children.some(wanted);
  const prune = (list) => args.length === 0 ? list : list.filter(wanted).map((e) => ({ ...e, children: prune(e.children) }));
  const tree = prune(show(root, 0));
  if (options.json) {
    const table = (list) => list.length === 0 ? undefined : Object.fromEntries(list.map((e) => [e.name, e.missing ?
      { required: e.required, missing: true } : { version: e.version, resolved: e.resolved, overridden: false, invalid: e.invalid, dependencies: table(e.children) }]));
    console.log(JSON.stringify({ version: manifest.version, name: manifest.name, problems: problems.length > 0 ? problems : undefined, dependencies: table(tree) }, null, 2));
  } else {
    const lines = [`${label(root)} ${config.root}`];
    const draw = (list, head) => list.forEach((entry, i) => {
      const last = i === list.length - 1;
      lines.push(`${head}${last ? '└' : '├'}─${entry.children.length > 0 ? '┬' : '─'} ${entry.text}`);
      draw(entry.children, `${head}${last ? '  ' : '│ '}`);
    });
    if (tree.length === 0) lines.push('└── (empty)');
    else draw(tree, '');
    console.log(`${lines.join('\n')}\n`);
    if (problems.length > 0) {
      warn('error', 'code ELSPROBLEMS');
      problems.forEach((p) => warn('error', p));
    }
  }
  return problems.length > 0 || (args.length > 0 && tree.length === 0) ? 1 : 0;
}

module.exports = { ls };
