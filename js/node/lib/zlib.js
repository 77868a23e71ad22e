// The binding zlib: Node's handles for streams of deflate.
(function (native, host) {
'use strict';

const NONE = 0, DEFLATE = 1, INFLATE = 2, GZIP = 3, GUNZIP = 4, DEFLATERAW = 5, INFLATERAW = 6, UNZIP = 7;
const Z_FINISH = 4, Z_OK = 0, Z_STREAM_END = 1, Z_NEED_DICT = 2, Z_DATA_ERROR = -3, Z_BUF_ERROR = -5;
const WRAP = { [DEFLATE]: 'zlib', [INFLATE]: 'zlib', [GZIP]: 'gzip', [GUNZIP]: 'gzip', [DEFLATERAW]: 'raw', [INFLATERAW]: 'raw' };
const NAMES = { [Z_NEED_DICT]: 'Z_NEED_DICT', [Z_DATA_ERROR]: 'Z_DATA_ERROR', [Z_BUF_ERROR]: 'Z_BUF_ERROR' };

class Zlib {
  constructor(mode) { this.mode = mode; }
  getAsyncId() { return 0; }

  init(windowBits, level, memLevel, strategy, result, callback, dictionary) {
    Object.assign(this, { windowBits, level, result, callback, dictionary });
    this.start();
  }

  start() {
    this.deflates = [DEFLATE, GZIP, DEFLATERAW].includes(this.mode);
    this.decided = this.mode === UNZIP ? NONE : this.mode;
    this.head = [];
    this.ended = false;
    this.stream = undefined;
    if (this.decided !== NONE) this.open();
  }

  open() {
    this.stream = native.deflateStream(this.deflates, WRAP[this.decided], this.level ?? -1, this.windowBits || 15);
    const raw = this.decided === DEFLATERAW || this.decided === INFLATERAW;
    if (this.dictionary && (this.deflates || raw)) this.setDictionary();
  }

  setDictionary() {
    const bytes = host.view(this.dictionary);
    return this.stream(bytes, [0, bytes.length], bytes, [0, 0], 255)[0] === 1;
  }

  // Detects the format by the first bytes, as zlib does, and opens the stream.
  decide(input, at, length) {
    if (length === 0) return;
    const second = length > 1 ? input[at + 1] : 0x8b;
    this.decided = input[at] === 0x1f && second === 0x8b ? GUNZIP : INFLATE;
    this.open();
  }

  // Runs one call of `write`: until the input is used up or the output is full.
  run(flush, input, inOff, inLength, out, outOff, outLength) {
    const bytes = input === null || input === undefined ? new Uint8Array(0) : host.view(input);
    const target = host.view(out);
    let left = inLength;
    let room = outLength;
    let code = Z_OK;
    if (this.stream === undefined) this.decide(bytes, inOff, left);
    while (this.stream !== undefined && !this.ended) {
      const { 0: read, 1: wrote, 2: state } = this.stream(bytes, [inOff + inLength - left, left], target, [outOff + outLength - room, room], flush);
      left -= read;
      room -= wrote;
      if (state === 3) {
        if (this.dictionary === undefined) { code = Z_NEED_DICT; break; }
        if (!this.setDictionary()) { code = Z_DATA_ERROR; this.badDictionary = true; break; }
        continue;
      }
      if (state === 4) { code = Z_DATA_ERROR; break; }
      if (state === 1) {
        // Another member may follow in a gzip file.
        const at = inOff + inLength - left;
        if (this.decided === GUNZIP && left > 0 && bytes[at] !== 0) {
          this.open();
          continue;
        }
        this.ended = true;
        code = Z_STREAM_END;
        break;
      }
      if (room === 0 || (left === 0 && (read === 0 && wrote === 0 || flush !== Z_FINISH && room > 0))) {
        if (state === 2 || (read === 0 && wrote === 0)) code = room === 0 ? Z_OK : Z_BUF_ERROR;
        break;
      }
      if (read === 0 && wrote === 0) { code = Z_BUF_ERROR; break; }
    }
    this.result[0] = room;
    this.result[1] = left;
    return this.check(code, flush, room);
  }

  // Reports the error that Node makes from zlib's code, and returns false; returns true if there is
  // no error.
  check(code, flush, room) {
    if (code === Z_BUF_ERROR || code === Z_OK) {
      if (flush === Z_FINISH && room !== 0 && !this.deflates && !this.ended) return this.fail('unexpected end of file', Z_BUF_ERROR);
      return true;
    }
    if (code === Z_STREAM_END) return true;
    if (code === Z_NEED_DICT) return this.fail('Missing dictionary', Z_NEED_DICT);
    if (this.badDictionary) return this.fail('Bad dictionary', Z_DATA_ERROR);
    return this.fail(this.decided === INFLATE || this.decided === GUNZIP ? 'incorrect header check' : 'invalid stored block lengths', code);
  }

  fail(message, code) {
    this.onerror(message, code, NAMES[code]);
    return false;
  }

  writeSync(flush, input, inOff, inLength, out, outOff, outLength) {
    this.run(flush, input, inOff, inLength, out, outOff, outLength);
  }

  write(flush, input, inOff, inLength, out, outOff, outLength) {
    host.later(() => {
      if (this.closed) return;
      if (this.run(flush, input, inOff, inLength, out, outOff, outLength)) this.callback.call(this);
    });
  }

  params(level) {
    this.level = level;
    return undefined;
  }
  reset() { this.start(); }
  close() {
    this.closed = true;
    this.stream = undefined;
  }
}

host.bindings.zlib = () => ({
  Zlib,
  crc32: (data, seed) => native.crc32(typeof data === 'string' ? new Uint8Array(native.encode(data, 'utf8')) : host.view(data), seed ?? 0),
});
})
