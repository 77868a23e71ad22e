// Finds the parts of a guest's memory that have changed. Engines do not report writes, so each part
// is hashed, by generated WebAssembly code that imports the memory. This takes 1 ms for about 10
// MiB. Comparing with a copy would take as long, and making the copy would take more time.

/** The number of bytes of a part, as in `runner/kernel/src/layer.rs`. */
const PART = 4096;

/** Returns a number in LEB128. */
function leb(number) {
  const bytes = [];
  for (let n = BigInt.asIntN(64, BigInt(number)); ; n >>= 7n) {
    const low = Number(n & 0x7fn);
    if ((n >> 6n) === 0n || (n >> 6n) === -1n) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}

const section = (id, body) => [id, ...leb(body.length), ...body];
const name = (text) => [text.length, ...[...text].map((c) => c.charCodeAt(0))];
// Instructions, by their names in the specification's text format.
const [get, set, tee] = [0x20, 0x21, 0x22].map((op) => (local) => [op, local]);
const i32 = { const: (n) => [0x41, ...leb(n)], add: [0x6a], ne: [0x47] };
const i64 = { const: (n) => [0x42, ...leb(n)], load: (offset) => [0x29, 3, offset], xor: [0x85], mul: [0x7e], rotl: [0x89], shr_u: [0x88] };
const convert_i64_u = [0xba];

/** An odd number whose bits look random: 2^64 divided by the golden ratio. */
const MIX = i64.const(0x9e3779b97f4a7c15n);
/**
 * The locals: the address, four lanes, and the end. Each step of a lane is one-to-one, so a single
 * change is always seen.
 */
const [AT, LANES, END] = [0, [1, 2, 3, 4], 5];
const BODY = [
  ...[get(AT), i32.const(PART), i32.add, set(END)],
  ...LANES.flatMap((lane) => [i64.const(lane), set(lane)]),
  [0x03, 0x40], // loop
  ...LANES.flatMap((lane, n) => [get(lane), get(AT), i64.load(8 * n), i64.xor, MIX, i64.mul, i64.const(29), i64.rotl, set(lane)]),
  ...[get(AT), i32.const(32), i32.add, tee(AT), get(END), i32.ne, [0x0d, 0], [0x0b]], // br_if, end
  get(1),
  ...[2, 3, 4].flatMap((lane) => [MIX, i64.mul, i64.const(31), i64.rotl, get(lane), i64.xor]),
  ...[MIX, i64.mul, tee(1), get(1), i64.const(32), i64.shr_u, i64.xor, MIX, i64.mul],
  // A JavaScript number holds the remaining 52 bits exactly.
  ...[i64.const(12), i64.shr_u, convert_i64_u, [0x0b]],
].flat();
const FUNCTION = [2, 4, 0x7e, 1, 0x7f, ...BODY];
const MODULE = new Uint8Array([
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...section(1, [1, 0x60, 1, 0x7f, 1, 0x7c]), // (func (param i32) (result f64))
  ...section(2, [1, ...name('guest'), ...name('memory'), 2, 0, 0]),
  ...section(3, [1, 0]),
  ...section(7, [1, ...name('hash'), 0, 0]),
  ...section(10, [1, ...leb(FUNCTION.length), ...FUNCTION]),
]);

/** Hashes of the parts of a memory. */
export class Dirty {
  #memory;
  #hash;
  #known = new Float64Array(0);

  constructor(memory) {
    this.#memory = memory;
    this.#hash = new WebAssembly.Instance(new WebAssembly.Module(MODULE), { guest: { memory } }).exports.hash;
  }

  /** Takes the current contents as unchanged. */
  settle() {
    this.changed();
  }

  /** Returns the numbers of the parts that have changed or are new since the last call. */
  changed() {
    const { byteLength } = this.#memory.buffer;
    const count = byteLength / PART;
    const known = new Float64Array(count).fill(-1);
    known.set(this.#known);
    const changed = new Uint32Array(count);
    let found = 0;
    for (let n = 0; n < count; n++) {
      const hash = this.#hash(n * PART);
      if (hash !== known[n]) {
        known[n] = hash;
        changed[found++] = n;
      }
    }
    this.#known = known;
    return changed.subarray(0, found);
  }
}
