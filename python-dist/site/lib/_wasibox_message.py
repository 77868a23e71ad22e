"""What `_wasibox_http` sends to the host and gets from it: the bytes of a request of HTTP/1.1 taken apart, as
steps of a row (tools/abi/src/http.rs); and the node that takes them.
"""

import errno
import os
import select

NODE = "/.box/http"
# Most bytes of a body in one step, and of a request's head.
PART, _MOST_HEAD = 256 << 10, 256 << 10
OPEN, BODY, END, READ, CLOSE, NAMES = 1, 2, 3, 4, 5, 6
# The last: the session's own loopback is meant, since no rule names the request.
OPENED, DONE, HEAD, PIECE, FAILED, OWN = 1, 2, 3, 4, 5, 6
# Headers that the host makes, and those of one connection (runner/bridge/src/request.rs).
_HOSTS_OWN = frozenset(
    b"connection keep-alive te trailer transfer-encoding upgrade http2-settings"
    b" host content-length expect".split())


class Node:
    """An opening of the node: one question at a time."""

    def __init__(self):
        self.fd = os.open(NODE, os.O_RDWR)
        self._poll = None

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()

    def close(self):
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)

    def put(self, message):
        view = memoryview(message)
        while view:
            view = view[os.write(self.fd, view):]

    def is_ready(self, seconds):
        """Whether there is an answer, after that time at most; sends the question."""
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.fd, select.POLLIN)
        return bool(self._poll.poll(seconds * 1000))

    def get(self):
        pieces = []
        try:
            while piece := os.read(self.fd, PART + 64):
                pieces.append(piece)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            # As when the session's call has ended that it was made in.
            why = "the sandbox's host has given the request up"
            raise ConnectionResetError(errno.ECONNRESET, why) from None
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def ask(self, message):
        self.put(message)
        return self.get()


def _text(data):
    return len(data).to_bytes(4, "little") + data


def refused(why):
    return ConnectionAbortedError(errno.ECONNABORTED, why)


def ascii_host(host):
    try:
        return host.encode("ascii").decode()
    except UnicodeEncodeError:
        return host.encode("idna").decode("ascii")


def _authority(host, port, scheme):
    host = f"[{host}]" if ":" in host else host
    return host if port == (443 if scheme == "https" else 80) else f"{host}:{port}"


class Reader:
    """Takes the bytes of one request apart: steps for the host come out."""

    def __init__(self, host, port):
        self.host, self.port, self.scheme = host, port, "http"
        self.method = b""
        self.says_continue = False
        self._data, self._take = bytearray(), self._head
        # Bytes of the body or of the chunk that are still to come.
        self._left = 0

    @property
    def is_whole(self):
        return self._take is None

    @property
    def is_fresh(self):
        """Nothing of a request has come."""
        return self._take == self._head and not self._data

    def feed(self, data):
        """The steps that these bytes complete, as pairs of kind and content."""
        if self._take is None:
            raise BrokenPipeError(errno.EPIPE, "a connection is for one request")
        self._data += data
        steps = []
        while self._take is not None and self._take(steps):
            pass
        if self._take is None:
            steps.append((END, b""))
        return steps

    def _line(self):
        end = self._data.find(b"\n")
        if end < 0:
            if len(self._data) > _MOST_HEAD:
                raise refused("a line of the request is too long")
            return None
        line = bytes(self._data[:end]).removesuffix(b"\r")
        del self._data[: end + 1]
        return line

    def _head(self, steps):
        begin, end = 0, self._data.find(b"\r\n\r\n")
        if end < 0:
            if len(self._data) > _MOST_HEAD:
                raise refused("the request's head is too long")
            return False
        first, *lines = bytes(self._data[begin:end]).split(b"\r\n")
        del self._data[: end + 4]
        words = first.split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            raise refused("only HTTP leaves the sandbox, and this is no request of HTTP/1.1")
        self.method, target, _ = words
        headers = [self._header(line) for line in lines]
        steps.append((OPEN, self._open(target, headers)))
        return True

    @staticmethod
    def _header(line):
        name, colon, value = line.partition(b":")
        if not colon or not name or name != name.strip():
            raise refused(f"a malformed header: {line[:80]!r}")
        return name, value.strip(b" \t")

    def _open(self, target, headers):
        known = {}
        for name, value in headers:
            known.setdefault(name.lower(), []).append(value)
        length = self._length(known)
        self.says_continue = b"100-continue" in [v.lower() for v in known.get(b"expect", ())]
        if b"upgrade" in known:
            raise refused("only HTTP leaves the sandbox; the connection cannot be upgraded")
        sent = [(n, v) for n, v in headers
                if n.lower() not in _HOSTS_OWN and not n.lower().startswith(b"proxy-")]
        out = [bytes((OPEN,)), _text(self.method), _text(self._url(target, known)),
               len(sent).to_bytes(4, "little")]
        out += [_text(name) + _text(value) for name, value in sent]
        out.append(bytes((length is not None,)) + (length or 0).to_bytes(8, "little"))
        return b"".join(out)

    def _length(self, known):
        """How long the body is, None if it comes in chunks; sets what is read next."""
        codings = b",".join(known.get(b"transfer-encoding", ())).lower()
        if codings:
            if codings != b"chunked" or b"content-length" in known:
                raise refused("a body is either chunked or has a Content-Length")
            self._take = self._chunk
            return None
        lengths = set(known.get(b"content-length", (b"0",)))
        text = lengths.pop()
        if lengths or not text.isdigit() or len(text) > 18:
            raise refused("a Content-Length that is no number")
        self._left = int(text)
        self._take = self._body if self._left else None
        return self._left

    def _url(self, target, known):
        if self.method == b"CONNECT" or not target.startswith((b"/", b"*")):
            raise refused("proxies cannot be used: the sandbox's host makes the connections")
        here = _authority(self.host, self.port, self.scheme)
        for name in known.get(b"host", ()):
            if not self._is_here(name.decode("latin-1")):
                raise refused(f"the header Host is made by the sandbox's host: it is {here}, and "
                               f"cannot be {name.decode('latin-1')}")
        path = b"/" if target == b"*" else target
        return f"{self.scheme}://{ascii_host(here)}".encode("latin-1") + path

    def _is_here(self, name):
        host, colon, port = name.rpartition(":")
        if not colon or port.endswith("]"):
            host, port = name, ""
        default = 443 if self.scheme == "https" else 80
        same = lambda text: ascii_host(text.strip("[]").partition("%")[0].lower().removesuffix("."))
        return same(host) == same(self.host) and (port or str(default)) == str(self.port)

    def _body(self, steps):
        part = bytes(self._data[: min(self._left, PART)])
        if not part:
            return False
        del self._data[: len(part)]
        self._left -= len(part)
        steps.append((BODY, part))
        if not self._left:
            self._take = None
        return True

    def _chunk(self, steps):
        line = self._line()
        if line is None:
            return False
        size = line.partition(b";")[0].strip()
        try:
            self._left = int(size, 16)
        except ValueError:
            raise refused(f"a malformed chunk: {line[:80]!r}") from None
        self._take = self._in_chunk if self._left else self._trailer
        return True

    def _in_chunk(self, steps):
        if not self._body(steps):
            return False
        self._take = self._in_chunk if self._left else self._after_chunk
        return True

    def _after_chunk(self, steps):
        line = self._line()
        if line:
            raise refused("a chunk that is longer than it says")
        if line is not None:
            self._take = self._chunk
        return line is not None

    def _trailer(self, steps):
        line = self._line()
        if line == b"":
            self._take = None
        return line is not None


class Fields:
    """Takes fields out of an answer."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, size):
        self.at += size
        return int.from_bytes(self.data[self.at - size : self.at], "little")

    def text(self):
        size = self.number(4)
        self.at += size
        return self.data[self.at - size : self.at]
