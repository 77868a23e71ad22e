// The binding serdes: V8's format of values (`v8.serialize`), version 15. The test runner and child
// processes also use it for their messages. A value is a tag followed by the data that the tag
// requires. Objects are numbered in the order in which they begin.
(function (native, host) {
'use strict';

const VERSION = 15;
const code = (letter) => letter.charCodeAt(0);
const VIEWS = 'bBCwWdDhfFqQ?';
const KINDS = [Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, globalThis.Float16Array, Float32Array, Float64Array,
               BigInt64Array, BigUint64Array, DataView];
const ERRORS = { __proto__: null, EvalError: 'E', RangeError: 'R', ReferenceError: 'F', SyntaxError: 'S', TypeError: 'T', URIError: 'U' };
const FLAGS = 'gimyusdv';
const isIndex = (key) => /^(0|[1-9]\d{0,9})$/.test(key) && Number(key) < 2 ** 32 - 1;
const shared = new DataView(new ArrayBuffer(8));

class Serializer {
  #bytes = new Uint8Array(64);
  #length = 0;
  #ids = new Map();
  #viewsAreHosts = false;
  #buffers = new Map();

  #room(count) {
    if (this.#length + count > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#length += count;
    return this.#length - count;
  }
  #byte(byte) {
    const at = this.#room(1);
    this.#bytes[at] = byte;
  }
  #tag(letter) { this.#byte(code(letter)); }
  #raw(bytes) {
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
  }
  #varint(number) {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#byte(rest % 128 | 128);
    this.#byte(rest);
  }
  #double(number) {
    shared.setFloat64(0, number, true);
    this.#raw(new Uint8Array(shared.buffer));
  }

  writeHeader() { this.#raw([0xff, VERSION]); }
  writeRawBytes(source) {
    if (!ArrayBuffer.isView(source) && !host.types.isAnyArrayBuffer(source)) {
      const { ERR_INVALID_ARG_TYPE } = host.require('internal/errors').codes;
      throw new ERR_INVALID_ARG_TYPE('source', ['Buffer', 'TypedArray', 'DataView'], source);
    }
    this.#raw(host.view(source));
  }
  writeUint32(number) { this.#varint(number >>> 0); }
  writeUint64(high, low) {
    let rest = BigInt(high >>> 0) << 32n | BigInt(low >>> 0);
    for (; rest >= 128n; rest >>= 7n) this.#byte(Number(rest & 127n) | 128);
    this.#byte(Number(rest));
  }
  writeDouble(number) { this.#double(Number(number)); }
  transferArrayBuffer(id, buffer) { this.#buffers.set(buffer, id); }
  _setTreatArrayBufferViewsAsHostObjects(on) { this.#viewsAreHosts = Boolean(on); }
  releaseBuffer() {
    const made = host.require('buffer').Buffer.from(this.#bytes.slice(0, this.#length).buffer);
    this.#length = 0;
    this.#ids.clear();
    return made;
  }

  writeValue(value) {
    this.#value(value);
    return true;
  }

  #value(value) {
    switch (typeof value) {
      case 'undefined': return this.#tag('_');
      case 'boolean': return this.#tag(value ? 'T' : 'F');
      case 'number': return this.#number(value);
      case 'bigint':
        this.#tag('Z');
        return this.#digits(value);
      case 'string': return this.#string(value);
      case 'object': return value === null ? this.#tag('0') : this.#object(value);
      default: throw this.#refusal(String(value));
    }
  }

  #refusal(text) {
    const make = this._getDataCloneError;
    const message = `${text} could not be cloned.`;
    return make === undefined || make === Error ? new Error(message) : Reflect.apply(make, this, [message]);
  }

  #number(value) {
    if ((value | 0) === value && !Object.is(value, -0)) {
      this.#tag('I');
      return this.#varint((value << 1 ^ value >> 31) >>> 0);
    }
    this.#tag('N');
    return this.#double(value);
  }

  #digits(value) {
    const size = value < 0n ? -value : value;
    const words = [];
    for (let rest = size; rest > 0n; rest >>= 64n) words.push(rest & 0xffffffffffffffffn);
    this.#varint(words.length * 16 + (value < 0n ? 1 : 0));
    this.#raw(new Uint8Array(new BigUint64Array(words).buffer));
  }

  #string(text) {
    let isShort = true;
    for (let i = 0; isShort && i < text.length; i++) isShort = text.charCodeAt(i) < 256;
    if (isShort) {
      this.#tag('"');
      this.#varint(text.length);
      return this.#raw(host.view(native.encode(text, 'latin1')));
    }
    const size = text.length * 2;
    const head = 1 + Math.max(1, Math.ceil((32 - Math.clz32(size)) / 7));
    // The UTF-16 units must begin at an even offset.
    if ((this.#length + head) % 2 === 1) this.#byte(0);
    this.#tag('c');
    this.#varint(size);
    return this.#raw(host.view(native.encode(text, 'ucs2')));
  }

  #object(value) {
    const id = this.#ids.get(value);
    if (id !== undefined) {
      this.#tag('^');
      return this.#varint(id);
    }
    const { types } = host;
    // The buffer of a view, or a reference to it, is written before the view.
    if (ArrayBuffer.isView(value) && !this.#viewsAreHosts) this.#object(value.buffer);
    this.#ids.set(value, this.#ids.size);
    if (ArrayBuffer.isView(value)) return this.#viewsAreHosts ? this.#host(value) : this.#view(value);
    if (typeof value === 'function' || types.isProxy(value)) throw this.#refusal(typeof value === 'function' ? String(value) : '#<Object>');
    if (Array.isArray(value)) return this.#array(value);
    if (types.isDate(value)) return this.#tagged('D', () => this.#double(Number(value)));
    if (types.isBoxedPrimitive(value)) return this.#boxed(value);
    if (types.isRegExp(value)) {
      this.#tag('R');
      this.#string(value.source);
      return this.#varint([...value.flags].reduce((bits, flag) => bits | 1 << FLAGS.indexOf(flag), 0));
    }
    if (types.isMap(value)) {
      const all = [...value].flat();
      return this.#tagged(';', () => all.forEach((one) => this.#value(one)), ':', all.length);
    }
    if (types.isSet(value)) {
      const all = [...value];
      return this.#tagged("'", () => all.forEach((one) => this.#value(one)), ',', all.length);
    }
    if (types.isAnyArrayBuffer(value)) return this.#buffer(value);
    if (types.isNativeError(value)) return this.#error(value);
    if (types.isPromise(value) || types.isWeakMap(value) || types.isWeakSet(value) || types.isGeneratorObject(value)) {
      throw this.#refusal(`#<${value.constructor?.name ?? 'Object'}>`);
    }
    if (types.isExternal(value) || host.portEnds.has(value) || this._isHostObject?.(value)) return this.#host(value);
    this.#tag('o');
    return this.#ended('{', this.#properties(value, Object.keys(value)));
  }

  #tagged(letter, write, end, count) {
    this.#tag(letter);
    write();
    if (end !== undefined) this.#ended(end, count);
  }
  #ended(letter, ...counts) {
    this.#tag(letter);
    counts.forEach((count) => this.#varint(count));
  }

  // Writes properties, and returns the number of those that still existed when it was their turn.
  #properties(value, keys) {
    let count = 0;
    for (const key of keys) {
      if (!Object.hasOwn(value, key)) continue;
      if (isIndex(key)) this.#number(Number(key));
      else this.#string(key);
      this.#value(value[key]);
      count++;
    }
    return count;
  }

  #array(value) {
    const { length } = value;
    const keys = Object.keys(value);
    const isDense = length === 0 || (keys.length >= length && keys[length - 1] === String(length - 1));
    this.#tag(isDense ? 'A' : 'a');
    this.#varint(length);
    if (isDense) {
      for (let i = 0; i < length; i++) {
        if (i in value) this.#value(value[i]);
        else this.#tag('-');
      }
    }
    const rest = isDense ? keys.slice(length) : keys;
    return this.#ended(isDense ? '$' : '@', this.#properties(value, rest), length);
  }

  #boxed(value) {
    const inner = value.valueOf();
    if (typeof inner === 'boolean') return this.#tag(inner ? 'y' : 'x');
    if (typeof inner === 'number') return this.#tagged('n', () => this.#double(inner));
    if (typeof inner === 'bigint') return this.#tagged('z', () => this.#digits(inner));
    if (typeof inner === 'string') return this.#tagged('s', () => this.#string(inner));
    throw this.#refusal('Object(Symbol())');
  }

  #buffer(value) {
    if (this.#buffers.has(value)) return this.#ended('t', this.#buffers.get(value));
    if (host.types.isSharedArrayBuffer(value)) {
      const give = this._getSharedArrayBufferId;
      if (give === undefined) throw this.#refusal('#<SharedArrayBuffer>');
      return this.#ended('u', Reflect.apply(give, this, [value]) >>> 0);
    }
    if (value.resizable) this.#ended('~', value.byteLength, value.maxByteLength);
    else this.#ended('B', value.byteLength);
    return this.#raw(new Uint8Array(value));
  }

  #view(value) {
    const kind = KINDS.findIndex((Kind) => Kind !== undefined && value instanceof Kind);
    this.#ended('V', VIEWS.charCodeAt(kind), value.byteOffset, value.byteLength, 0);
  }

  #host(value) {
    this.#tag('\\');
    if (this._writeHostObject === undefined) throw this.#refusal(`#<${value.constructor?.name ?? 'Object'}>`);
    this._writeHostObject(value);
  }

  #error(value) {
    this.#tag('r');
    if (ERRORS[value.name] !== undefined) this.#tag(ERRORS[value.name]);
    const own = (name) => Object.getOwnPropertyDescriptor(value, name)?.value;
    const message = own('message');
    const { stack } = value;
    if (message !== undefined) this.#tagged('m', () => this.#string(String(message)));
    if (Object.hasOwn(value, 'cause')) this.#tagged('c', () => this.#value(own('cause')));
    if (typeof stack === 'string') this.#tagged('s', () => this.#string(stack));
    this.#tag('.');
  }
}

const damaged = () => new Error('Unable to deserialize cloned data.');

class Deserializer {
  #bytes;
  #at = 0;
  #objects = [];
  #version = 0;
  #buffers = new Map();

  constructor(buffer) {
    if (!ArrayBuffer.isView(buffer)) {
      const { ERR_INVALID_ARG_TYPE } = host.require('internal/errors').codes;
      throw new ERR_INVALID_ARG_TYPE('buffer', ['Buffer', 'TypedArray', 'DataView'], buffer);
    }
    this.buffer = buffer;
    this.#bytes = host.view(buffer);
  }

  #byte() {
    if (this.#at >= this.#bytes.length) throw damaged();
    return this.#bytes[this.#at++];
  }
  #take(count) {
    if (!(count <= this.#bytes.length - this.#at)) throw damaged();
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
  #varint() {
    let number = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#byte();
      if (scale < 2 ** 35) number += (byte & 127) * scale;
      if (byte < 128) return number % 2 ** 32;
    }
  }
  #double() {
    shared.setBigUint64(0, 0n);
    new Uint8Array(shared.buffer).set(this.#take(8));
    return shared.getFloat64(0, true);
  }
  // Padding may precede any tag.
  #tag() {
    let byte;
    do byte = this.#byte(); while (byte === 0);
    return String.fromCharCode(byte);
  }
  #peek() {
    let at = this.#at;
    while (this.#bytes[at] === 0) at++;
    return at < this.#bytes.length ? String.fromCharCode(this.#bytes[at]) : undefined;
  }
  #named(what, read) {
    const begin = this.#at;
    try {
      return read();
    } catch {
      this.#at = begin;
      throw new Error(`${what}() failed`);
    }
  }

  readHeader() {
    if (this.#bytes[this.#at] !== 0xff || this.#bytes[this.#at + 1] > VERSION) {
      throw new Error('Unable to deserialize cloned data due to invalid or unsupported version.');
    }
    this.#at++;
    this.#version = this.#varint();
    return true;
  }
  getWireFormatVersion() { return this.#version; }
  transferArrayBuffer(id, buffer) { this.#buffers.set(id, buffer); }
  readUint32() { return this.#named('ReadUint32', () => this.#varint()); }
  readUint64() {
    return this.#named('ReadUint64', () => {
      let number = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = this.#byte();
        number |= BigInt(byte & 127) << shift;
        if (byte < 128) return [Number(number >> 32n & 0xffffffffn), Number(number & 0xffffffffn)];
      }
    });
  }
  readDouble() { return this.#named('ReadDouble', () => this.#double()); }
  _readRawBytes(length) {
    return this.#named('ReadRawBytes', () => {
      this.#take(length);
      return this.#at - length;
    });
  }
  readValue() { return this.#value(); }

  #value() {
    const tag = this.#tag();
    switch (tag) {
      case '_': return undefined;
      case '0': return null;
      case 'T': return true;
      case 'F': return false;
      case 'I': {
        const n = this.#varint();
        return n >>> 1 ^ -(n & 1);
      }
      case 'U': return this.#varint();
      case 'N': return this.#double();
      case 'Z': return this.#digits();
      case '"': case 'c': case 'S': return this.#text(tag);
      case '?':
        this.#varint();
        return this.#value();
      case '^': {
        const id = this.#varint();
        if (id >= this.#objects.length) throw damaged();
        return this.#viewed(this.#objects[id]);
      }
      default: return this.#object(tag);
    }
  }

  #text(tag) {
    const bytes = this.#take(this.#varint());
    return native.decode(bytes, { '"': 'latin1', 'c': 'ucs2', 'S': 'utf8' }[tag], 0, bytes.length);
  }
  #string() {
    const tag = this.#tag();
    if (!'"cS'.includes(tag)) throw damaged();
    return this.#text(tag);
  }
  #digits() {
    const bits = this.#varint();
    let value = 0n;
    [...this.#take(bits >> 1)].forEach((byte, i) => { value |= BigInt(byte) << BigInt(8 * i); });
    return bits & 1 ? -value : value;
  }

  // Numbers an object. This must happen before its contents are read.
  #keep(object) {
    this.#objects.push(object);
    return object;
  }

  #object(tag) {
    switch (tag) {
      case 'o': return this.#properties(this.#keep({}), '{');
      case 'A': return this.#dense();
      case 'a': {
        const array = this.#keep([]);
        array.length = this.#varint();
        this.#properties(array, '@');
        this.#varint();
        return array;
      }
      case 'D': return this.#keep(new Date(this.#double()));
      case 'y': case 'x': return this.#keep(Object(tag === 'y'));
      case 'n': return this.#keep(Object(this.#double()));
      case 'z': return this.#keep(Object(this.#digits()));
      case 's': return this.#keep(Object(this.#string()));
      case 'R': {
        const source = this.#string();
        const bits = this.#varint();
        return this.#keep(new RegExp(source, [...FLAGS].filter((flag, i) => bits >> i & 1).join('')));
      }
      case ';': {
        const map = this.#keep(new Map());
        this.#until(':', () => map.set(this.#value(), this.#value()));
        return map;
      }
      case "'": {
        const set = this.#keep(new Set());
        this.#until(',', () => set.add(this.#value()));
        return set;
      }
      case 'r': return this.#error();
      case '\\': {
        if (this._readHostObject === undefined) throw damaged();
        const at = this.#objects.push(undefined) - 1;
        return this.#objects[at] = this._readHostObject();
      }
      default: return this.#buffer(tag);
    }
  }

  #until(end, read) {
    while (this.#peek() !== end) read();
    this.#tag();
    this.#varint();
  }

  #properties(object, end) {
    this.#until(end, () => {
      const key = this.#value();
      if (typeof key !== 'string' && typeof key !== 'number') throw damaged();
      Object.defineProperty(object, key, { __proto__: null, value: this.#value(), writable: true, enumerable: true, configurable: true });
    });
    return object;
  }

  #dense() {
    const length = this.#varint();
    if (length > this.#bytes.length - this.#at) throw damaged();
    const array = this.#keep([]);
    for (let i = 0; i < length; i++) {
      if (this.#peek() === '-') this.#tag();
      else array[i] = this.#value();
    }
    array.length = length;
    this.#properties(array, '$');
    this.#varint();
    return array;
  }

  #error() {
    const at = this.#objects.push(undefined) - 1;
    const parts = { __proto__: null };
    let Kind = Error;
    for (let tag = this.#tag(); tag !== '.'; tag = this.#tag()) {
      const name = Object.keys(ERRORS).find((key) => ERRORS[key] === tag);
      if (name !== undefined) Kind = globalThis[name];
      else if (tag === 'm') parts.message = this.#string();
      else if (tag === 's') parts.stack = this.#string();
      else if (tag === 'c') parts.cause = this.#value();
      else throw damaged();
    }
    const error = 'cause' in parts ? new Kind(parts.message, { cause: parts.cause }) : new Kind(parts.message);
    Object.defineProperty(error, 'stack', { __proto__: null, value: parts.stack, writable: true, configurable: true });
    return this.#objects[at] = error;
  }

  #buffer(tag) {
    let buffer;
    if (tag === 'B' || tag === '~') {
      const length = this.#varint();
      const options = tag === '~' ? { maxByteLength: this.#varint() } : undefined;
      const bytes = this.#take(length);
      buffer = options ? new ArrayBuffer(length, options) : new ArrayBuffer(length);
      new Uint8Array(buffer).set(bytes);
    } else if (tag === 't' || tag === 'u') {
      buffer = this.#buffers.get(this.#varint());
      if (buffer === undefined) throw damaged();
    } else {
      throw damaged();
    }
    return this.#viewed(this.#keep(buffer));
  }

  // Returns the view that follows a buffer, or the value itself.
  #viewed(buffer) {
    if (!host.types.isAnyArrayBuffer(buffer) || this.#peek() !== 'V') return buffer;
    this.#tag();
    const Kind = KINDS[VIEWS.indexOf(String.fromCharCode(this.#byte()))];
    const [offset, length] = [this.#varint(), this.#varint()];
    if (this.#version >= 14) this.#varint();
    const each = Kind?.BYTES_PER_ELEMENT ?? 1;
    if (Kind === undefined || offset + length > buffer.byteLength || offset % each !== 0 || length % each !== 0) throw damaged();
    return this.#keep(new Kind(buffer, offset, length / each));
  }
}

// Messages of child processes with `serialization: 'advanced'`, after their length in four bytes.
host.bindings.ipc_serdes = () => ({
  serialize(value) {
    const { DefaultSerializer } = host.require('v8');
    const serializer = new DefaultSerializer();
    serializer.writeRawBytes(new Uint8Array(4));
    serializer.writeHeader();
    serializer.writeValue(value);
    const made = serializer.releaseBuffer();
    made.writeUInt32BE(made.length - 4, 0);
    return made;
  },
  deserialize(bytes) {
    const { DefaultDeserializer } = host.require('v8');
    const deserializer = new DefaultDeserializer(bytes);
    deserializer.readHeader();
    return deserializer.readValue();
  },
});
host.bindings.serdes = () => ({ Serializer, Deserializer });
})
