//# lodash
import _ from 'lodash'; console.log(_.chunk([1, 2, 3, 4, 5], 2), _.groupBy(['a', 'bb', 'cc'], 'length'), _.camelCase('foo bar-baz'), _.merge({ a: { b: 1 } }, { a: { c: 2 } }), _.debounce.length, _.template('<%= x %>!')({ x: 1 }));
//# zod
import { z } from 'zod'; const S = z.object({ a: z.string().min(2), n: z.coerce.number().int(), o: z.array(z.enum(['x', 'y'])).optional() }); console.log(S.parse({ a: 'ab', n: '5' })); const r = S.safeParse({ a: 'a', n: 1.5, o: ['z'] }); console.log(r.success, r.error.issues.map((i) => [i.path.join('.'), i.code]));
//# yargs
import yargs from 'yargs'; console.log(await yargs(['go', '--n=3', '-v', 'x']).command('go', 'goes', (y) => y.option('n', { type: 'number' })).option('v', { type: 'boolean' }).exitProcess(false).parse());
//# commander
import { Command } from 'commander'; const p = new Command('tool'); p.option('-d, --debug').option('-s, --size <n>', 'size', Number).argument('<file>').action((f, o) => console.log(f, o)); p.parse(['node', 'tool', 'f.txt', '-d', '-s', '4']); console.log(p.helpInformation());
//# chalk and picocolors
import { Chalk } from 'chalk'; import pc from 'picocolors'; const c = new Chalk({ level: 3 }); console.log(JSON.stringify(c.red.bold('x') + c.hex('#123456')('y')), JSON.stringify(pc.createColors(true).green('g')));
//# date-fns and dayjs
import { addDays, format, formatDistance, parseISO, differenceInDays } from 'date-fns'; import dayjs from 'dayjs'; const d = new Date(2024, 1, 28, 13, 5); console.log(format(addDays(d, 2), 'yyyy-MM-dd EEEE HH:mm'), formatDistance(d, addDays(d, 40)), differenceInDays(parseISO('2024-12-31'), d), dayjs('2024-02-29').add(1, 'year').format('YYYY-MM-DD ddd'));
//# csv-parse and papaparse
import { parse } from 'csv-parse/sync'; import Papa from 'papaparse'; console.log(parse('a,b\n1,"x, ""y"""\n', { columns: true }), Papa.parse('a;b\n1;2\n', { header: true }).data, Papa.unparse([{ q: 'a,b', r: 1 }]));
//# cheerio
import * as cheerio from 'cheerio'; const $ = cheerio.load('<ul><li class=a>One<li>Two & <b>three</b></ul>'); console.log($('li').map((i, e) => $(e).text()).get(), $('.a').attr('class'), $('ul').html());
//# marked
import { marked } from 'marked'; console.log(marked.parse('# T\n\n* a *b*\n* `c`\n\n|x|y|\n|-|-|\n|1|2|\n\n> q [l](u "t")\n'));
//# uuid and nanoid
import { v4, v5, validate, version } from 'uuid'; import { nanoid } from 'nanoid'; console.log(validate(v4()), version(v4()), v5('a', v5.DNS), nanoid().length);
//# rxjs
import { from, interval, map, filter, take, toArray, lastValueFrom, mergeMap, of, delay } from 'rxjs'; console.log(await lastValueFrom(from([1, 2, 3, 4]).pipe(filter((x) => x % 2), map((x) => x * 10), toArray())), await lastValueFrom(interval(2).pipe(take(3), mergeMap((x) => of(x).pipe(delay(1))), toArray())));
//# immer
import { produce, enableMapSet } from 'immer'; enableMapSet(); const a = { l: [1, { x: 1 }], m: new Map([['k', 1]]) }; const b = produce(a, (d) => { d.l[1].x = 2; d.m.set('z', 3); }); console.log(a.l[1].x, b, Object.isFrozen(b));
//# ajv
import Ajv from 'ajv'; const v = new Ajv({ allErrors: true }).compile({ type: 'object', required: ['a'], properties: { a: { type: 'integer', minimum: 2 }, b: { enum: ['x'] } }, additionalProperties: false }); console.log(v({ a: 3 }), v({ a: 1, b: 'y', c: 1 }), v.errors.map((e) => e.keyword));
//# handlebars and mustache
import H from 'handlebars'; import M from 'mustache'; H.registerHelper('up', (s) => s.toUpperCase()); console.log(H.compile('{{#each l}}{{@index}}:{{up this}} {{/each}}{{{h}}}{{h}}')({ l: ['a', 'b'], h: '<b>' }), M.render('{{#l}}{{.}},{{/l}}{{^n}}none{{/n}}', { l: [1, 2] }));
//# prettier
import prettier from 'prettier'; console.log(await prettier.format('const a={b:1,c:[1,2,3]};function f(x){return x?1:2}', { parser: 'babel', singleQuote: true }), await prettier.format('interface A{b:string;c?:number}', { parser: 'typescript' }), await prettier.format('a{color:red}', { parser: 'css' }), await prettier.format('#  x\n\n* a', { parser: 'markdown' }));
//# typescript
import ts from 'typescript'; const out = ts.transpileModule('enum E { A = 1 } export const x: E = E.A;', { compilerOptions: { target: 'es2022', module: 'esnext' } }); console.log(ts.version, out.outputText);
//# mathjs
import { evaluate, matrix, multiply, derivative, unit } from 'mathjs'; console.log(evaluate('sqrt(3^2 + 4^2) * 2'), multiply(matrix([[1, 2], [3, 4]]), [1, 1]).toArray(), derivative('x^2 + 3 x', 'x').toString(), unit('5 cm').to('mm').toString(), evaluate('det([1, 2; 3, 4])'));
//# js-yaml and ini
import * as yaml from 'js-yaml'; import ini from 'ini'; console.log(JSON.stringify(yaml.load('a: [1, {b: c}]\nd: |\n  x\n  y\ne: &k {z: 1}\nf: *k\n')), yaml.dump({ a: [1, 'two'], b: { c: null } }), ini.parse('a=1\n[s]\nb=x\n'));
//# fast-xml-parser
import { XMLParser, XMLBuilder } from 'fast-xml-parser'; const o = new XMLParser({ ignoreAttributes: false }).parse('<r a="1"><i>x</i><i>2</i><e/></r>'); console.log(JSON.stringify(o), new XMLBuilder({ ignoreAttributes: false }).build(o));
//# semver and minimatch
import semver from 'semver'; import { minimatch } from 'minimatch'; console.log(semver.satisfies('1.2.3', '^1.1 || 2'), semver.inc('1.2.3-a', 'minor'), semver.coerce('v3.4 x').version, minimatch('a/b/c.js', 'a/**/*.{js,ts}'), minimatch('.x', '*'));
//# ramda and async
import * as R from 'ramda'; import async from 'async'; console.log(R.pipe(R.map(R.inc), R.sum)([1, 2]), R.path(['a', 'b'], { a: { b: 7 } }), R.groupBy((x) => (x > 1 ? 'b' : 's'), [1, 2, 3]), await async.mapLimit([1, 2, 3], 2, async (x) => x * 2));
//# qs, ms and dotenv
import qs from 'qs'; import ms from 'ms'; import dotenv from 'dotenv'; console.log(qs.parse('a[b][]=1&a[b][]=2'), qs.stringify({ x: { y: [1, 2] } }), ms('2 days'), ms(60000), dotenv.parse('A=1\nB="x y"\n# c\n'));
//# iconv-lite
import iconv from 'iconv-lite'; console.log(iconv.encode('žluť', 'win1250'), iconv.decode(Buffer.from([0xc8, 0xcb]), 'koi8-r'), iconv.encodingExists('shift_jis'), iconv.decode(iconv.encode('日本', 'shift_jis'), 'shift_jis'));
//# acorn
import { parse } from 'acorn'; console.log(JSON.stringify(parse('let a = b ?? 1', { ecmaVersion: 2022 }).body[0].declarations[0].init.operator), (() => { try { parse('let = ', { ecmaVersion: 2022 }); } catch (e) { return e.message; } })());
//# p-limit and lru-cache
import pLimit from 'p-limit'; import { LRUCache } from 'lru-cache'; const l = pLimit(2); let most = 0, now = 0; await Promise.all([1, 2, 3, 4].map(() => l(async () => { most = Math.max(most, ++now); await null; now--; }))); const c = new LRUCache({ max: 2 }); c.set('a', 1).set('b', 2).get('a'); c.set('c', 3); console.log(most, [...c.keys()]);
//# axios, got and node-fetch with koa
import Koa from 'koa'; import axios from 'axios'; import got from 'got'; import fetch from 'node-fetch'; const app = new Koa(); app.use(async (c) => { c.body = { path: c.path, method: c.method, query: c.query }; }); const server = app.listen(0, '127.0.0.1'); await new Promise((r) => server.once('listening', r)); const url = `http://127.0.0.1:${server.address().port}`;
console.log(await (await fetch(`${url}/a?b=c`)).text(), (await axios.post(`${url}/d`, { e: 1 })).data, await got(`${url}/f`, { retry: { limit: 0 } }).json()); server.close();
//# fastify, express and supertest
import fastify from 'fastify'; import express from 'express'; import request from 'supertest'; const f = fastify(); f.get('/x/:id', async (r) => ({ id: r.params.id, q: r.query.q })); const a = await f.inject('/x/5?q=1'); console.log(a.statusCode, a.body); const app = express(); app.get('/h', (q, r) => { r.json({ ok: true }); }); console.log((await request(app).get('/h').expect(200)).body, (await request(app).get('/no')).status);
//# babel 8, jsdom and chalk 5
import { transformAsync } from '@babel/core'; import { JSDOM } from 'jsdom'; import { Chalk } from 'chalk5'; console.log((await transformAsync('const a = (x) => x?.b ?? 1', { configFile: false, babelrc: false })).code); const d = new JSDOM('<p id=a>Hi <b>you</b></p>'); d.window.document.querySelector('b').textContent = 'all'; console.log(d.window.document.querySelector('#a').textContent, d.serialize(), JSON.stringify(new Chalk({ level: 1 }).red('x')));
//# the same packages, required
import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); for (const name of ['axios', 'got', 'supertest', 'fastify', 'koa', 'chalk5', 'node-fetch', '@babel/core', 'jsdom', 'express']) { const one = require(name); const all = await import(name); console.log(name, typeof one, one.__esModule, Object.keys(one).sort().slice(0, 6).join(), Object.keys(all).sort().slice(-4).join(), typeof all.default); }
//# pools of workers: piscina, tinypool, workerpool, jest-worker
import { Piscina } from 'piscina'; import { Tinypool } from 'tinypool'; import workerpool from 'workerpool'; import { Worker } from 'jest-worker'; import { writeFileSync } from 'node:fs'; import { resolve } from 'node:path';
writeFileSync('task.mjs', 'export default ({ a, b }) => { if (a < 0) throw new RangeError("negative"); return a + b; };'); writeFileSync('jest.cjs', 'exports.twice = (x) => x * 2; exports.bad = () => { throw new TypeError("bad"); };');
for (const Pool of [Piscina, Tinypool]) { const pool = new Pool({ filename: resolve('task.mjs'), maxThreads: 2 }); console.log(await Promise.all([1, 2, 3, 4].map((a) => pool.run({ a, b: 10 })))); try { await pool.run({ a: -1 }); } catch (e) { console.log(e.name, e.message); } await pool.destroy(); }
for (const workerType of ['thread', 'process']) { const pool = workerpool.pool({ workerType, maxWorkers: 2 }); console.log(await Promise.all([3, 4].map((n) => pool.exec((x) => x * x, [n])))); await pool.terminate(); }
for (const enableWorkerThreads of [true, false]) { const farm = new Worker(resolve('jest.cjs'), { enableWorkerThreads, numWorkers: 2, exposedMethods: ['twice', 'bad'] }); console.log(await Promise.all([farm.twice(1), farm.twice(2)])); try { await farm.bad(); } catch (e) { console.log(e.name, e.message); } await farm.end(); }
//# workers that are waited for: synckit; comlink
import { createSyncFn } from 'synckit'; import * as Comlink from 'comlink'; import { Worker } from 'node:worker_threads'; import { writeFileSync } from 'node:fs'; import { resolve } from 'node:path'; import { createRequire } from 'node:module';
writeFileSync('wait.mjs', 'import { runAsWorker } from "synckit"; runAsWorker(async (x) => { await new Promise((r) => setTimeout(r, 5)); if (x < 0) throw new Error(`no ${x}`); return { x: x * 2 }; });');
const f = createSyncFn(resolve('wait.mjs')); console.log(f(4), f(5)); try { f(-1); } catch (e) { console.log(e.message); }
const adapt = createRequire(import.meta.url)('comlink/dist/umd/node-adapter.js'); const worker = new Worker('const { parentPort } = require("worker_threads"); const Comlink = require("comlink"); const adapt = require("comlink/dist/umd/node-adapter.js"); Comlink.expose({ n: 0, add(x) { return this.n += x; }, call(f) { return f(5); } }, (adapt.default ?? adapt)(parentPort));', { eval: true });
const api = Comlink.wrap((adapt.default ?? adapt)(worker)); console.log(await api.add(3), await api.add(4), await api.n, await api.call(Comlink.proxy((x) => x + 1))); process.exit(0);
//# logs by a worker: pino
import pino from 'pino'; import { readFileSync } from 'node:fs'; import { once } from 'node:events';
const transport = pino.transport({ target: 'pino/file', options: { destination: 'log.txt' } }); const log = pino({ base: null, timestamp: false }, transport); for (let i = 0; i < 4; i++) log.info({ i }, 'line'); setTimeout(() => transport.end(), 700); const held = setInterval(() => {}, 100); await once(transport, 'close'); clearInterval(held); console.log(readFileSync('log.txt', 'utf8'));
//# WebAssembly: sql.js and source-map
import init from 'sql.js'; import { SourceMapConsumer, SourceMapGenerator } from 'source-map';
const { Database } = await init(); const d = new Database(); d.run('create table t (a, b)'); for (let i = 0; i < 100; i++) d.run('insert into t values (?, ?)', [i, `x${i}`]); console.log(JSON.stringify(d.exec('select sum(a), max(b), count(*) from t where a % 3 = 0')), d.export().length);
const g = new SourceMapGenerator({ file: 'x.js' }); for (let i = 1; i < 50; i++) g.addMapping({ generated: { line: i, column: 3 }, source: 'a.js', original: { line: i * 2, column: 1 }, name: `n${i}` }); await SourceMapConsumer.with(g.toJSON(), null, (c) => console.log(c.originalPositionFor({ line: 7, column: 5 })));
//# bundlers: webpack, rollup, esbuild
import webpack from 'webpack'; import { rollup } from '@rollup/wasm-node'; import * as esbuild from 'esbuild-wasm'; import { mkdirSync, writeFileSync, readFileSync } from 'node:fs'; import { resolve } from 'node:path';
mkdirSync('src'); writeFileSync('src/main.mjs', 'import { twice } from "./twice.mjs"; console.log(twice(3));'); writeFileSync('src/twice.mjs', 'export const twice = (x) => x * 2; export const unused = 5;');
const stats = await new Promise((done, fail) => webpack({ mode: 'production', entry: './src/main.mjs', context: process.cwd(), output: { path: resolve('dist') } }, (e, s) => e ? fail(e) : done(s))); console.log(stats.hasErrors(), readFileSync('dist/main.js', 'utf8'));
const bundle = await rollup({ input: 'src/main.mjs' }); console.log((await bundle.generate({ format: 'cjs' })).output[0].code); await bundle.close();
const built = await esbuild.build({ entryPoints: ['src/main.mjs'], bundle: true, minify: true, write: false }); console.log(built.outputFiles[0].text, (await esbuild.transform('const x: number = 1; export { x }', { loader: 'ts' })).code); await esbuild.stop();
//# eslint and mocha
import { ESLint, Linter } from 'eslint'; import Mocha from 'mocha'; import { writeFileSync } from 'node:fs';
console.log(new Linter().verify('const unused = 1\nif (a = b) {}', [{ rules: { 'no-unused-vars': 'error', semi: 'error', 'no-cond-assign': 'warn' } }]).map((m) => [m.ruleId, m.line, m.column]));
writeFileSync('x.test.cjs', 'const assert = require("assert"); describe("x", () => { it("ok", () => assert.equal(1, 1)); it("bad", () => assert.deepEqual([1], [2])); });'); const mocha = new Mocha({ reporter: 'json' }); mocha.addFile('./x.test.cjs'); const write = process.stdout.write; process.stdout.write = () => true; mocha.run((failures) => { process.stdout.write = write; console.log(failures); });
//# stores of requests: express
import express from 'express'; import { AsyncLocalStorage } from 'node:async_hooks'; import http from 'node:http';
const als = new AsyncLocalStorage(); const app = express(); app.use((q, r, next) => als.run({ id: q.query.id }, next)); app.get('/', async (q, r) => { await new Promise((d) => setTimeout(d, q.query.id === '1' ? 8 : 1)); r.json(als.getStore()); });
const server = app.listen(0, '127.0.0.1'); await new Promise((r) => server.once('listening', r)); const get = (id) => fetch(`http://127.0.0.1:${server.address().port}/?id=${id}`).then((r) => r.text()); console.log(await Promise.all([1, 2, 3].map(get))); server.close();
//# jest and ava
import { existsSync, writeFileSync, mkdirSync } from 'node:fs'; import { spawnSync } from 'node:child_process'; import { createRequire } from 'node:module'; import { relative } from 'node:path';
const installed = (file) => ['node_modules', '/node_modules'].map((folder) => `${folder}/${file}`).find(existsSync);
mkdirSync('src'); writeFileSync('package.json', '{"name":"x"}'); writeFileSync('src/sum.js', 'exports.sum = (a, b) => a + b;');
writeFileSync('src/sum.test.js', 'const { sum } = require("./sum"); describe("sum", () => { test("adds", () => expect(sum(1, 2)).toBe(3)); test("mocks", () => { const f = jest.fn(() => 5); expect(f()).toBe(5); expect(f).toHaveBeenCalledTimes(1); }); test("bad", () => { expect({ a: 1 }).toEqual({ a: 2 }); }); });');
const env = { ...process.env, CI: '1', FORCE_COLOR: '0' };
const jest = spawnSync(process.execPath, [installed('jest/bin/jest.js'), '--ci', '--json', '--cacheDirectory', 'cache', 'src'], { encoding: 'utf8', env });
const { numPassedTests, numFailedTests, testResults } = JSON.parse(jest.stdout); console.log(jest.status, numPassedTests, numFailedTests, testResults[0].assertionResults.map(({ fullName, status }) => [fullName, status]), /^.*- Expected[^]*?Received[^]*?\n.*\}/m.exec(testResults[0].message)?.[0]);
writeFileSync('test.mjs', 'import test from "ava"; test("adds", (t) => { t.is(1 + 2, 3); }); test("later", async (t) => { await null; t.deepEqual({ a: 1 }, { a: 1 }); });');
const ava = spawnSync(process.execPath, [installed('ava/entrypoints/cli.mjs'), '--tap', '--concurrency', '1', 'test.mjs'], { encoding: 'utf8', env }); console.log(ava.status, ava.stdout, ava.stderr);
const { ResolverFactory } = createRequire(import.meta.url)('unrs-resolver');
for (const options of [{ conditionNames: ['require', 'node'] }, { conditionNames: ['import', 'node'], extensions: ['.js', '.mjs'] }, { mainFields: ['module', 'main'], alias: { lib: ['lodash'] }, fallback: { none: ['ms'] } }]) {
  const resolver = new ResolverFactory(options);
  console.log(['lodash/map', 'uuid', 'zod', 'axios', 'chalk', '@babel/core', 'rxjs/operators', 'uuid/none', './src/sum', './src', 'lib/map', 'none', 'semver/package.json'].map((name) => { const { path, error } = resolver.sync(process.cwd(), name); return path === undefined ? typeof error : path.replace(/^.*node_modules\//, '').replace(`${process.cwd()}/`, ''); }));
}
