// The binding http_parser: parses messages of HTTP/1 (RFC 9112). Node's library passes received
// bytes to `execute`, and gets heads and bodies by callbacks. The codes and texts of errors are
// llhttp's, because programs look at them.
//
// The parser is strict where a message could be read in two ways: it requires CRLF and only one
// length, and allows no blanks around names.
(function (native, host) {
'use strict';

const REQUEST = 1;
const [ON_BEGIN, ON_TRAILER, ON_HEAD, ON_BODY, ON_END] = [0, 1, 2, 3, 4];
const LENIENT = { headers: 1, chunkedLength: 2, keepAlive: 4, transferEncoding: 8, afterClose: 32, loneLF: 64 };
// The default maximum number of bytes of a head.
const MOST_HEAD = 16 << 10;
// The maximum number of bytes of a chunk's extensions.
const MOST_EXTENSIONS = 16 << 10;
const LF = 10;
const CR = 13;

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

class ParseError extends Error {}

// Throws a parse error. `parsed` may be a function that returns the number of parsed bytes for the
// number of bytes that are left.
function fail(code, reason, parsed) {
  const error = new ParseError(`Parse Error: ${reason}`);
  if (parsed) error.parsed = parsed;
  error.code = code;
  error.reason = reason;
  throw error;
}

// Returns the length of the longest prefix of a text with which a method begins.
function begunOf(text) {
  const { allMethods } = host.binding('http_parser');
  let n = 0;
  while (n < text.length && allMethods.some((m) => m.startsWith(text.slice(0, n + 1)))) n++;
  return n;
}

const text = (bytes, from, to) => native.decode(bytes, 'latin1', from, to);

class HTTPParser {
  #type;
  #most;
  #lenient = 0;
  #list;
  #state = 'start';
  // The pieces of an incomplete line.
  #part = [];
  // The number of bytes of the head so far.
  #head = 0;
  #extensions = 0;
  #left = 0;
  #keeps = true;
  #upgrades = false;
  #isTrailer = false;
  #message;
  #current;
  #error;
  #begun = 0;
  #headDone = false;
  // The frame of asynchronous context in which the callbacks run.
  #frame;

  initialize(type, resource, most, lenient, list) {
    this.#type = type;
    this.#most = most > 0 ? most : host.require('internal/options').getOptionValue('--max-http-header-size') || MOST_HEAD;
    this.#lenient = lenient ?? 0;
    this.#state = 'start';
    this.#part = [];
    this.#list = list;
    this.#headDone = false;
    this.#frame = host.frame();
    // A connection without data counts as a request that has begun.
    this.#begun = list ? performance.now() : 0;
    list?.add(this);
  }

  get begun() { return this.#begun; }
  get headDone() { return this.#headDone; }
  close() { this.remove(); }
  free() {}
  remove() {
    this.#list?.remove(this);
    this.#list = undefined;
  }
  pause() {}
  resume() {}
  consume() {}
  unconsume() {}
  getCurrentBuffer() { return this.#current; }
  duration() { return this.#begun === 0 ? 0 : performance.now() - this.#begun; }
  headersCompleted() { return this.#headDone; }

  // Parses bytes. Returns the number of bytes that are HTTP, which is less than the number of all
  // bytes if another protocol begins. Returns an error if the bytes are not valid HTTP.
  execute(data) { return host.within(this.#frame, () => this.#parse(data)); }

  #parse(data) {
    const bytes = host.view(data);
    this.#current = data;
    let at = 0;
    try {
      while (at < bytes.length && this.#state !== 'upgraded') at = this.#step(bytes, at);
      return at;
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      error.bytesParsed = at + (error.parsed?.(bytes.length - at) ?? 0);
      delete error.parsed;
      Object.setPrototypeOf(error, Error.prototype);
      this.#state = 'broken';
      this.#error = error;
      return error;
    } finally {
      this.#current = undefined;
    }
  }

  // Ends the input. Returns an error if a message is incomplete.
  finish() {
    if (this.#state === 'until end') {
      host.within(this.#frame, () => this.#complete());
      return undefined;
    }
    if (['start', 'closed', 'upgraded', 'broken'].includes(this.#state)) return undefined;
    const error = new Error('Parse Error: Invalid EOF state');
    return Object.assign(error, { code: 'HPE_INVALID_EOF_STATE', reason: 'Invalid EOF state', bytesParsed: 0 });
  }

  #step(bytes, at) {
    switch (this.#state) {
      case 'start': return this.#start(bytes, at);
      case 'first': case 'field': case 'size': case 'after chunk': return this.#line(bytes, at);
      case 'length': case 'chunk': return this.#body(bytes, at);
      case 'until end':
        this[ON_BODY]?.(bytes.subarray(at));
        return bytes.length;
      case 'closed':
        if (bytes[at] === CR || bytes[at] === LF) return at + 1;
        if (this.#lenient & LENIENT.afterClose) return bytes.length;
        return fail('HPE_CLOSED_CONNECTION', 'Data after `Connection: close`');
      default: return fail(this.#error.code, this.#error.reason);
    }
  }

  #start(bytes, at) {
    // Empty lines before a message are skipped.
    if (bytes[at] === CR || bytes[at] === LF) return at + 1;
    this.#message = { headers: [] };
    this.#head = 0;
    this.#headDone = false;
    this.#isTrailer = false;
    this.#begun = performance.now();
    this.#state = 'first';
    this[ON_BEGIN]?.();
    return at;
  }

  // Consumes a whole line, or the part of it that has arrived.
  #line(bytes, at) {
    const end = bytes.indexOf(LF, at);
    const stop = end < 0 ? bytes.length : end + 1;
    this.#head += stop - at;
    if (this.#head > this.#most && this.#state !== 'size') fail('HPE_HEADER_OVERFLOW', 'Header overflow', (left) => left);
    this.#part.push(text(bytes, at, stop));
    if (end < 0) {
      if (this.#state === 'first') this.#checkBeginning(this.#part.join(''));
      else if (this.#state === 'size') this.#checkSize(this.#part.join(''));
      return stop;
    }
    let line = this.#part.join('');
    this.#part = [];
    if (line.at(-2) === '\r') line = line.slice(0, -2);
    else if (this.#lenient & LENIENT.loneLF) line = line.slice(0, -1);
    else fail('HPE_CR_EXPECTED', this.#state === 'field' ? 'Missing expected CR after header value' : 'Expected CRLF');
    switch (this.#state) {
      case 'first':
        if (this.#type === REQUEST) this.#request(line);
        else this.#status(line);
        this.#state = 'field';
        break;
      case 'field':
        if (line === '') this.#endOfHead();
        else this.#field(line);
        break;
      case 'size': this.#size(line); break;
      default:
        if (line !== '') fail('HPE_STRICT', 'Expected LF after chunk data');
        this.#state = 'size';
        this.#head = 0;
    }
    return stop;
  }

  // Refuses input that cannot become a message, before its line is complete.
  #checkBeginning(begin) {
    if (this.#type !== REQUEST) {
      if (!'HTTP/'.startsWith(begin.slice(0, 5))) fail('HPE_INVALID_CONSTANT', 'Expected HTTP/, RTSP/ or ICE/');
      return;
    }
    const [word, rest] = begin.split(/ (.*)/s);
    const { allMethods } = host.binding('http_parser');
    if (rest === undefined ? !allMethods.some((m) => m.startsWith(word)) : !allMethods.includes(word)) {
      fail('HPE_INVALID_METHOD', 'Invalid method encountered', () => begunOf(begin));
    }
  }

  #version(major, minor) {
    const version = `${major}.${minor}`;
    if (!['0.9', '1.0', '1.1', '2.0'].includes(version)) fail('HPE_INVALID_VERSION', 'Invalid HTTP version');
    Object.assign(this.#message, { major: Number(major), minor: Number(minor) });
  }

  #request(line) {
    const [, method, target, rest] = /^(\S*) ?(\S*)(.*)$/s.exec(line);
    const { allMethods } = host.binding('http_parser');
    if (!allMethods.includes(method)) fail('HPE_INVALID_METHOD', 'Invalid method encountered', () => begunOf(line));
    if (target === '' || /[\x00-\x20\x7f]/.test(target)) fail('HPE_INVALID_URL', 'Unexpected start char in url');
    if (method !== 'CONNECT' && !/^(?:[/*]|[a-z][a-z\d+.-]*:\/\/)/i.test(target)) fail('HPE_INVALID_URL', 'Unexpected start char in url');
    const found = /^ HTTP\/(\d)\.(\d)$/.exec(rest);
    if (found === null) {
      if (!rest.startsWith(' HTTP/')) fail('HPE_INVALID_CONSTANT', 'Expected HTTP/, RTSP/ or ICE/');
      fail('HPE_INVALID_VERSION', 'Invalid HTTP version');
    }
    this.#version(found[1], found[2]);
    Object.assign(this.#message, { method: allMethods.indexOf(method), url: target, isConnect: method === 'CONNECT' });
  }

  #status(line) {
    const found = /^HTTP\/(\d)\.(\d) (.*)$/s.exec(line);
    if (found === null) {
      fail(...(line.startsWith('HTTP/') ? ['HPE_INVALID_VERSION', 'Invalid HTTP version']
        : ['HPE_INVALID_CONSTANT', 'Expected HTTP/, RTSP/ or ICE/']));
    }
    this.#version(found[1], found[2]);
    const status = /^(\d{3})(?: (.*))?$/s.exec(found[3]);
    if (status === null) fail('HPE_INVALID_STATUS', 'Invalid status code');
    Object.assign(this.#message, { status: Number(status[1]), reason: status[2] ?? '' });
  }

  #field(line) {
    if (line.includes('\r') && !(this.#lenient & LENIENT.headers)) fail('HPE_LF_EXPECTED', 'Missing expected LF after header value');
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    if (colon < 0 || !TOKEN.test(name)) {
      if (this.#lenient & LENIENT.headers && /^[ \t]/.test(line) && this.#message.headers.length > 0) {
        const { headers } = this.#message;
        headers[headers.length - 1] += ` ${line.trim()}`;
        return;
      }
      fail('HPE_INVALID_HEADER_TOKEN', 'Invalid header token');
    }
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '');
    if (!(this.#lenient & LENIENT.headers) && !VALUE.test(value)) fail('HPE_INVALID_HEADER_TOKEN', 'Invalid header value char');
    this.#message.headers.push(name, value);
    if (this.#isTrailer) return;
    switch (name.toLowerCase()) {
      case 'content-length': this.#length(value); break;
      case 'transfer-encoding': this.#coding(value); break;
      case 'connection': this.#message.connection = `${this.#message.connection ?? ''},${value}`.toLowerCase(); break;
      case 'upgrade': this.#message.upgrade = true; break;
    }
  }

  #length(value) {
    if (!/^\d+$/.test(value)) fail('HPE_INVALID_CONTENT_LENGTH', 'Invalid character in Content-Length');
    if (this.#message.length !== undefined) fail('HPE_UNEXPECTED_CONTENT_LENGTH', 'Content-Length already present');
    if (this.#message.isChunked && !(this.#lenient & LENIENT.chunkedLength)) {
      fail('HPE_INVALID_CONTENT_LENGTH', "Content-Length can't be present with Transfer-Encoding");
    }
    const length = Number(value);
    if (!Number.isSafeInteger(length)) fail('HPE_INVALID_CONTENT_LENGTH', 'Content-Length overflow');
    this.#message.length = length;
  }

  #coding(value) {
    const codings = value.toLowerCase().split(',').map((c) => c.trim());
    this.#message.isChunked = codings.at(-1) === 'chunked';
    this.#message.isCoded = true;
    if (this.#message.length !== undefined && !(this.#lenient & LENIENT.chunkedLength)) {
      fail('HPE_INVALID_TRANSFER_ENCODING', "Transfer-Encoding can't be present with Content-Length");
    }
    if (codings.slice(0, -1).includes('chunked') && !(this.#lenient & LENIENT.transferEncoding)) {
      fail('HPE_INVALID_TRANSFER_ENCODING', 'Invalid `Transfer-Encoding` header value');
    }
  }

  #endOfHead() {
    if (this.#isTrailer) {
      const { headers } = this.#message;
      if (headers.length > 0) this[ON_TRAILER]?.(headers, '');
      this.#complete();
      return;
    }
    const m = this.#message;
    const isRequest = this.#type === REQUEST;
    if (isRequest && m.isCoded && !m.isChunked && !(this.#lenient & LENIENT.transferEncoding)) {
      fail('HPE_INVALID_TRANSFER_ENCODING', 'Request has invalid `Transfer-Encoding`');
    }
    const says = (m.connection ?? '').split(',').map((w) => w.trim());
    const isBodiless = !isRequest && (m.status < 200 || m.status === 204 || m.status === 304);
    const endless = !isRequest && !isBodiless && !m.isChunked && (m.isCoded || m.length === undefined);
    const wants = m.minor === 1 && m.major === 1 ? !says.includes('close') : says.includes('keep-alive');
    this.#keeps = wants && !endless;
    const upgrades = isRequest ? m.isConnect || (m.upgrade === true && says.includes('upgrade')) : m.status === 101;
    this.#headDone = true;
    const { headers } = m;
    m.headers = [];
    const answer = this[ON_HEAD]?.(m.major, m.minor, headers, isRequest ? m.method : undefined, isRequest ? m.url : undefined,
                                   isRequest ? undefined : m.status, isRequest ? undefined : m.reason, upgrades, this.#keeps);
    this.#upgrades = answer === 2 || (isRequest && m.isConnect);
    if (this.#upgrades || answer === 1 || isBodiless) this.#complete();
    else if (m.isChunked) this.#next('size');
    else if (endless) this.#state = 'until end';
    else if (m.length > 0) {
      this.#left = m.length;
      this.#state = 'length';
    } else this.#complete();
  }

  #next(state) {
    this.#state = state;
    this.#head = 0;
    this.#extensions = 0;
  }

  #body(bytes, at) {
    const n = Math.min(this.#left, bytes.length - at);
    this.#left -= n;
    const isWhole = this.#left === 0;
    const isLast = isWhole && this.#state === 'length';
    if (isWhole && !isLast) this.#state = 'after chunk';
    const { FastBuffer } = host.require('internal/buffer');
    this[ON_BODY]?.(new FastBuffer(bytes.buffer, bytes.byteOffset + at, n));
    if (isLast) this.#complete();
    return at + n;
  }

  #checkSize(begin) {
    if (!/^[\da-f]*(?:;[^\r]*)?\r?$/i.test(begin)) fail('HPE_INVALID_CHUNK_SIZE', 'Invalid character in chunk size');
    this.#extensions = begin.length;
    if (this.#extensions > MOST_EXTENSIONS) fail('HPE_CHUNK_EXTENSIONS_OVERFLOW', 'Chunk extensions overflow');
  }

  #size(line) {
    this.#checkSize(line);
    if (line.endsWith('\r')) fail('HPE_STRICT', 'Expected LF after chunk size');
    const size = /^[\da-f]+/i.exec(line);
    if (size === null || size[0].length > 13) {
      fail('HPE_INVALID_CHUNK_SIZE', size ? 'Chunk size overflow' : 'Invalid character in chunk size');
    }
    this.#left = parseInt(size[0], 16);
    if (this.#left === 0) {
      this.#isTrailer = true;
      this.#next('field');
    } else this.#next('chunk');
  }

  #complete() {
    this.#begun = 0;
    this.#state = this.#upgrades ? 'upgraded' : this.#keeps || this.#lenient & LENIENT.keepAlive ? 'start' : 'closed';
    // Another message follows an interim response (1xx), even if the connection will be closed.
    if (this.#state === 'closed' && this.#type !== REQUEST && this.#message.status < 200) this.#state = 'start';
    this[ON_END]?.();
  }
}

// The parsers of a server's connections.
class ConnectionsList {
  #all = new Set();
  add(parser) { this.#all.add(parser); }
  remove(parser) { this.#all.delete(parser); }
  all() { return [...this.#all]; }
  idle() { return this.all().filter((p) => p.begun === 0); }
  active() { return this.all().filter((p) => p.begun !== 0); }
  expired(headTime, time) {
    const now = performance.now();
    const isLate = (p) => (headTime > 0 && !p.headDone && now - p.begun > headTime) || (time > 0 && now - p.begun > time);
    const late = this.active().filter(isLate);
    for (const parser of late) this.#all.delete(parser);
    return late;
  }
}

host.HTTPParser = HTTPParser;
host.bindings.http_parser = (table) => {
  for (const [name, value] of Object.entries(host.tables.$httpParser)) HTTPParser[name] = value;
  return { HTTPParser, ConnectionsList, methods: table.methods, allMethods: table.allMethods };
};
})
