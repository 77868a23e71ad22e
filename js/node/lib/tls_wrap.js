'use strict';

// Replaces Node's internal/tls/wrap, because the sandbox's host speaks TLS. A TLSSocket is a
// connection to another host whose requests are https. A program cannot be a TLS server, and cannot
// connect to one on the session's loopback.

const net = require('net');
const JSStreamSocket = require('internal/js_stream_socket');
const { kEmptyObject } = require('internal/util');
const { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } = require('internal/errors').codes;

// The option of sockets that begin to connect immediately.
const kBegins = Symbol('kBegins');

// The handle of a connection over a program's own stream, such as a tunnel through a proxy. TLS
// over such a stream is not possible. The handle exists because packages look for the class of
// `_parentWrap` when they are loaded.
class StreamHandle {
  constructor(wrap) { this._parentWrap = wrap; }
  close(callback) { if (callback) process.nextTick(callback); }
  readStart() { return 0; }
  readStop() { return 0; }
  ref() {}
  unref() {}
  getAsyncId() { return 0; }
}

class TLSSocket extends net.Socket {
  encrypted = true;
  authorized = false;
  authorizationError = null;
  alpnProtocol = false;
  secureConnecting = true;

  constructor(socket, options = kEmptyObject) {
    if (options.isServer) throw new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM('a server of TLS');
    const isStream = socket && !(socket instanceof net.Socket);
    if (isStream) socket = new JSStreamSocket(socket);
    super({ ...options, handle: isStream ? new StreamHandle(socket) : socket?._handle ?? options.handle });
    this.servername = options.servername;
    this._tlsOptions = options;
    if (socket) this._parent = socket;
    // Such a connection fails later, when `connect` begins it.
    if (isStream && !options[kBegins]) return;
    if (socket && !socket.connecting) process.nextTick(() => this.#secure());
    else (socket ?? this).once('connect', () => this.#secure());
    this.prependListener('end', this.#ended);
  }

  #ended() {
    if (!this.secureConnecting || this.destroyed) return;
    const text = 'Client network socket disconnected before secure TLS connection was established';
    this.destroy(Object.assign(new Error(text), { code: 'ECONNRESET' }));
  }

  #secure() {
    if (this.destroyed) return;
    const way = this._handle?.way;
    if (way === undefined) {
      const text = "TLS is spoken by the sandbox's host, with hosts outside; servers of the session have none";
      this.destroy(Object.assign(new Error(text), { code: 'EPROTO', syscall: 'connect' }));
      return;
    }
    way.scheme = 'https';
    this.authorized = true;
    this.secureConnecting = false;
    this.emit('secure');
    this.emit('secureConnect');
  }

  // Nothing is known about the host's connection, so these return defaults.
  getPeerCertificate() { return {}; }
  getPeerX509Certificate() { return undefined; }
  getX509Certificate() { return undefined; }
  getCertificate() { return {}; }
  getCipher() { return { name: 'TLS_AES_256_GCM_SHA384', standardName: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' }; }
  getProtocol() { return 'TLSv1.3'; }
  getSession() { return undefined; }
  setSession() {}
  getTLSTicket() { return undefined; }
  getEphemeralKeyInfo() { return {}; }
  getFinished() { return undefined; }
  getPeerFinished() { return undefined; }
  getSharedSigalgs() { return []; }
  isSessionReused() { return false; }
  setServername(name) { this.servername = name; }
  setMaxSendFragment() { return true; }
  setKeyCert() {}
  disableRenegotiation() {}
  renegotiate() { return false; }
  enableTrace() {}
}

// Returns the options and the callback of connect(options, callback) or connect(port, host,
// options, callback).
function connectOptions(args) {
  const [options, callback] = net._normalizeArgs(args);
  for (const one of args.slice(1)) if (one !== null && typeof one === 'object') Object.assign(options, one);
  return [options, callback];
}

let hasWarned = false;

function connect(...args) {
  const [options, callback] = connectOptions(args);
  if (options.rejectUnauthorized === false && !hasWarned) {
    hasWarned = true;
    process.emitWarning("the sandbox's host speaks TLS, and verifies certificates whatever rejectUnauthorized says");
  }
  const socket = new TLSSocket(options.socket, {
    ...options, servername: options.servername || options.host, [kBegins]: true,
  });
  if (callback) socket.once('secureConnect', callback);
  if (!options.socket) {
    if (options.timeout) socket.setTimeout(options.timeout);
    socket.connect(options);
  }
  return socket;
}

function Server() {
  throw new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM('a server of TLS');
}
Object.setPrototypeOf(Server.prototype, net.Server.prototype);

module.exports = { TLSSocket, Server, createServer: () => new Server(), connect };
