// The bindings tcp_wrap and cares_wrap: sockets on the session's loopback, and name resolution. A
// connection to another host is a series of requests to the sandbox's host (outside.js); the name
// of such a host has a stand-in address.
(function (native, host) {
'use strict';

const SERVER = 1;

// --- names ---------------------------------------------------------------------------------------

// The stand-in addresses of the names of other hosts. They are in the range that RFC 2544 reserves
// for benchmarks, so no real host has them.
const standIns = new Map();
const namesOf = new Map();
function standIn(name) {
  let address = standIns.get(name);
  if (address === undefined) {
    const n = standIns.size + 1;
    address = `198.${18 + (n >> 16 & 1)}.${n >> 8 & 255}.${n & 255}`;
    standIns.set(name, address);
    namesOf.set(address, name);
  }
  return address;
}
host.nameOf = (address) => namesOf.get(address);

const isLoopbackName = (name) => name === 'localhost' || name.endsWith('.localhost');
host.isLoopback = (address) => /^(?:::ffff:)?127\.|^::1$|^0\.0\.0\.0$|^::$/.test(address);

// Returns the addresses of a name in /etc/hosts.
function fromHosts(name) {
  let text;
  try {
    text = host.readText('/etc/hosts');
  } catch {
    return [];
  }
  const lines = text.split('\n').map((line) => line.replace(/#.*/, '').trim().split(/\s+/));
  return lines.filter((words) => words.indexOf(name, 1) > 0).map((words) => words[0]);
}

function getaddrinfo(req, hostname, family) {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  const { isIP } = host.require('internal/net');
  let found = isLoopbackName(name) ? ['127.0.0.1', '::1'] : fromHosts(name);
  if (found.length === 0 && name !== '') found = [standIn(name)];
  found = found.filter((address) => family === 0 || isIP(address) === family);
  const status = found.length > 0 ? 0 : host.uvErrno('EAI_NONAME');
  host.later(() => req.oncomplete(status || null, found));
  return 0;
}

function getnameinfo(req, address, port) {
  const name = host.isLoopback(address) ? 'localhost' : namesOf.get(address) ?? address;
  host.later(() => req.oncomplete(null, name, { 22: 'ssh', 80: 'http', 443: 'https' }[port] ?? String(port)));
  return 0;
}

// There are no name servers, because the sandbox's host resolves the names in requests.
class ChannelWrap {
  getServers() { return []; }
  setServers() { return 0; }
  setLocalAddress() {}
  cancel() {}
}
for (const kind of ['Any', 'A', 'Aaaa', 'Caa', 'Cname', 'Mx', 'Ns', 'Txt', 'Tlsa', 'Srv', 'Ptr', 'Naptr', 'Soa']) {
  ChannelWrap.prototype[`query${kind}`] = (req) => {
    host.later(() => req.oncomplete('ECONNREFUSED'));
    return 0;
  };
}
ChannelWrap.prototype.getHostByAddr = ChannelWrap.prototype.queryA;

// The handle by which Node's library turns a program's own stream into a socket. TLS over such a
// stream is not possible, so the handle reads nothing.
host.bindings.js_stream = () => ({
  JSStream: class JSStream {
    readBuffer() {}
    emitEOF() {}
    finishWrite() {}
    finishShutdown() {}
    readStart() { return 0; }
    readStop() { return 0; }
    ref() {}
    unref() {}
    getAsyncId() { return 0; }
  },
});

host.bindings.cares_wrap = (table) => ({
  ...table,
  getaddrinfo,
  getnameinfo,
  ChannelWrap,
  GetAddrInfoReqWrap: class GetAddrInfoReqWrap {},
  GetNameInfoReqWrap: class GetNameInfoReqWrap {},
  QueryReqWrap: class QueryReqWrap {},
  canonicalizeIP(text) {
    const { isIPv4, isIPv6 } = host.require('internal/net');
    if (isIPv4(text)) return text;
    return isIPv6(text) ? new URL(`http://[${text}]`).hostname.slice(1, -1) : undefined;
  },
  strerror: (code) => ({ ECONNREFUSED: 'Could not contact DNS servers' })[code] ?? String(code),
});

// --- sockets -------------------------------------------------------------------------------------

class TCP extends host.Stream {
  // The connection to another host (outside.js), which replaces the socket.
  way;
  constructor(type) {
    super();
    this.type = type;
  }

  // HTTP parsers get data from the stream, not from this handle.
  get isStreamBase() { return false; }
  getProviderType() { return 0; }
  get resource() { return this.type === SERVER ? 'TCPServerWrap' : 'TCPSocketWrap'; }

  bind(address, port) {
    if (this.type !== SERVER) return 0;
    return this.#try(() => { this.fd = native.netListen(address, port); });
  }
  bind6(address, port) { return this.bind(address, port); }

  listen() {
    if (this.fd === undefined) return this.bind('0.0.0.0', 0) || this.listen();
    // In cells a server continues to listen, and the cell does not wait for its end.
    this.stays = true;
    host.sockets.add(this);
    this.readable = this.#accept;
    host.watch(this.fd, this);
    return 0;
  }

  #accept() {
    let found;
    try {
      found = native.netAccept(this.fd);
    } catch (code) {
      if (code !== 'EAGAIN' && code !== 'EINTR') this.onconnection(host.uvErrno(code));
      return;
    }
    const made = new TCP(0);
    made.peer = found;
    made.fd = found[3];
    made.stays = true;
    host.sockets.add(made);
    this.onconnection(0, made);
  }

  connect(req, address, port) {
    this.peer = [address, port, address.includes(':') ? 'IPv6' : 'IPv4'];
    const outside = host.outside(this, address, port);
    let status = 0;
    if (outside === undefined) status = this.#try(() => { this.fd = native.netConnect(address, port); });
    else if (typeof outside === 'number') status = outside;
    else this.way = outside;
    if (status === 0 && this.isClosed) return host.uvErrno('ECANCELED');
    if (status === 0) host.sockets.add(this);
    host.later(() => { if (!this.isClosed) req.oncomplete(status, this, req, true, true); });
    return 0;
  }
  connect6(req, address, port) { return this.connect(req, address, port); }

  #try(work) {
    try {
      work();
      return 0;
    } catch (code) {
      return host.uvErrno(code);
    }
  }

  #name(out, [address, port, family]) {
    Object.assign(out, { address, port, family });
    return 0;
  }
  getsockname(out) {
    if (this.way) return this.#name(out, ['0.0.0.0', 0, 'IPv4']);
    if (this.fd === undefined) return host.uvErrno('EBADF');
    let status = 0;
    status = this.#try(() => this.#name(out, native.netLocal(this.fd)));
    return status;
  }
  getpeername(out) { return this.peer ? this.#name(out, this.peer) : host.uvErrno('ENOTCONN'); }

  setNoDelay() { return 0; }
  setKeepAlive() { return 0; }
  setTypeOfService() { return 0; }
  getTypeOfService() { return 0; }
  reset(callback) {
    this.close(callback);
    return 0;
  }

  readStart() { return this.way ? this.way.readStart() : super.readStart(); }
  readStop() {
    if (this.way) return this.way.readStop();
    return this.fd === undefined ? 0 : super.readStop();
  }
  put(req, bytes) { return this.way ? this.way.put(req, bytes) : super.put(req, bytes); }
  shut() {
    if (this.fd !== undefined) this.#try(() => native.netFinish(this.fd));
  }
  shutdown(req) {
    if (!this.way) return super.shutdown(req);
    host.later(() => req.oncomplete(0));
    return 0;
  }
  close(callback) {
    this.isClosed = true;
    host.sockets.delete(this);
    this.way?.close();
    super.close(callback);
  }
}

host.bindings.tcp_wrap = (table) => ({ ...table, TCP, TCPConnectWrap: class TCPConnectWrap {} });

// Adds the reason why a connection has failed to the error's message, if it is known.
host.explain = (error, handle) => {
  if (handle.why !== undefined) error.message = `${error.message}: ${handle.why}`;
};
host.patch('net', (text) => text.replace(/(const ex = new ExceptionWithHostPort\(status,\s+'connect',[^;]*;)/,
                                         "$1\n    internalBinding('host').host.explain(ex, handle);"));
host.patch('internal/stream_base_commons', (text) => text.replace(
  'stream.destroy(new ErrnoException(nread, \'read\'));',
  "const error = new ErrnoException(nread, 'read');\n    internalBinding('host').host.explain(error, handle);\n    stream.destroy(error);"));
})
