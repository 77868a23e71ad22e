// Reads the ICU data in Node's program: resource bundles and the inheritance between them.
//
// Node links ICU's data file as it is. ICU documents its layout in the sources that write and read
// it: `udatatst.c` and `ucmndata.h` for the file's table of contents, `uresdata.h` for resource
// bundles. Only what Node's file has is read here: little endian, formats 2 and 3 of bundles.
'use strict';
const fs = require('fs');

// Opens the data file within a program. Returns its bytes, and the position of each part by name.
function openData(program) {
  const bytes = fs.readFileSync(program);
  const start = bytes.indexOf('CmnD') - 12;
  const table = start + bytes.readUInt16LE(start);
  const files = new Map();
  for (let i = 0; i < bytes.readUInt32LE(table); i++) {
    const name = table + bytes.readUInt32LE(table + 4 + 8 * i);
    const text = bytes.toString('latin1', name, bytes.indexOf(0, name));
    files.set(text.slice(text.indexOf('/') + 1), table + bytes.readUInt32LE(table + 8 + 8 * i));
  }
  return { bytes, files };
}

// A resource bundle. `pool` is the bundle of its folder with the shared keys and strings.
class ResourceBundle {
  constructor(bytes, start, pool) {
    this.bytes = bytes;
    this.root = start + bytes.readUInt16LE(start);
    const index = (i) => bytes.readUInt32LE(this.root + 4 + 4 * i);
    const length = index(0) & 255;
    const attributes = length > 5 ? index(5) : 0;
    const keysTop = index(1);
    this.keys = this.root + 4 * (1 + length);
    // Keys below this number are the bundle's own.
    this.ownKeys = keysTop <= 1 + length ? 0 : attributes & 4 ? keysTop * 4 : 0x7fffffff;
    this.pool = attributes & 4 ? pool : undefined;
    const isThird = bytes[start + 16] >= 3;
    this.pooled = isThird ? index(0) >>> 8 | (attributes & 0xf000) << 12 : 0;
    this.pooled16 = isThird ? attributes >>> 16 : 0;
    this.units = this.root + 4 * keysTop;
  }

  key(number) {
    const at = number < this.ownKeys ? this.root + number : this.pool.keys + number - this.ownKeys;
    return this.bytes.toString('latin1', at, this.bytes.indexOf(0, at));
  }

  string(offset) {
    const { bytes } = this;
    let at = offset < this.pooled ? this.pool.units + 2 * offset : this.units + 2 * (offset - this.pooled);
    const unit = (i) => bytes.readUInt16LE(at + 2 * i);
    const first = unit(0);
    let length = 0;
    // A first unit that is a trail surrogate is the length.
    if ((first & 0xfc00) !== 0xdc00) {
      while (unit(length) !== 0) length++;
    } else if (first < 0xdfef) {
      length = first & 0x3ff;
      at += 2;
    } else if (first < 0xdfff) {
      length = first - 0xdfef << 16 | unit(1);
      at += 4;
    } else {
      length = unit(1) << 16 | unit(2);
      at += 6;
    }
    return bytes.toString('utf16le', at, at + 2 * length);
  }

  shortString(number) {
    return this.string(number < this.pooled16 ? number : number - this.pooled16 + this.pooled);
  }

  // Returns the value of a resource: tables are objects, aliases have their path as `$alias`, and
  // binary ones their bytes as `$bytes`.
  value(resource = this.bytes.readUInt32LE(this.root)) {
    const { bytes } = this;
    const [kind, offset] = [resource >>> 28, resource & 0xfffffff];
    const [at, at16] = [this.root + 4 * offset, this.units + 2 * offset];
    const u16 = (p) => bytes.readUInt16LE(p);
    const u32 = (p) => bytes.readUInt32LE(p);
    const list = (length, value) => Array.from({ length }, (_, i) => value(i));
    const table = (length, key, value) => Object.fromEntries(list(length, (i) => [key(i), value(i)]));
    switch (kind) {
      case 0:
      case 3: {
        const text = offset === 0 ? '' : bytes.toString('utf16le', at + 4, at + 4 + 2 * u32(at));
        return kind === 0 ? text : { $alias: text };
      }
      case 1:
        return { $bytes: offset === 0 ? Buffer.alloc(0) : bytes.subarray(at + 4, at + 4 + u32(at)) };
      case 2: {
        if (offset === 0) return {};
        const length = u16(at);
        const values = at + 2 * (length + 1 + (length + 1) % 2);
        return table(length, (i) => this.key(u16(at + 2 + 2 * i)), (i) => this.value(u32(values + 4 * i)));
      }
      case 4: {
        if (offset === 0) return {};
        const length = u32(at);
        const key = (number) => number >= 0 ? this.key(number) : this.pool.key((number & 0x7fffffff) + this.pool.ownKeys);
        return table(length, (i) => key(bytes.readInt32LE(at + 4 + 4 * i)), (i) => this.value(u32(at + 4 + 4 * (length + i))));
      }
      case 5:
        return table(u16(at16), (i) => this.key(u16(at16 + 2 + 2 * i)), (i) => this.shortString(u16(at16 + 2 + 2 * (u16(at16) + i))));
      case 6:
        return this.string(offset);
      case 7:
        return offset << 4 >> 4;
      case 8:
        return offset === 0 ? [] : list(u32(at), (i) => this.value(u32(at + 4 + 4 * i)));
      case 9:
        return list(u16(at16), (i) => this.shortString(u16(at16 + 2 + 2 * i)));
      case 14:
        return offset === 0 ? [] : list(u32(at), (i) => bytes.readInt32LE(at + 4 + 4 * i));
      default:
        throw new Error(`unknown resource ${kind}`);
    }
  }
}

// The bundles of a program's data, by name (`de`, `curr/de`).
class Bundles {
  #data;
  #values = new Map();
  #pools = new Map();
  #parents = {};

  constructor(program) {
    this.#data = openData(program);
    for (const [parent, locales] of Object.entries(this.value('supplementalData').parentLocales)) {
      for (const locale of [locales].flat()) this.#parents[locale] = parent;
    }
  }

  get names() { return [...this.#data.files.keys()]; }

  // Returns the bytes of a part that is not a bundle, from its start.
  bytes(name) { return this.#data.bytes.subarray(this.#data.files.get(name)); }

  value(name) {
    const { bytes, files } = this.#data;
    if (this.#values.has(name)) return this.#values.get(name);
    const folder = name.slice(0, name.lastIndexOf('/') + 1);
    const pool = files.get(`${folder}pool.res`);
    if (!this.#pools.has(folder)) this.#pools.set(folder, pool === undefined ? undefined : new ResourceBundle(bytes, pool));
    const at = files.get(`${name}.res`);
    const value = at === undefined ? undefined : new ResourceBundle(bytes, at, this.#pools.get(folder)).value();
    this.#values.set(name, value);
    return value;
  }

  // Returns the locale from which a locale inherits; undefined for the root.
  parent(locale) {
    if (locale === 'root') return undefined;
    const explicit = this.value(locale)?.['%%Parent'] ?? this.#parents[locale];
    const cut = locale.lastIndexOf('_');
    return explicit ?? (cut < 0 ? 'root' : locale.slice(0, cut));
  }

  // Returns a locale's value at a path, with all that it inherits.
  inherited(folder, locale, path) {
    const chain = [];
    for (let at = locale; at !== undefined; at = this.parent(at)) {
      const value = this.value(folder + at);
      if (value !== undefined) chain.push(value);
    }
    return inherited(chain, path);
  }
}

const isTable = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && value.$bytes === undefined;

// Adds what a table lacks from another table.
function fill(table, from) {
  for (const key in from) {
    if (!(key in table)) table[key] = from[key];
    else if (isTable(table[key]) && isTable(from[key])) fill(table[key], from[key]);
  }
}

// Returns the value at a path in the first bundle of a chain that has it. Tables are united. An
// alias leads to another path of the whole chain.
function inherited(chain, path) {
  let out;
  for (const bundle of chain) {
    let [value, depth] = [bundle, 0];
    while (depth < path.length && isTable(value) && value.$alias === undefined) value = value[path[depth++]];
    if (value?.$alias !== undefined) {
      const target = inherited(chain, [...value.$alias.split('/').slice(2), ...path.slice(depth)]);
      if (out === undefined) return isTable(target) ? structuredClone(target) : target;
      if (isTable(target)) fill(out, structuredClone(target));
      return out;
    }
    if (value === undefined || depth < path.length) continue;
    if (!isTable(value)) {
      const element = (v) => v?.$alias === undefined ? v : inherited(chain, v.$alias.split('/').slice(2));
      if (out === undefined) return Array.isArray(value) ? value.map(element) : value;
      continue;
    }
    out ??= {};
    for (const key in value) {
      const below = inherited(chain, [...path, key]);
      if (below === undefined) continue;
      if (!(key in out)) out[key] = below;
      else if (isTable(out[key]) && isTable(below)) fill(out[key], below);
    }
  }
  return out;
}

module.exports = { Bundles, isTable };
