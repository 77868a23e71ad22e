"""HTTP out of the sandbox: connections that are rows of requests to the host.

There are no sockets to other machines. `socket.getaddrinfo` (site/library) gives addresses of
the family `OUTSIDE` for hosts that are not the session's own, and a socket of that family is a
`Stream`: an object that takes the bytes of HTTP/1.1 requests as a server would, hands each to the host by
the node ``/.box/http`` (the messages: tools/abi/src/http.rs), and gives back the bytes of its
response. So http.client and everything over it works as it is, and so do
clients that have an HTTP of their own. Names are resolved by the host, redirects are left to the client.

    client's bytes -> Reader (_wasibox_message) -> steps to the host -> answers -> bytes for the client

TLS is the host's. The client's half of a handshake (`ssl.SSLContext.wrap_socket`, or `HELLO` from
`_ssl`) does no more than say that the scheme is https.

Deliberately absent: proxies, protocols other than HTTP, connections that outlive a response (all say
``Connection: close``; the host keeps its own).
"""

import errno
import os
import socket
import time
import warnings
from collections import deque
from http import HTTPStatus

from _wasibox_message import (
    BODY, CLOSE, DONE, END, FAILED, HEAD, NAMES, NODE, OPEN, OPENED, OWN, PART, PIECE, READ,
    Fields, Node, Reader, ascii_host, refused)

# What a client of TLS says first, and what it is answered (`_ssl`).
HELLO, READY = b"\x16wasibox-hello ", b"\x16wasibox-ready\n"
# Bytes that wait to be sent before a socket that does not block takes no more.
_MOST_QUEUED = 1 << 20
OUTSIDE = socket.AF_OUTSIDE


def addresses(host, port, family=0, type=0, flags=0):
    """What getaddrinfo says of a host that is reached through the sandbox's host, else None."""
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("ascii", "replace")
    if not host or type not in (0, socket.SOCK_STREAM):
        return None
    if family not in (0, socket.AF_INET, socket.AF_INET6):
        return None
    port = _port(port)
    if port is None or not is_outside(host, port):
        return None
    kind = socket.SOCK_STREAM
    return [(OUTSIDE, kind, 6, "", (host, port))]


def is_outside(host, port):
    """Whether a host is reached through the sandbox's host. The session's loopback is its own, but
    for what a rule of the policy names."""
    host = host.partition("%")[0].lower().removesuffix(".")
    if not _is_loopback(host):
        return True
    if not os.path.exists(NODE):
        return False
    with Node() as node:
        message = bytes((NAMES,)) + port.to_bytes(2, "little") + host.encode("idna")
        return node.ask(message)[:1] == bytes((DONE,))


def _is_loopback(host):
    if host == "localhost" or host.endswith(".localhost"):
        return True
    for family in socket.AF_INET, socket.AF_INET6:
        try:
            address = socket.inet_pton(family, host)
        except OSError:
            continue
        if family == socket.AF_INET:
            return address[0] == 127 or address == bytes(4)
        return address in (bytes(16), bytes(15) + b"\1")
    return False


def _port(port):
    if isinstance(port, (bytes, str)):
        name = port.decode() if isinstance(port, bytes) else port
        if not name.isdecimal():
            return {"http": 80, "https": 443}.get(name)
        port = int(name)
    port = port or 0
    return port if 0 <= port < 1 << 16 else None


def _error(code, why):
    """The exception for what the host says; codes are curl's exit statuses."""
    if code == 6:
        return socket.gaierror(socket.EAI_NONAME, why)
    if code == 7:
        return ConnectionRefusedError(errno.ECONNREFUSED, why)
    if code == 28:
        return TimeoutError(errno.ETIMEDOUT, why)
    if code in (35, 60):
        import ssl

        kind = ssl.SSLCertVerificationError if code == 60 else ssl.SSLError
        error = kind(ssl.SSL_ERROR_SSL, why)
        error.library, error.reason = "SSL", "CERTIFICATE_VERIFY_FAILED" if code == 60 else None
        if code == 60:
            error.verify_code, error.verify_message = 1, why
        return error
    if code in (1, 3, 43):
        return ConnectionAbortedError(errno.ECONNABORTED, why)
    if code == 55:
        return BrokenPipeError(errno.EPIPE, why)
    return ConnectionResetError(errno.ECONNRESET, why)


def _not_allowed(host, port):
    # In the words of curl(1).
    why = f"{host}:{port} is not allowed by the sandbox's policy"
    return ConnectionRefusedError(errno.ECONNREFUSED, why)


class Stream(socket.socket):
    """A connection to a host outside, for one request. It has the interface of a socket, and of an
    ssl.SSLSocket when it is wrapped."""

    def __init__(self, family=OUTSIDE, type=socket.SOCK_STREAM, proto=6, fileno=None):
        self._io_refs, self._closed = 0, False
        self._timeout = socket.getdefaulttimeout()
        self._node = self._reader = self._number = self._pending = self._error = None
        # Steps that the host has not been told yet, and bytes for the client.
        self._steps, self._queued = deque(), 0
        self._ready, self._ended, self._broken = deque(), False, False
        self._chunked = self._hello = False
        self.context = self.server_hostname = self.session = None
        self.server_side = self.session_reused = False

    family = property(lambda self: socket.AF_INET)
    type = property(lambda self: socket.SOCK_STREAM)
    proto = property(lambda self: 6)
    timeout = property(lambda self: self._timeout)

    def __repr__(self):
        peer = f"{self._reader.host}:{self._reader.port}" if self._reader else "unconnected"
        return f"<{type(self).__module__}.{type(self).__name__} {peer}>"

    def __del__(self):
        if not self._closed:
            self._real_close()

    # What a socket is asked before and after.

    def connect(self, address):
        host, port = address[:2]
        if self._closed:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if self._reader is not None:
            raise OSError(errno.EISCONN, os.strerror(errno.EISCONN))
        try:
            self._node = Node()
        except FileNotFoundError:
            raise _not_allowed(host, port) from None
        self._reader = Reader(host, port)

    def connect_ex(self, address):
        try:
            self.connect(address)
        except OSError as error:
            return error.errno
        return 0

    def fileno(self):
        return -1 if self._node is None else self._node.fd

    def settimeout(self, timeout):
        if timeout is not None and timeout < 0:
            raise ValueError("Timeout value out of range")
        self._timeout = timeout

    def gettimeout(self):
        return self._timeout

    def setblocking(self, flag):
        self._timeout = None if flag else 0.0

    def getblocking(self):
        return self._timeout != 0

    def getpeername(self):
        if self._reader is None:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        return self._reader.host, self._reader.port

    def getsockname(self):
        return "0.0.0.0", 0

    def getsockopt(self, level, option, size=0):
        """SO_TYPE, and no error; others are 0."""
        is_type = (level, option) == (socket.SOL_SOCKET, getattr(socket, "SO_TYPE", None))
        return int(socket.SOCK_STREAM) if is_type else 0

    def setsockopt(self, *option):
        """Options are of connections, which the host makes."""

    def bind(self, address):
        """The host's address is not the client's to choose."""

    def shutdown(self, how):
        if self._reader is None:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    def detach(self):
        raise OSError(errno.EOPNOTSUPP, "a connection that the sandbox's host makes has no descriptor")

    dup = detach

    def _real_close(self):
        node, self._node, self._closed = self._node, None, True
        if node is None:
            return
        try:
            if self._number is not None and not self._ended:
                # The host ends what nobody waits for.
                node.put(self._message(CLOSE, b""))
                node.is_ready(0)
        except OSError:
            pass
        node.close()

    # Requests.

    def send(self, data, flags=0):
        if self._reader is None:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        if self._timeout == 0:
            self._go_on()
            if self._queued > _MOST_QUEUED:
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        with memoryview(data) as view, view.cast("B") as view:
            size = len(view)
            for at in range(0, size, PART):
                self._give(view[at : at + PART])
        return size

    def sendall(self, data, flags=0):
        self.send(data, flags)

    write = send

    def sendfile(self, file, offset=0, count=None):
        return self._sendfile_use_send(file, offset, count)

    def _give(self, data):
        if self._broken:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
        if self._hello or (self._reader.is_fresh and data[:1] == HELLO[:1]):
            data = self._greet(data)
            if not data:
                return
        steps = self._reader.feed(data)
        if steps and steps[0][0] == OPEN and self._reader.says_continue:
            self._ready.append(memoryview(b"HTTP/1.1 100 Continue\r\n\r\n"))
        self._steps.extend(steps)
        self._queued += sum(len(data) for _, data in steps)
        if self._timeout == 0:
            self._go_on()
            return
        # The caller that reads the response waits for it.
        deadline = self._deadline()
        while self._pending not in (None, END) or (self._steps and self._steps[0][0] != END):
            self._step(deadline)
        if self._steps and self._pending is None:
            self._tell()
            self._node.is_ready(0)

    def _greet(self, data):
        """Takes `HELLO` with a name and a line's end; gives what is behind it."""
        self._hello = (self._hello or b"") + bytes(data)
        greeting, end, rest = self._hello.partition(b"\n")
        if not end:
            return b""
        if not greeting.startswith(HELLO):
            raise refused("TLS is spoken by the sandbox's host, with requests that are plain here")
        self._hello = False
        self._secure(greeting[len(HELLO):].decode("latin-1"))
        self._ready.append(memoryview(READY))
        return rest

    def _secure(self, name):
        reader = self._reader
        if name and ascii_host(name.lower()) != ascii_host(reader.host.lower()):
            import ssl

            raise ssl.SSLError(
                f"the sandbox's host speaks TLS with {reader.host}, whose name cannot be {name}")
        reader.scheme = "https"

    # Steps and answers.

    def _deadline(self):
        return None if self._timeout is None else time.monotonic() + self._timeout

    def _message(self, kind, data):
        if kind == OPEN:
            connect = 0 if self._timeout is None else max(int(self._timeout * 1000), 0)
            return data + bytes(4 + 8) + connect.to_bytes(8, "little")
        return bytes((kind,)) + self._number + data

    def _tell(self):
        kind, data = self._steps.popleft()
        self._queued -= len(data)
        self._node.put(self._message(kind, data))
        self._pending = kind

    def _step(self, deadline):
        """Goes one step further; False if that would block, with a deadline that has passed."""
        if self._node is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        if self._pending is None:
            self._tell()
        # The rules are judged by the host alone: that is not what a client's time is for.
        if deadline is not None and not (deadline and self._pending == OPEN):
            left = max(deadline - time.monotonic(), 0) if deadline else 0
            if not self._node.is_ready(left):
                if deadline:
                    raise TimeoutError("timed out")
                return False
        kind, self._pending = self._pending, None
        try:
            self._answered(kind, self._node.get())
        except OSError as error:
            self._fail(kind)
            # Who writes without waiting hears of it when reading, as does who reads nevertheless.
            if kind != BODY:
                self._error = error
            if self._timeout != 0:
                raise
        return True

    def _go_on(self):
        """Does what can be done without waiting."""
        while (self._steps or self._pending) and self._step(0):
            pass

    def _fail(self, kind):
        self._steps.clear()
        self._queued, self._broken = 0, True
        if kind == BODY:
            # The server may have answered early.
            self._steps.append((END, b""))
        else:
            self._ended = True

    def _answered(self, kind, answer):
        what = answer[0] if answer else 0
        if what == FAILED and len(answer) > 1:
            return self._failed(kind, answer[1], answer[2:].decode("utf-8", "replace"))
        if kind == OPEN and what == OPENED:
            self._number = answer[1:9]
        elif kind == OPEN and what == OWN:
            # A rule names the host and port, and not the method or the path.
            raise _not_allowed(self._reader.host, self._reader.port)
        elif kind == END and what == HEAD:
            self._ready.append(memoryview(self._head(answer)))
            if not self._ended:
                self._steps.append((READ, b""))
        elif kind == READ and what == PIECE:
            self._piece(memoryview(answer)[1:])
        elif kind != BODY or what != DONE:
            raise _error(56, "the host does not answer")

    def _failed(self, kind, code, why):
        # What a server does that closes the connection, clients know by its end.
        is_end = (kind == END and code == 52) or (kind == READ and code == 18)
        if not is_end:
            raise _error(code, why)
        self._ended = True

    def _head(self, answer):
        """The response's head, as a server would write it."""
        fields = Fields(answer)
        fields.at = 1
        status, version = fields.number(2), fields.number(1)
        fields.text(), fields.number(4)
        headers = [(fields.text(), fields.text()) for _ in range(fields.number(4))]
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = ""
        lines = [f"HTTP/1.{0 if version == 10 else 1} {status} {phrase}".encode()]
        lines += [name + b": " + value for name, value in headers]
        names = {name.lower() for name, _ in headers}
        if self._reader.method == b"HEAD" or status in (204, 304) or status < 200:
            self._end()
        elif b"content-length" not in names and version != 10:
            # The length tells nobody whether the body is whole, so chunks do.
            self._chunked = True
            lines.append(b"transfer-encoding: chunked")
        lines.append(b"connection: close")
        return b"\r\n".join(lines) + b"\r\n\r\n"

    def _end(self):
        self._ended = True
        self._steps.append((CLOSE, b""))
        self._tell()
        self._node.get()
        self._pending = None

    def _piece(self, data):
        if not data:
            if self._chunked:
                self._ready.append(memoryview(b"0\r\n\r\n"))
            return self._end()
        if self._chunked:
            size = memoryview(b"%x\r\n" % len(data))
            self._ready.extend((size, data, memoryview(b"\r\n")))
        else:
            self._ready.append(data)
        self._steps.append((READ, b""))

    # Responses.

    def _wait(self):
        """Waits until there are bytes for the client; False at the end of them."""
        deadline = 0 if self._timeout == 0 else self._deadline()
        while not self._ready:
            if self._error is not None:
                raise self._error
            if self._reader is None:
                raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
            if self._ended:
                return False
            if self._pending is None and not self._steps and self._timeout != 0:
                raise refused("only HTTP leaves the sandbox, in which the client speaks first")
            is_idle = self._pending is None and not self._steps
            if is_idle or not self._step(deadline):
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return True

    def recv_into(self, buffer, nbytes=0, flags=0):
        with memoryview(buffer) as view, view.cast("B") as view:
            room = nbytes or len(view)
            if not room or not self._wait():
                return 0
            data = self._ready[0]
            n = min(len(data), room)
            view[:n] = data[:n]
            if not flags & getattr(socket, "MSG_PEEK", 0):
                if n == len(data):
                    self._ready.popleft()
                else:
                    self._ready[0] = data[n:]
            return n

    def recv(self, bufsize, flags=0):
        if bufsize < 0:
            raise ValueError("negative buffersize in recv")
        if not bufsize or not self._wait():
            return b""
        buffer = bytearray(min(bufsize, len(self._ready[0])))
        n = self.recv_into(buffer, 0, flags)
        return bytes(buffer[:n])

    def recvfrom(self, bufsize, flags=0):
        return self.recv(bufsize, flags), None

    def read(self, len=1024, buffer=None):
        return self.recv(len) if buffer is None else self.recv_into(buffer, len)

    # What ssl.SSLSocket has besides. What is not known of the host's connection is None.

    def _wasibox_wrap(self, context, server_hostname, server_side):
        """https from here on, which ssl.SSLContext.wrap_socket asks for."""
        if server_side:
            raise ValueError("a connection to a host outside has no server side here")
        if context.check_hostname and not server_hostname:
            raise ValueError("check_hostname requires server_hostname")
        if self._reader is None:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))
        told_of(context)
        self._secure(server_hostname or "")
        self.context, self.server_hostname = context, server_hostname
        return self

    def do_handshake(self, block=False):
        """The host does it with the first request."""

    def pending(self):
        return sum(map(len, self._ready))

    def getpeercert(self, binary_form=False):
        return None if binary_form else {}

    def selected_alpn_protocol(self):
        return None

    selected_npn_protocol = compression = cipher = version = selected_alpn_protocol
    shared_ciphers = selected_alpn_protocol

    def get_channel_binding(self, cb_type="tls-unique"):
        return None

    def get_verified_chain(self):
        return []

    get_unverified_chain = get_verified_chain

    def unwrap(self):
        return self


def told_of(context):
    """Warns of what a context asks for and the host does not do."""
    if context.verify_mode == 0:
        warnings.warn("the sandbox's host speaks TLS, and verifies certificates whatever verify_mode says",
                      RuntimeWarning, stacklevel=4)
