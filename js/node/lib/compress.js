// The rest of the binding zlib: handles for streams of Brotli and Zstandard.
(function (native, host) {
'use strict';

const FINISH = 2;
const Z_BUF_ERROR = -5;
// States of a native stream: END is its end, and DONE means that everything has been written.
// FAILED and higher states are errors; from ERRORS on, the library's number of the error is added.
const END = 1, DONE = 2, FAILED = 4, ERRORS = 1000;

// The names of the errors of Brotli's decompressor, by number.
const FORMATS = [
  '', 'EXUBERANT_NIBBLE', 'RESERVED', 'EXUBERANT_META_NIBBLE', 'SIMPLE_HUFFMAN_ALPHABET', 'SIMPLE_HUFFMAN_SAME', 'CL_SPACE',
  'HUFFMAN_SPACE', 'CONTEXT_MAP_REPEAT', 'BLOCK_LENGTH_1', 'BLOCK_LENGTH_2', 'TRANSFORM', 'DICTIONARY', 'WINDOW_BITS',
  'PADDING_1', 'PADDING_2', 'DISTANCE',
];
// The names and messages of the errors of Zstandard (zstd_errors.h), by number.
const ZSTD = {
  __proto__: null,
  10: ['prefix_unknown', 'Unknown frame descriptor'],
  12: ['version_unsupported', 'Version not supported'],
  14: ['frameParameter_unsupported', 'Unsupported frame parameter'],
  16: ['frameParameter_windowTooLarge', 'Frame requires too much memory for decoding'],
  20: ['corruption_detected', 'Data corruption detected'],
  22: ['checksum_wrong', "Restored data doesn't match checksum"],
  30: ['dictionary_corrupted', 'Dictionary is corrupted'],
  32: ['dictionary_wrong', 'Dictionary mismatch'],
  64: ['memory_allocation', 'Allocation error : not enough memory'],
  72: ['srcSize_wrong', 'Src size is incorrect'],
};

function initializationFailed(message) {
  return Object.assign(new Error(message), { code: 'ERR_ZLIB_INITIALIZATION_FAILED' });
}

// The common part of all handles. Their method `start` makes the native stream.
class Handle {
  getAsyncId() { return 0; }

  begin(result, callback) {
    Object.assign(this, { result, callback });
    this.reset();
  }

  reset() {
    this.stream = this.start();
    this.ended = false;
  }

  // Runs one call of `write`: until the input is used up or the output is full.
  run(flush, input, inOff, inLength, out, outOff, outLength) {
    const bytes = input === null || input === undefined ? new Uint8Array(0) : host.view(input);
    const target = host.view(out);
    let left = inLength;
    let room = outLength;
    let error;
    while (!this.ended && room > 0) {
      const { 0: read, 1: wrote, 2: state } = this.stream(bytes, [inOff + inLength - left, left], target, [outOff + outLength - room, room], flush);
      left -= read;
      room -= wrote;
      if (state >= FAILED) {
        error = this.errorOf(state);
        break;
      }
      if (state === END || state === DONE && flush === FINISH) this.ended = true;
      if (state !== 0 || read === 0 && wrote === 0) break;
    }
    this.result[0] = room;
    this.result[1] = left;
    if (error === undefined && this.needsEnd && flush === FINISH && !this.ended && room > 0) {
      error = ['unexpected end of file', Z_BUF_ERROR, 'Z_BUF_ERROR'];
    }
    if (error !== undefined) this.onerror(...error);
    return error === undefined;
  }

  writeSync(flush, ...where) { this.run(flush, ...where); }

  write(flush, ...where) {
    host.later(() => {
      if (this.closed) return;
      if (this.run(flush, ...where)) this.callback.call(this);
    });
  }

  params() {}
  close() {
    this.closed = true;
    this.stream = undefined;
  }
}

class Brotli extends Handle {
  init(params, result, callback) {
    const given = (index, standard) => params[index] === 0xffffffff ? standard : params[index];
    // BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING is a flag. Brotli's own library refuses other
    // values, too.
    if (this.compresses && given(4, 0) > 1) throw initializationFailed('Initialization failed');
    this.quality = this.compresses ? Math.min(given(1, 11), 11) : -1;
    this.window = given(2, 22);
    this.begin(result, callback);
  }
  start() { return native.brotliStream(this.quality, this.window); }
  errorOf(state) {
    const name = FORMATS[state - ERRORS];
    return ['Decompression failed', ERRORS - state, `ERR_${name === undefined ? '_ERROR_UNREACHABLE' : `_ERROR_FORMAT_${name}`}`];
  }
}
class BrotliEncoder extends Brotli {}
BrotliEncoder.prototype.compresses = true;
class BrotliDecoder extends Brotli {}
// An incomplete stream is an error in Brotli only. For Zstandard, Node returns the data so far.
BrotliDecoder.prototype.needsEnd = true;

class Zstd extends Handle {
  init(params, pledged, result, callback, dictionary) {
    this.parameters = [...params].flatMap((value, number) => value === 0xffffffff ? [] : [number, value | 0]);
    this.pledged = pledged;
    this.dictionary = dictionary === undefined ? new Uint8Array(0) : host.view(dictionary);
    this.begin(result, callback);
  }
  start() {
    const stream = native.zstdStream(this.compresses === true, this.parameters, this.pledged, this.dictionary);
    if (typeof stream !== 'function') throw initializationFailed('Setting parameter failed');
    return stream;
  }
  errorOf(state) {
    const [name, message] = ZSTD[state - ERRORS] ?? ['GENERIC', 'Error (generic)'];
    return [message, state - ERRORS, `ZSTD_error_${name}`];
  }
}
class ZstdCompress extends Zstd {}
ZstdCompress.prototype.compresses = true;
class ZstdDecompress extends Zstd {}

const { zlib } = host.bindings;
host.bindings.zlib = (table) => ({ ...zlib(table), BrotliEncoder, BrotliDecoder, ZstdCompress, ZstdDecompress });
})
