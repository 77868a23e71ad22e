// The bindings for bytes and texts: buffer, string_decoder, encoding_binding and url.
(function (native, host) {
'use strict';

// Scripts may delete these, so they are kept here.
const { ArrayBuffer, Uint8Array } = globalThis;
const { max, min, trunc } = Math;
const { isView } = ArrayBuffer;
const view = (v) => v instanceof Uint8Array ? v :
  isView(v) ? new Uint8Array(v.buffer, v.byteOffset, v.byteLength) : new Uint8Array(v);
host.view = view;
const bytesOf = (text, encoding) => new Uint8Array(native.encode(text, encoding));

const ENCODINGS = ['ascii', 'utf8', 'base64', 'ucs2', 'latin1', 'hex', 'buffer', 'base64url'];

function outOfRange(name) {
  const { ERR_OUT_OF_RANGE } = host.require('internal/errors').codes;
  return new ERR_OUT_OF_RANGE(name, '>= 0 and within bounds', NaN);
}

function slicer(encoding) {
  return function(buffer, start, end) {
    // Node's slices are methods in some places and functions in others.
    if (!isView(buffer)) { end = start; start = buffer; buffer = this; }
    const bytes = view(buffer);
    start = start === undefined ? 0 : max(0, trunc(start) || 0);
    end = end === undefined ? bytes.length : min(trunc(end) || 0, bytes.length);
    return start >= end ? '' : native.decode(bytes, encoding, start, end);
  };
}

function writer(encoding) {
  const unit = encoding === 'ucs2' ? 2 : 1;
  return function(buffer, string, offset, length) {
    if (!isView(buffer)) { length = offset; offset = string; string = buffer; buffer = this; }
    if (typeof string !== 'string') {
      const { ERR_INVALID_ARG_TYPE } = host.require('internal/errors').codes;
      throw new ERR_INVALID_ARG_TYPE('argument', 'string', string);
    }
    const target = view(buffer);
    offset = offset === undefined ? 0 : trunc(offset);
    if (offset > target.length) throw outOfRange('offset');
    const room = min(length === undefined ? Infinity : trunc(length), target.length - offset);
    let bytes = bytesOf(string, encoding);
    if (bytes.length > room) bytes = bytes.subarray(0, encoding === 'utf8' ? wholeUtf8(bytes, room) : room - room % unit);
    target.set(bytes, offset);
    return bytes.length;
  };
}

// Returns the end of the last whole character in the first `room` bytes.
function wholeUtf8(bytes, room) {
  let end = room;
  while (end > 0 && (bytes[end] & 0xc0) === 0x80) end--;
  return end;
}

// Returns the first position at or after `offset` if `forward`, otherwise the last one at or before
// it. Returns -1 if there is none.
function search(bytes, needle, offset, forward, step = 1) {
  const { length } = bytes;
  offset = trunc(offset);
  if (offset < 0) offset += length;
  if (offset < 0) {
    if (!forward) return -1;
    offset = 0;
  }
  if (offset > length) {
    if (forward) return -1;
    offset = length;
  }
  if (needle.length === 0) return offset;
  if (needle.length > length) return -1;
  if (forward && offset + needle.length > length) return -1;
  if (!forward) offset = min(offset, length - needle.length);
  if (forward && step === 1) return native.find(bytes, needle, offset);
  const move = forward ? step : -step;
  if (step > 1 && offset % step !== 0) offset += forward ? step - offset % step : -(offset % step);
  for (let at = offset; at >= 0 && at + needle.length <= length; at += move) {
    let i = 0;
    while (i < needle.length && bytes[at + i] === needle[i]) i++;
    if (i === needle.length) return at;
  }
  return -1;
}

function encodingName(encoding) {
  return typeof encoding === 'number' ? ENCODINGS[encoding] : String(encoding);
}

function needleOf(text, encoding) {
  const name = encodingName(encoding);
  if (name === 'base64url') return bytesOf(text, 'base64');
  return bytesOf(text, name === 'ascii' ? 'latin1' : name === 'utf16le' ? 'ucs2' : name);
}

function swap(size) {
  return (buffer) => {
    const bytes = view(buffer);
    for (let i = 0; i + size <= bytes.length; i += size) bytes.subarray(i, i + size).reverse();
    return buffer;
  };
}

// The encodings have the same numbers in `internal/util` and in the table of string_decoder.
host.bindings.buffer = () => ({
  setBufferPrototype(prototype) { host.bufferPrototype = prototype; },
  kMaxLength: 0x7fffffff,
  kStringMaxLength: 0x3fffffff,
  byteLengthUtf8: native.utf8Length,
  isUtf8: (v) => native.isUtf8(view(v)),
  isAscii: (v) => view(v).every((b) => b < 0x80),
  createUnsafeArrayBuffer: (size) => new ArrayBuffer(size),
  copy(source, target, targetStart, sourceStart, count) {
    view(target).set(view(source).subarray(sourceStart, sourceStart + count), targetStart);
    return count;
  },
  copyArrayBuffer(target, targetOffset, source, sourceOffset, count) {
    new Uint8Array(target, targetOffset, count).set(new Uint8Array(source, sourceOffset, count));
  },
  compare: (a, b) => native.compare(view(a), view(b)),
  compareOffset(source, target, targetStart, sourceStart, targetEnd, sourceEnd) {
    return native.compare(view(source).subarray(sourceStart, sourceStart + sourceEnd),
                        view(target).subarray(targetStart, targetStart + targetEnd));
  },
  fill(buffer, value, offset, end, encoding) {
    const target = view(buffer);
    if (offset < 0 || end > target.length) return -2;
    if (offset >= end) return;
    if (typeof value === 'number' || typeof value === 'boolean') {
      target.fill(value & 255, offset, end);
      return;
    }
    const bytes = typeof value === 'string' ? needleOf(value, encoding ?? 'utf8') : view(value).slice();
    if (bytes.length === 0) return -1;
    let at = offset;
    for (; at + bytes.length <= end; at += bytes.length) target.set(bytes, at);
    target.set(bytes.subarray(0, end - at), at);
  },
  indexOfNumber: (buffer, n, offset, forward) => search(view(buffer), [n & 255], offset, forward),
  indexOfBuffer: (buffer, value, offset, encoding, forward) =>
    search(view(buffer), view(value), offset, forward, encodingName(encoding) === 'ucs2' ? 2 : 1),
  indexOfString(buffer, text, offset, encoding, forward) {
    const name = encodingName(encoding);
    return search(view(buffer), needleOf(text, encoding), offset, forward, name === 'ucs2' || name === 'utf16le' ? 2 : 1);
  },
  swap16: swap(2),
  swap32: swap(4),
  swap64: swap(8),
  atob(input) {
    const text = input.replace(/[\t\n\f\r ]/g, '');
    const bare = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
    if (/[^A-Za-z0-9+/]/.test(bare)) return -1;
    if (bare.length % 4 === 1) return -3;
    return native.decode(bytesOf(bare, 'base64'), 'latin1', 0, 0x7fffffff);
  },
  btoa(input) {
    for (let i = 0; i < input.length; i++) if (input.charCodeAt(i) > 255) return -1;
    return native.decode(bytesOf(input, 'latin1'), 'base64', 0, 0x7fffffff);
  },
  asciiSlice: slicer('ascii'),
  base64Slice: slicer('base64'),
  base64urlSlice: slicer('base64url'),
  latin1Slice: slicer('latin1'),
  hexSlice: slicer('hex'),
  ucs2Slice: slicer('ucs2'),
  utf8Slice: slicer('utf8'),
  base64Write: writer('base64'),
  base64urlWrite: writer('base64'),
  hexWrite: writer('hex'),
  ucs2Write: writer('ucs2'),
  asciiWriteStatic: writer('latin1'),
  latin1WriteStatic: writer('latin1'),
  utf8WriteStatic: writer('utf8'),
  utf8Write: writer('utf8'),
  setDetachKey() {},
  getZeroFillToggle: () => undefined,
});

// --- string_decoder: the state is a buffer of seven bytes ------------------------------

host.bindings.string_decoder = (table) => {
  const { kMissingBytes, kBufferedBytes, kEncodingField, encodings } = table;
  const UNIT = { utf16le: 2, base64: 3, base64url: 3, utf8: 4 };
  // Returns the number of bytes at the end of `b` that begin an incomplete character, and the
  // number that it lacks.
  const unfinished = (b, encoding) => {
    if (encoding === 'utf8') {
      for (let back = 1; back <= min(3, b.length); back++) {
        const c = b[b.length - back];
        if ((c & 0xc0) === 0x80) continue;
        const need = c >= 0xf0 && c <= 0xf4 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc2 && c < 0xe0 ? 2 : 1;
        return need > back && couldGoOn(b, b.length - back) ? [back, need - back] : [0, 0];
      }
      return [0, 0];
    }
    if (encoding === 'utf16le') {
      const odd = b.length % 2;
      const at = b.length - odd - 2;
      if (at >= 0 && (b[at + 1] & 0xfc) === 0xd8) return [odd + 2, 2 - odd];
      return odd ? [1, 1] : [0, 0];
    }
    const left = b.length % (UNIT[encoding] ?? 1);
    return left ? [left, UNIT[encoding] - left] : [0, 0];
  };
  // Returns whether the byte after the one at `at` may belong to the same character (Unicode,
  // table 3-7).
  const couldGoOn = (b, at) => {
    if (at + 1 >= b.length) return true;
    const first = b[at];
    const second = b[at + 1];
    if (first === 0xe0) return second >= 0xa0;
    if (first === 0xed) return second <= 0x9f;
    if (first === 0xf0) return second >= 0x90;
    if (first === 0xf4) return second <= 0x8f;
    return true;
  };
  const NATIVE = { utf16le: 'ucs2' };
  const text = (bytes, encoding) => bytes.length === 0 ? '' :
    native.decode(bytes, NATIVE[encoding] ?? encoding, 0, bytes.length);
  return {
    decode(state, chunk) {
      const encoding = encodings[state[kEncodingField]];
      let bytes = view(chunk);
      const kept = state[kBufferedBytes];
      if (UNIT[encoding] === undefined) return text(bytes, encoding);
      if (kept > 0) {
        const joined = new Uint8Array(kept + bytes.length);
        joined.set(state.subarray(0, kept));
        joined.set(bytes, kept);
        bytes = joined;
      }
      const { 0: rest, 1: missing } = unfinished(bytes, encoding);
      state.set(bytes.subarray(bytes.length - rest), 0);
      state[kBufferedBytes] = rest;
      state[kMissingBytes] = missing;
      return text(bytes.subarray(0, bytes.length - rest), encoding);
    },
    flush(state) {
      const encoding = encodings[state[kEncodingField]];
      let kept = state.subarray(0, state[kBufferedBytes]);
      if (encoding === 'utf16le' && kept.length % 2 === 1) kept = kept.subarray(0, kept.length - 1);
      const out = text(kept.slice(), encoding);
      state[kBufferedBytes] = 0;
      state[kMissingBytes] = 0;
      return out;
    },
  };
};

// --- TextEncoder, TextDecoder ----------------------------------------------------------

host.bindings.encoding_binding = (table) => ({
  encodeInto(source, target) {
    const bytes = bytesOf(source, 'utf8');
    const end = bytes.length <= target.length ? bytes.length : wholeUtf8(bytes, target.length);
    target.set(bytes.subarray(0, end));
    table.encodeIntoResults[0] = end === bytes.length ? source.length : native.decode(bytes, 'utf8', 0, end).length;
    table.encodeIntoResults[1] = end;
  },
  encodeUtf8String: (text) => bytesOf(text, 'utf8'),
  decodeUTF8(input, ignoreBom, fatal) {
    const { ERR_INVALID_ARG_TYPE, ERR_ENCODING_INVALID_ENCODED_DATA } = host.require('internal/errors').codes;
    if (!isView(input) && !host.types.isAnyArrayBuffer(input)) {
      throw new ERR_INVALID_ARG_TYPE('list', ['SharedArrayBuffer', 'ArrayBuffer', 'ArrayBufferView'], input);
    }
    const bytes = view(input);
    if (fatal && !native.isUtf8(bytes)) throw new ERR_ENCODING_INVALID_ENCODED_DATA('utf-8', undefined);
    const start = !ignoreBom && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
    return native.decode(bytes, 'utf8', start, bytes.length);
  },
  // Names that are already ASCII are only converted to lower case.
  toASCII: (text) => (/^(?!.*xn--)[\0-\x7f]*$/i.test(text) ? text.toLowerCase() : native.domainToASCII(text)),
  toUnicode: native.domainToUnicode,
});

// --- icu: decoders, transcoding, widths --------------------------------------------------

// Decoders live as long as the object with their number.
let decoders;

// Returns whether a terminal shows a character in two columns or in none.
const isWide = (point) => /\p{Emoji_Presentation}/u.test(String.fromCodePoint(point)) || (point >= 0x1100 && (
  point <= 0x115f || (point >= 0x2e80 && point <= 0x3247 && point !== 0x303f) || (point >= 0x3250 && point <= 0x4dbf) ||
  (point >= 0x4e00 && point <= 0xa4c6) || (point >= 0xa960 && point <= 0xa97c) || (point >= 0xac00 && point <= 0xd7a3) ||
  (point >= 0xf900 && point <= 0xfaff) || (point >= 0xfe10 && point <= 0xfe19) || (point >= 0xfe30 && point <= 0xfe6b) ||
  (point >= 0xff01 && point <= 0xff60) || (point >= 0xffe0 && point <= 0xffe6) || (point >= 0x1b000 && point <= 0x1b2ff) ||
  (point >= 0x1f200 && point <= 0x1f251) || (point >= 0x20000 && point <= 0x3fffd)));
const isNarrowless = (character) => /^[\p{Cc}\p{Mn}\p{Me}\p{Cf}]$/u.test(character) && character !== '\xad';

// The encodings of `buffer.transcode`, and the largest code point of each.
const LARGEST = { ascii: 0x7f, latin1: 0xff, binary: 0xff, ucs2: 0x10ffff, utf16le: 0x10ffff, utf8: 0x10ffff };

host.bindings.icu = () => ({
  icuErrName: (number) => number === 1 ? 'U_ILLEGAL_ARGUMENT_ERROR' : 'U_INTERNAL_PROGRAM_ERROR',
  hasConverter: (name) => {
    const number = native.openDecoder(name, false, false);
    if (number !== undefined && number !== null) native.closeDecoder(number);
    return number !== undefined && number !== null;
  },
  getConverter(label, flags) {
    const number = native.openDecoder(label, (flags & 2) !== 0, (flags & 4) !== 0);
    if (number === undefined || number === null) return undefined;
    decoders ??= new FinalizationRegistry(native.closeDecoder);
    const handle = { number };
    decoders.register(handle, number);
    return handle;
  },
  decode({ number }, input, flags, encoding) {
    const { ERR_INVALID_ARG_TYPE, ERR_ENCODING_INVALID_ENCODED_DATA } = host.require('internal/errors').codes;
    if (!isView(input) && !host.types.isAnyArrayBuffer(input)) {
      throw new ERR_INVALID_ARG_TYPE('input', ['SharedArrayBuffer', 'ArrayBuffer', 'ArrayBufferView'], input);
    }
    const text = native.decodeText(number, view(input), (flags & 1) !== 0);
    if (text === undefined || text === null) throw new ERR_ENCODING_INVALID_ENCODED_DATA(encoding, undefined);
    return text;
  },
  transcode(source, from, to) {
    const most = LARGEST[to];
    if (LARGEST[from] === undefined || most === undefined) return 1;
    const { Buffer } = host.require('buffer');
    const text = Buffer.from(source.buffer, source.byteOffset, source.byteLength).toString(from);
    // What the other encoding lacks becomes a question mark.
    return Buffer.from(most > 0xff ? text : text.replace(/[\s\S]/gu, (character) => character.codePointAt(0) > most ? '?' : character), to);
  },
  getStringWidth(text) {
    let width = 0;
    for (let i = 0; i < text.length;) {
      const point = text.codePointAt(i);
      const character = String.fromCodePoint(point);
      if (isWide(point)) width += 2;
      else if (!isNarrowless(character)) width++;
      i += character.length;
    }
    return width;
  },
});

// --- URL ---------------------------------------------------------------------------------

// Node keeps the text of a URL and the offsets of its parts. The offsets are those that the library
// ada would return.
const OMITTED = 0xffffffff;
const TYPES = ['http:', ' ', 'https:', 'ws:', 'ftp:', 'wss:', 'file:'];

function setComponents(target, parts) {
  const { 0: href, 1: protocol, 2: username, 3: password, 4: hostname, 5: port, 6: pathname } = parts;
  const protocolEnd = protocol.length;
  const hasHost = href.startsWith('//', protocolEnd);
  let usernameEnd;
  let hostStart;
  let at = protocolEnd;
  if (hasHost) {
    at += 2;
    usernameEnd = at + username.length;
    hostStart = usernameEnd;
    if (password !== '') hostStart += 1 + password.length;
  } else {
    usernameEnd = hostStart = protocolEnd;
  }
  let hostEnd = hostStart;
  if (hasHost) hostEnd = hostStart + (username !== '' || password !== '' ? 1 : 0) + hostname.length;
  let pathStart = hostEnd;
  if (port !== '') pathStart += 1 + port.length;
  // A URL without a host has `/.` before a path that begins with two slashes.
  if (!hasHost && href.startsWith('/.//', pathStart)) pathStart += 2;
  const afterPath = pathStart + pathname.length;
  target[0] = protocolEnd;
  target[1] = usernameEnd;
  target[2] = hostStart;
  target[3] = hostEnd;
  target[4] = port === '' ? OMITTED : Number(port);
  target[5] = pathStart;
  const searchAt = href[afterPath] === '?' ? afterPath : -1;
  const hashAt = href.indexOf('#', afterPath);
  target[6] = searchAt === -1 ? OMITTED : searchAt;
  target[7] = hashAt === -1 ? OMITTED : hashAt;
  const type = TYPES.indexOf(protocol);
  target[8] = type === -1 ? 1 : type;
  return href;
}

const ACTIONS = ['protocol', 'host', 'hostname', 'port', 'username', 'password', 'pathname', 'search', 'hash', 'href'];

host.bindings.url = (table) => {
  const components = table.urlComponents;
  const parse = (input, base, raise) => {
    const parts = native.parseUrl(input, base);
    if (parts !== null && parts !== undefined) return setComponents(components, parts);
    if (!raise) return undefined;
    const { ERR_INVALID_URL } = host.require('internal/errors').codes;
    throw new ERR_INVALID_URL(input, base ?? undefined);
  };
  return {
    parse,
    canParse: (input, base) => (native.parseUrl(input, base) ?? null) !== null,
    domainToASCII: native.domainToASCII,
    domainToUnicode: native.domainToUnicode,
    getOrigin(href) {
      const { URL } = host.require('internal/url');
      return new URL(href).origin;
    },
    pathToFileURL(path, windows, base) {
      const escaped = path.replace(/[%\\\n\r\t?#]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0'));
      void base;
      return parse(`file://${escaped}`, undefined, true);
    },
    format(href, hash, unicode, search, auth) {
      let url = native.parseUrl(href, undefined);
      const set = (part, value) => { url = native.updateUrl(url[0], part, value) ?? url; };
      if (!hash) set('hash', '');
      if (!search) set('search', '');
      if (!auth) { set('username', ''); set('password', ''); }
      if (!unicode) return url[0];
      const host = url[4];
      return host === '' ? url[0] : url[0].replace(host, native.domainToUnicode(host));
    },
    update(href, action, value) {
      const parts = native.updateUrl(href, ACTIONS[action], value);
      if (parts === null || parts === undefined) return false;
      return setComponents(components, parts);
    },
  };
};
})
