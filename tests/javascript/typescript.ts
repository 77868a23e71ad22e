//# types go away
interface Shape { readonly area: number; name?: string }
type Pair<T, U = T> = [T, U];
declare const absent: string;
abstract class Base<T extends object> implements Shape { abstract area: number; declare name: string; constructor(protected readonly of: T) {} get(): T { return this.of; } }
class Square extends Base<{ side: number }> { area!: number; override get() { return super.get(); } constructor(side: number, public label?: string) { super({ side }); this.area = side ** 2; } }
function isString(x: unknown): x is string { return typeof x === 'string'; }
function over(a: string): string; function over(a: number): number; function over(a: any) { return a; }
const p: Pair<number> = [1, 2]; const s = new Square(3, 'sq'); const f = <T,>(x: T): T => x;
console.log(p, s.area, s.label, s.get(), isString('a'), over(5), f<string>('g'), (p as any as string[]).length, s!.area satisfies number, typeof absent);
//# enums
enum Color { Red, Green = 5, Blue, Name = 'name', Sum = Green + Blue, Len = 'abc'.length }
const enum Flag { A = 1 << 0, B = 1 << 1, AB = A | B }
enum Color { Late = 99 }
console.log(Color, Color[6], Color.Sum, Flag.AB, Color.Late, Object.keys(Color).length);
//# namespaces
namespace A { export const x = 1; export namespace B { export function f() { return x + 1; } export class C {} } const hidden = 3; export type T = string; }
namespace A { export let y = A.x + 10; }
namespace Types { export type Only = number }
console.log(A.x, A.B.f(), A.y, typeof A.B.C, Object.keys(A), typeof (globalThis as any).Types);
//# parameter properties and fields
class P { b = this.a; #c = 4; static { P.made = 1; } static made: number; constructor(public a: number, private readonly d = 2, e?: string) {} sum() { return this.a + this.b + this.#c + this.d; } }
console.log(new P(1), new P(1).sum(), P.made, Object.keys(new P(3)));
//# imports of types only
import { readFileSync, type Stats } from 'node:fs';
import type { Server } from 'node:http';
import * as path from 'node:path';
export type { Stats };
export const a: number = 1;
console.log(typeof readFileSync, path.join('a', 'b'), import.meta.filename.endsWith('case.ts'), await Promise.resolve(a));
//# commonjs by its syntax
const os = require('node:os') as typeof import('node:os');
module.exports = { eol: os.EOL };
console.log(require.main === module, typeof __dirname, __filename.endsWith('case.ts'));
//# files beside it
import { writeFileSync, mkdirSync } from 'node:fs';
writeFileSync('m.mts', 'export const m: number = 1;'); writeFileSync('c.cts', 'exports.c = 2 as number;'); writeFileSync('t.ts', 'import { m } from "./m.mts"; export default (m as number) + 1;');
const { m } = await import('./m.mts' as string); const c = await import('./c.cts' as string); const t = await import('./t.ts' as string);
console.log(m, c.default, t.default, (await import('node:module')).createRequire(import.meta.url)('./c.cts').c);
//# places in traces
function thrower(n: number): never {

  type Unused = { a: string };
  interface Gone { b: number }
  throw new TypeError(`n is ${n as number}`);
}
const at = (e: unknown) => (e as Error).stack!.split('\n')[1].trim().replace(/file:\/\/|\(.*\/|:\d+\)?$/g, '').replace(/at \S+\//, 'at ');
try { thrower(1); } catch (e) { console.log(at(e)); }
//# the line of an error
import { spawnSync } from 'node:child_process'; import { writeFileSync } from 'node:fs';
const head = (file: string, text: string) => { writeFileSync(file, text); const { status, stderr } = spawnSync(process.execPath, ['--no-warnings', '--experimental-transform-types', file], { encoding: 'utf8' }); const [place, line] = stderr.split('\n'); console.log(status, place.replace(/^.*\//, ''), JSON.stringify(line)); };
head('a.ts', 'interface A {}\nconst x: number = 1;\nthrow new Error(`${x}`);\n');
head('b.js', 'let a = 1;\nlet b = ;\n'); head('c.mjs', 'export const a = 1;\n\nlet c = (1 + ;\n'); head('d.js', 'function f() {\n  return 1 +* 2;\n}\n'); head('e.mjs', '\nlet x; let x;\n');
//# decorators need an option, names stay
class K { static async *[Symbol.iterator as any]() {} get v(): number { return 1; } set v(x: number) {} accessorLike = 2; }
const o = { async m<T>(this: { n: number }, x: T): Promise<T> { return x; }, n: 1 };
console.log(K.name, await o.m(3), new K().v, new K());
//# using
export {};
class R { constructor(public n: string) {} [Symbol.dispose]() { console.log('dispose', this.n); } }
class S { async [Symbol.asyncDispose]() { console.log('async dispose'); } }
{ using a = new R('a'), b = new R('b'); console.log('in', a.n, b.n); }
try { using c = new R('c'); throw new Error('thrown'); } catch (e) { console.log((e as Error).message); }
await (async () => { await using d = new S(); using e = new R('e'); console.log('body', typeof d, e.n); })();
//# module.stripTypeScriptTypes
import { stripTypeScriptTypes } from 'node:module';
console.log(new Function(`${stripTypeScriptTypes('const a: number = 1; interface B {}')}; return a`)());
try { stripTypeScriptTypes('const = 1'); } catch (e) { console.log((e as any).code); }
