// Connections to other hosts. A program's bytes are parsed as a server would parse them
// (http_parser.js), the request goes to the sandbox's host through the node /.box/http, and the
// response comes back as bytes. Node's own http and https, and packages based on them, therefore
// work unchanged; `fetch` of Node's library uses them, too.
//
//   program's bytes -> HTTPParser -> steps to the host -> answers -> bytes for the program
//
// The host resolves names and speaks TLS. Redirects are left to the program. A connection serves
// one request.
(function (native, host) {
'use strict';

const NODE = '/.box/http';
const READ_WRITE = 2;
const PART = 256 << 10;
// The number of pending bytes above which a write is not reported as done yet.
const MOST_QUEUED = 1 << 20;
const EOF = -4095;
// The headers that the host writes itself, and those that apply to a single connection.
const HOSTS_OWN = new Set(['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings',
                           'host', 'content-length', 'expect']);

function openNode() {
  try {
    return native.open(NODE, READ_WRITE, 0);
  } catch {
    return undefined;
  }
}

// Returns the first of the names of a server on the host's loopback that occurs in a rule of the
// policy; undefined if none does.
function isNamed(names, port) {
  const fd = openNode();
  if (fd === undefined) return undefined;
  try {
    return names.find((name) => native.requestNames(fd, name, port));
  } finally {
    native.close(fd);
  }
}

// Returns the connection for an address. Returns undefined if the address is on the session's
// loopback, and an error number if it cannot be reached.
host.outside = (handle, address, port) => {
  let name = host.nameOf(address);
  if (name === undefined && host.isLoopback(address)) {
    name = isNamed([address.replace('::ffff:', ''), 'localhost'], port);
    if (name === undefined) return undefined;
  }
  name ??= address;
  const fd = openNode();
  if (fd === undefined) {
    handle.why = notAllowed(name, port);
    return host.uvErrno('ECONNREFUSED');
  }
  return new Exchange(handle, name, port, fd);
};

// Returns the message of curl(1) for a server that the policy does not allow.
const notAllowed = (name, port) => `${name}:${port} is not allowed by the sandbox's policy`;

// The error codes for exit statuses of curl(1).
const ERRORS = { 1: 'ECONNABORTED', 3: 'ECONNABORTED', 6: 'EAI_NONAME', 7: 'ECONNREFUSED', 28: 'ETIMEDOUT', 35: 'EPROTO', 43: 'ECONNABORTED',
                 55: 'EPIPE', 60: 'EPROTO' };

// One request and its response.
class Exchange extends host.Framed {
  scheme = 'http';
  #handle;
  #name;
  #port;
  #fd;
  #parser;
  #method;
  #number;
  #steps = [];
  #pending;
  #queued = 0;
  // The writes to report once fewer bytes are pending.
  #waiting = [];
  // The bytes, and the end or error, that the program has not read yet.
  #ready = [];
  #reading = false;
  #flushes = false;
  #closed = false;
  #ended = false;

  constructor(handle, name, port, fd) {
    super();
    this.#handle = handle;
    this.#name = name;
    this.#port = port;
    this.#fd = fd;
    this.#begin();
  }

  get held() { return this.#handle.held; }
  get socket() { return this.#handle; }

  #begin() {
    const parser = this.#parser = new host.HTTPParser();
    parser.initialize(1, {}, PART, 0);
    parser[2] = (major, minor, headers, method, url, _status, _reason, upgrade) => {
      this.#method = host.binding('http_parser').allMethods[method];
      this.#open(url, headers, upgrade);
      return 0;
    };
    parser[3] = (bytes) => {
      for (let at = 0; at < bytes.length; at += PART) this.#add('body', bytes.slice(at, at + PART));
    };
    parser[4] = () => this.#add('end');
  }

  #authority() {
    const name = this.#name.includes(':') ? `[${this.#name}]` : this.#name;
    return this.#port === (this.scheme === 'https' ? 443 : 80) ? name : `${name}:${this.#port}`;
  }

  #open(target, headers, upgrade) {
    if (upgrade) return this.#refuse('only HTTP leaves the sandbox; the connection cannot be upgraded');
    if (!/^[/*]/.test(target)) return this.#refuse("proxies cannot be used: the sandbox's host makes the connections");
    const sent = [];
    let length = 0;
    for (let i = 0; i < headers.length; i += 2) {
      const [name, value] = [headers[i].toLowerCase(), headers[i + 1]];
      if (name === 'content-length') length = Number(value);
      if (name === 'transfer-encoding') length = -1;
      if (name === 'host' && !this.#isHere(value)) {
        return this.#refuse(`the header Host is made by the sandbox's host: it is ${this.#authority()}, and cannot be ${value}`);
      }
      if (name === 'expect' && /100-continue/i.test(value)) this.#deliver(native.encode('HTTP/1.1 100 Continue\r\n\r\n', 'latin1'));
      if (!HOSTS_OWN.has(name) && !name.startsWith('proxy-')) sent.push(headers[i], value);
    }
    const url = `${this.scheme}://${this.#authority()}${target === '*' ? '/' : target}`;
    this.#add('open', undefined, [url, sent, length]);
    return undefined;
  }

  #isHere(value) {
    const [, name, port] = /^(.*?)(?::(\d+))?$/.exec(value);
    const plain = (text) => text.replace(/^\[|\]$/g, '').toLowerCase().replace(/\.$/, '');
    return plain(name) === plain(this.#name) && Number(port ?? (this.scheme === 'https' ? 443 : 80)) === this.#port;
  }

  #refuse(why) {
    this.#fail('ECONNABORTED', why);
  }

  // --- calls of the program ----------------------------------------------------------------------

  put(req, bytes) {
    const state = host.binding('stream_wrap').streamBaseState;
    state[2] = bytes.length;
    state[3] = 1;
    if (this.#closed) return host.uvErrno('EPIPE');
    const result = this.#parser.execute(bytes);
    if (result instanceof Error) this.#refuse(`only HTTP leaves the sandbox, and this is none (${result.reason})`);
    this.#handle.bytesWritten += bytes.length;
    this.#waiting.push(req);
    this.#pump();
    this.#tellWriters();
    return 0;
  }

  #tellWriters() {
    if (this.#queued > MOST_QUEUED && !this.#ended) return;
    for (const req of this.#waiting.splice(0)) host.later(() => req.oncomplete(0));
  }

  readStart() {
    this.#reading = this.#handle.reading = true;
    this.#flush();
    this.#pump();
    return 0;
  }

  readStop() {
    this.#reading = this.#handle.reading = false;
    return 0;
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    // A request that is being opened has no number yet.
    if (this.#pending !== 'open') this.#leave();
    for (const req of this.#waiting.splice(0)) host.later(() => req.oncomplete(host.uvErrno('ECANCELED')));
  }

  // Lets the host end a request that the program has abandoned. Until then it counts as running.
  #leave() {
    host.unwatch(this.#fd);
    try {
      if (this.#number !== undefined) {
        native.requestStep(this.#fd, 'close', this.#number, undefined);
        // The step is sent only when its answer is read.
        native.requestAnswer(this.#fd);
      }
    } catch {
      // Closing the descriptor ends the request, too.
    }
    native.close(this.#fd);
  }

  // --- steps and answers -------------------------------------------------------------------------

  #add(kind, bytes, open) {
    this.#steps.push({ kind, bytes, open });
    this.#queued += bytes?.length ?? 0;
  }

  #pump() {
    if (this.#pending !== undefined || this.#steps.length === 0 || this.#closed || this.#ended) return;
    // No more bytes are requested while the program does not read.
    if (this.#steps[0].kind === 'read' && !this.#reading) return;
    const { kind, bytes, open } = this.#steps.shift();
    this.#queued -= bytes?.length ?? 0;
    try {
      if (kind === 'open') native.requestOpen(this.#fd, this.#method, open[0], open[1], open[2]);
      else native.requestStep(this.#fd, kind, this.#number, bytes);
    } catch (code) {
      this.#fail('ECONNRESET', `the sandbox's host does not answer (${code})`);
      return;
    }
    this.#pending = kind;
    host.watch(this.#fd, this);
  }

  readable() {
    host.unwatch(this.#fd);
    const kind = this.#pending;
    this.#pending = undefined;
    const [what, ...rest] = native.requestAnswer(this.#fd);
    if (this.#closed) {
      if (what === 'opened') this.#number = rest[0];
      this.#leave();
      return;
    }
    if (what === 'failed') this.#failed(kind, rest[0], rest[1]);
    else if (kind === 'open' && what === 'opened') this.#number = rest[0];
    else if (kind === 'open' && what === 'own') this.#fail('ECONNREFUSED', notAllowed(this.#name, this.#port));
    else if (kind === 'end' && what === 'head') this.#head(...rest);
    else if (kind === 'read' && what === 'body') this.#piece(rest[0]);
    this.#pump();
    this.#tellWriters();
  }

  #failed(kind, code, why) {
    // The server has closed the connection without a whole response, so the program sees the end.
    if ((kind === 'end' && code === 52) || (kind === 'read' && code === 18)) {
      this.#end();
    } else if (kind === 'body') {
      // The server may have responded before it has read the whole body.
      this.#steps = [{ kind: 'end' }];
      this.#queued = 0;
    } else {
      this.#fail(ERRORS[code] ?? 'ECONNRESET', why);
    }
  }

  #fail(code, why) {
    if (this.#ended) return;
    this.#ended = true;
    this.#steps = [];
    this.#handle.why = why;
    this.#deliver(host.uvErrno(code));
  }

  #end() {
    this.#ended = true;
    this.#steps = [];
    this.#deliver(EOF);
  }

  // Passes the head of the response to the program, as a server would write it.
  #head(status, version, headers) {
    const { STATUS_CODES } = host.require('_http_server');
    let text = `HTTP/1.${version === 10 ? 0 : 1} ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
    for (let i = 0; i < headers.length; i += 2) {
      if (!/^(?:connection|keep-alive|transfer-encoding|upgrade)$/i.test(headers[i])) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
    }
    this.#deliver(native.encode(`${text}Connection: close\r\n\r\n`, 'latin1'));
    if (this.#method === 'HEAD' || status === 204 || status === 304 || status < 200) this.#end();
    else this.#add('read');
  }

  #piece(bytes) {
    if (bytes.byteLength === 0) return this.#end();
    this.#deliver(bytes);
    this.#add('read');
    return undefined;
  }

  // --- bytes for the program ---------------------------------------------------------------------

  // Passes a buffer to the program, or a number for the end or an error.
  #deliver(what) {
    this.#ready.push(what);
    this.#flush();
  }

  #flush() {
    if (this.#flushes || this.#ready.length === 0 || !this.#reading) return;
    this.#flushes = true;
    host.later(() => {
      this.#flushes = false;
      if (!this.#reading || this.#closed) return;
      const what = this.#ready.shift();
      const state = host.binding('stream_wrap').streamBaseState;
      const isBytes = typeof what !== 'number';
      state[0] = isBytes ? what.byteLength : what;
      state[1] = 0;
      if (isBytes) this.#handle.bytesRead += what.byteLength;
      this.#handle.onread(isBytes ? what : undefined);
      this.#flush();
    });
  }
}

// --- TLS -----------------------------------------------------------------------------------------

host.replace('internal/tls/wrap', native.tlsWrap);
host.replace('internal/tls/common', `'use strict';
// The sandbox's host has the certificates and keys; a context only stores its options.
class SecureContext { constructor(options) { this.options = options; this.context = {}; } }
module.exports = {
  SecureContext,
  createSecureContext: (options) => new SecureContext(options),
  translatePeerCertificate: (certificate) => certificate,
};`);
host.moreOfCrypto = {
  startLoadingCertificatesOffThread() {},
  getBundledRootCertificates: () => [],
  getExtraCACertificates: () => [],
  getSystemCACertificates: () => [],
  getUserRootCertificates: () => [],
  resetRootCertStore() {},
  getSSLCiphers: () => ['tls_aes_256_gcm_sha384', 'tls_chacha20_poly1305_sha256', 'tls_aes_128_gcm_sha256'],
};

// --- fetch ---------------------------------------------------------------------------------------

// Makes the dispatcher of undici's `fetch`, because undici's own client needs WebAssembly to parse
// HTTP.
host.makeDispatcher = (Dispatcher) => new (class HttpDispatcher extends Dispatcher {
  dispatch(options, handler) {
    const url = new URL(options.path, options.origin);
    const { request } = host.require(url.protocol === 'https:' ? 'https' : 'http');
    const headers = {};
    const given = Array.isArray(options.headers) ? pairsOf(options.headers) : Object.entries(options.headers ?? {});
    for (const [name, value] of given) headers[name] = value;
    // This dispatcher does not decode brotli.
    if (headers['accept-encoding'] === 'br, gzip, deflate') headers['accept-encoding'] = 'gzip, deflate';
    if (options.upgrade) Object.assign(headers, { connection: 'upgrade', upgrade: options.upgrade });
    const req = request({
      protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ''), port: url.port, path: options.path, method: options.method, headers,
    });
    let isOver = false;
    const fail = (error) => {
      if (isOver) return;
      isOver = true;
      req.destroy();
      handler.onError(error);
    };
    handler.onConnect((reason) => fail(reason ?? new DOMException('This operation was aborted', 'AbortError')));
    if (isOver) return true;
    req.on('error', fail);
    req.on('response', (res) => {
      handler.onHeaders(res.statusCode, res.rawHeaders, () => res.resume(), res.statusMessage);
      res.on('data', (chunk) => { if (!isOver && handler.onData(chunk) === false) res.pause(); });
      res.on('end', () => {
        if (isOver) return;
        isOver = true;
        handler.onComplete(res.rawTrailers);
      });
      res.on('error', fail);
      res.on('aborted', () => fail(Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })));
    });
    req.on('upgrade', (res, socket, head) => {
      isOver = true;
      if (head.length > 0) socket.unshift(head);
      handler.onUpgrade(res.statusCode, res.rawHeaders, socket);
    });
    send(req, options.body).catch(fail);
    return true;
  }
  async close() {}
  async destroy() {}
})();

function* pairsOf(list) {
  for (let i = 0; i < list.length; i += 2) yield [String(list[i]), String(list[i + 1])];
}

const writable = (req) => new Promise((resolve) => {
  const done = () => {
    req.off('drain', done);
    req.off('close', done);
    resolve();
  };
  req.on('drain', done);
  req.on('close', done);
});

async function send(req, body) {
  if (body === null || body === undefined || typeof body === 'string' || ArrayBuffer.isView(body)) {
    req.end(body ?? undefined);
    return;
  }
  for await (const chunk of body) {
    if (req.destroyed) return;
    if (!req.write(chunk)) await writable(req);
  }
  req.end();
}

// The engine counts references, so it frees a value immediately if only a WeakRef refers to it.
// undici expects the value to exist for a while, so its WeakRefs are replaced with strong ones.
const STRONG = 'class StrongRef { #value; constructor(value) { this.#value = value; } deref() { return this.#value; } }';
host.patch('internal/deps/undici/undici', (text) => `${STRONG} ${text.replaceAll('new WeakRef(', 'new StrongRef(')}
setGlobalDispatcher(internalBinding('host').host.makeDispatcher(Dispatcher));`);
})
