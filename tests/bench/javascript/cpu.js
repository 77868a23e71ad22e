// Runs twelve small programs that compute and prints "NAME MILLISECONDS" for each, the best of
// three. This is a classic script without modules, because it also runs in engines alone; `report`
// receives the lines where there is neither console nor print.
(function (global) {
'use strict';

const now = typeof performance === 'object' ? () => performance.now() : () => Date.now();
const say = global.report ?? (typeof console === 'object' ? (line) => console.log(line) : global.print);

function check(is, wanted) {
  if (is !== wanted) throw new Error(`${is} instead of ${wanted}`);
}

const programs = {
  calls() {
    const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
    check(fib(25), 75025);
  },
  integers() {
    const composite = new Uint8Array(400001);
    let count = 0;
    for (let i = 2; i <= 400000; i++) {
      if (composite[i] === 1) continue;
      count++;
      for (let j = i + i; j <= 400000; j += i) composite[j] = 1;
    }
    check(count, 33860);
  },
  floats() {
    let inside = 0;
    for (let y = 0; y < 90; y++) {
      for (let x = 0; x < 90; x++) {
        const [cr, ci] = [x / 45 - 1.5, y / 45 - 1];
        let [zr, zi, i] = [0, 0, 0];
        while (i < 60 && zr * zr + zi * zi < 4) {
          const t = zr * zr - zi * zi + cr;
          zi = 2 * zr * zi + ci;
          zr = t;
          i++;
        }
        if (i === 60) inside++;
      }
    }
    check(inside > 2000 && inside < 4000, true);
  },
  objects() {
    class Body {
      constructor(x, v) { this.x = x; this.v = v; }
      step(dt) { this.x += this.v * dt; }
      get energy() { return this.v * this.v / 2; }
    }
    const bodies = Array.from({ length: 100 }, (_, i) => new Body(i, 100 - i));
    let sum = 0;
    for (let n = 0; n < 600; n++) for (const b of bodies) { b.step(0.5); sum += b.energy; }
    check(Math.round(sum), 101505000);
  },
  permutations() {
    const n = 8;
    const p = Array.from({ length: n }, (_, i) => i);
    const count = new Array(n).fill(0);
    let flips = 0;
    for (let r = n; ;) {
      while (r !== 1) { count[r - 1] = r; r--; }
      const q = p.slice();
      let f = 0;
      for (let k = q[0]; k !== 0; k = q[0]) { q.splice(0, k + 1, ...q.slice(0, k + 1).reverse()); f++; }
      if (f > flips) flips = f;
      for (;;) {
        if (r === n) { check(flips, 22); return; }
        p.splice(r, 0, p.shift());
        if (--count[r] > 0) break;
        r++;
      }
    }
  },
  closures() {
    const compose = (fs) => (x) => fs.reduce((v, f) => f(v), x);
    const all = compose([(x) => x + 1, (x) => x * 3, (x) => x % 1009, (x) => x ^ 5]);
    let v = 1;
    for (let i = 0; i < 30000; i++) v = all(v);
    check(Number.isInteger(v), true);
  },
  generators() {
    function* count(n) { for (let i = 0; i < n; i++) yield i; }
    function* even(from) { for (const i of from) if (i % 2 === 0) yield i; }
    let sum = 0;
    for (const i of even(count(100000))) sum += i;
    check(sum, 2499950000);
  },
  strings() {
    const words = [];
    for (let i = 0; i < 20000; i++) words.push(`word${i % 977}`);
    const text = words.join(' ');
    const upper = text.split(' ').map((w) => w.toUpperCase().slice(1)).join('-');
    let hash = 0;
    for (let i = 0; i < upper.length; i++) hash = (hash * 31 + upper.charCodeAt(i)) | 0;
    check(upper.length > 100000 && Number.isInteger(hash), true);
  },
  expressions() {
    const line = '2024-05-17 12:33:07 [warn] user=anna id=8841 path=/a/b?c=d took 17 ms\n';
    const text = line.repeat(1500);
    const found = [...text.matchAll(/^(\d{4})-(\d\d)-(\d\d) [\d:]+ \[(\w+)\].*?id=(\d+).*?(\d+) ms$/gm)];
    check(found.length, 1500);
    check(text.replace(/[aeiou]/g, (c) => c.toUpperCase()).length, text.length);
  },
  sorting() {
    let seed = 1;
    const next = () => seed = Math.imul(seed, 1103515245) + 12345 & 0x7fffffff;
    const list = Array.from({ length: 30000 }, () => ({ key: next() % 1000, name: `n${next() % 100}` }));
    list.sort((a, b) => a.key - b.key || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
    check(list.every((v, i) => i === 0 || list[i - 1].key <= v.key), true);
  },
  collections() {
    const map = new Map();
    for (let i = 0; i < 100000; i++) {
      const key = `k${i * 7 % 1013}`;
      map.set(key, (map.get(key) ?? 0) + 1);
    }
    const set = new Set(map.values());
    check(map.size, 1013);
    check(set.size <= 3, true);
  },
  bigints() {
    let [a, b] = [0n, 1n];
    for (let i = 0; i < 6000; i++) [a, b] = [b, a + b];
    check(a.toString().length, 1254);
    check((3n ** 3000n % 1000007n) > 0n, true);
  },
};

for (const name in programs) {
  let best = Infinity;
  for (let round = 0; round < 3; round++) {
    const begun = now();
    programs[name]();
    best = Math.min(best, now() - begun);
  }
  say(`${name} ${best.toFixed(2)}`);
}
})(globalThis);
