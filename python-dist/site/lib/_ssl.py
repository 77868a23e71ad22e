"""The part of `ssl` that is OpenSSL elsewhere: there is no TLS in the sandbox, its host speaks it.

A context keeps what programs set and check, so that they can be written as for any machine; none of it
changes what the host does, which verifies certificates by its own roots, always. What would pretend to
more raises: client certificates, servers, TLS over the session's own loopback.

A connection to a host outside is a `_wasibox_http.Stream`, for which `ssl.SSLContext.wrap_socket` needs
nothing of this module. Clients that have their bytes encrypted in memory (`MemoryBIO`: asyncio, anyio, trio)
get a `_SSLSocket` that says `HELLO` to the Stream at the other end, awaits `READY`, and then lets the bytes pass. What
is not a Stream does not answer so, and gets no byte of the client's.
"""

import os as _os

# Values are those of CPython with OpenSSL 3.0.
_CONSTANTS = """
ALERT_DESCRIPTION_ACCESS_DENIED=49 ALERT_DESCRIPTION_BAD_CERTIFICATE=42
ALERT_DESCRIPTION_BAD_CERTIFICATE_HASH_VALUE=114
ALERT_DESCRIPTION_BAD_CERTIFICATE_STATUS_RESPONSE=113 ALERT_DESCRIPTION_BAD_RECORD_MAC=20
ALERT_DESCRIPTION_CERTIFICATE_EXPIRED=45 ALERT_DESCRIPTION_CERTIFICATE_REVOKED=44
ALERT_DESCRIPTION_CERTIFICATE_UNKNOWN=46 ALERT_DESCRIPTION_CERTIFICATE_UNOBTAINABLE=111
ALERT_DESCRIPTION_CLOSE_NOTIFY=0 ALERT_DESCRIPTION_DECODE_ERROR=50
ALERT_DESCRIPTION_DECOMPRESSION_FAILURE=30 ALERT_DESCRIPTION_DECRYPT_ERROR=51
ALERT_DESCRIPTION_HANDSHAKE_FAILURE=40 ALERT_DESCRIPTION_ILLEGAL_PARAMETER=47
ALERT_DESCRIPTION_INSUFFICIENT_SECURITY=71 ALERT_DESCRIPTION_INTERNAL_ERROR=80
ALERT_DESCRIPTION_NO_RENEGOTIATION=100 ALERT_DESCRIPTION_PROTOCOL_VERSION=70
ALERT_DESCRIPTION_RECORD_OVERFLOW=22 ALERT_DESCRIPTION_UNEXPECTED_MESSAGE=10
ALERT_DESCRIPTION_UNKNOWN_CA=48 ALERT_DESCRIPTION_UNKNOWN_PSK_IDENTITY=115
ALERT_DESCRIPTION_UNRECOGNIZED_NAME=112 ALERT_DESCRIPTION_UNSUPPORTED_CERTIFICATE=43
ALERT_DESCRIPTION_UNSUPPORTED_EXTENSION=110 ALERT_DESCRIPTION_USER_CANCELLED=90
CERT_NONE=0 CERT_OPTIONAL=1 CERT_REQUIRED=2
ENCODING_DER=2 ENCODING_PEM=1
HOSTFLAG_ALWAYS_CHECK_SUBJECT=1 HOSTFLAG_MULTI_LABEL_WILDCARDS=8 HOSTFLAG_NEVER_CHECK_SUBJECT=32
HOSTFLAG_NO_PARTIAL_WILDCARDS=4 HOSTFLAG_NO_WILDCARDS=2 HOSTFLAG_SINGLE_LABEL_SUBDOMAINS=16
OP_ALL=2147483728 OP_CIPHER_SERVER_PREFERENCE=4194304 OP_ENABLE_KTLS=8
OP_ENABLE_MIDDLEBOX_COMPAT=1048576 OP_IGNORE_UNEXPECTED_EOF=128 OP_LEGACY_SERVER_CONNECT=4
OP_NO_COMPRESSION=131072 OP_NO_RENEGOTIATION=1073741824 OP_NO_SSLv2=0 OP_NO_SSLv3=33554432
OP_NO_TICKET=16384 OP_NO_TLSv1=67108864 OP_NO_TLSv1_1=268435456 OP_NO_TLSv1_2=134217728
OP_NO_TLSv1_3=536870912 OP_SINGLE_DH_USE=0 OP_SINGLE_ECDH_USE=0
PROTOCOL_SSLv23=2 PROTOCOL_TLS=2 PROTOCOL_TLS_CLIENT=16 PROTOCOL_TLS_SERVER=17 PROTOCOL_TLSv1=3
PROTOCOL_TLSv1_1=4 PROTOCOL_TLSv1_2=5
PROTO_MAXIMUM_SUPPORTED=-1 PROTO_MINIMUM_SUPPORTED=-2 PROTO_SSLv3=768 PROTO_TLSv1=769
PROTO_TLSv1_1=770 PROTO_TLSv1_2=771 PROTO_TLSv1_3=772
SSL_ERROR_EOF=8 SSL_ERROR_INVALID_ERROR_CODE=10 SSL_ERROR_SSL=1 SSL_ERROR_SYSCALL=5
SSL_ERROR_WANT_CONNECT=7 SSL_ERROR_WANT_READ=2 SSL_ERROR_WANT_WRITE=3 SSL_ERROR_WANT_X509_LOOKUP=4
SSL_ERROR_ZERO_RETURN=6
VERIFY_ALLOW_PROXY_CERTS=64 VERIFY_CRL_CHECK_CHAIN=12 VERIFY_CRL_CHECK_LEAF=4 VERIFY_DEFAULT=0
VERIFY_X509_PARTIAL_CHAIN=524288 VERIFY_X509_STRICT=32 VERIFY_X509_TRUSTED_FIRST=32768
"""
globals().update((name, int(value)) for name, _, value in
                 (item.partition("=") for item in _CONSTANTS.split()))
HAS_SNI = HAS_ALPN = HAS_ECDH = HAS_TLSv1 = HAS_TLSv1_1 = HAS_TLSv1_2 = HAS_TLSv1_3 = True
HAS_NPN = HAS_SSLv2 = HAS_SSLv3 = HAS_TLS_UNIQUE = HAS_PSK = False
# The version whose constants these are: programs refuse others.
OPENSSL_VERSION_NUMBER = 0x30000000
OPENSSL_VERSION_INFO = _OPENSSL_API_VERSION = 3, 0, 0, 0, 0
OPENSSL_VERSION = "OpenSSL 3.0.0 (stand-in: TLS is the sandbox's host's)"
_DEFAULT_CIPHERS = "DEFAULT"
_NO_SERVER = "TLS is spoken by the sandbox's host, with servers outside: there are no TLS servers here"


class SSLError(OSError):
    """An error occurred in the SSL implementation."""

    library = reason = None

    def __str__(self):
        return self.strerror if isinstance(self.strerror, str) else str(self.args)


class SSLZeroReturnError(SSLError):
    """SSL/TLS session closed cleanly."""


class SSLWantReadError(SSLError):
    """Non-blocking SSL socket needs to read more data
    before the requested operation can be completed."""


class SSLWantWriteError(SSLError):
    """Non-blocking SSL socket needs to write more data
    before the requested operation can be completed."""


class SSLSyscallError(SSLError):
    """System error when attempting SSL operation."""


class SSLEOFError(SSLError):
    """SSL/TLS connection terminated abruptly."""


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate could not be verified."""

    verify_code, verify_message = 0, ""


for _error in (SSLError, SSLZeroReturnError, SSLWantReadError, SSLWantWriteError, SSLSyscallError,
               SSLEOFError, SSLCertVerificationError):
    _error.__module__ = "ssl"


def _failed(why):
    return SSLError(globals()["SSL_ERROR_SSL"], why)


class SSLSession:
    """Sessions are the host's: none is ever made here."""

    def __init__(self):
        raise TypeError("cannot create '_ssl.SSLSession' instances")


class MemoryBIO:
    """Bytes between a _SSLSocket and the object that carries them."""

    def __init__(self):
        self._data, self._ends = bytearray(), False

    @property
    def pending(self):
        return len(self._data)

    @property
    def eof(self):
        return self._ends and not self._data

    def read(self, size=-1):
        end = len(self._data) if size is None or size < 0 else size
        data = bytes(self._data[:end])
        del self._data[:end]
        return data

    def write(self, data):
        if self._ends:
            raise _failed("cannot write() after write_eof()")
        with memoryview(data) as view:
            self._data += view
            return view.nbytes

    def write_eof(self):
        self._ends = True


class _SSLSocket:
    """A client of TLS over two MemoryBIOs: see above."""

    def __init__(self, context, incoming, outgoing, server_hostname, owner):
        self.context, self.owner, self.server_hostname = context, owner, server_hostname
        self.server_side, self.session, self.session_reused = False, None, False
        self._in, self._out = incoming, outgoing
        self._said = self._done = self._closed = False
        self._answer = b""

    def do_handshake(self):
        from _wasibox_http import HELLO, READY, told_of

        if self._done:
            return
        if not self._said:
            told_of(self.context)
            name = (self.server_hostname or "").encode("idna" if self.server_hostname else "ascii")
            self._out.write(HELLO + name + b"\n")
            self._said = True
        self._answer += self._in.read(len(READY) - len(self._answer))
        if not READY.startswith(self._answer):
            raise _failed("TLS is spoken by the sandbox's host, with servers outside; this one is within")
        if self._answer != READY:
            raise self._want_read()
        self._done = True

    def _want_read(self):
        if self._in.eof:
            return SSLEOFError(globals()["SSL_ERROR_EOF"], "EOF occurred in violation of protocol")
        return SSLWantReadError(globals()["SSL_ERROR_WANT_READ"],
                                "The operation did not complete (read)")

    def read(self, len, buffer=None):
        self.do_handshake()
        data = self._in.read(len)
        if not data and len:
            # A response says itself where it ends.
            if self._in.eof:
                raise SSLZeroReturnError(globals()["SSL_ERROR_ZERO_RETURN"],
                                         "TLS/SSL connection has been closed (EOF)")
            raise self._want_read()
        if buffer is None:
            return data
        with memoryview(buffer) as view:
            view[: data.__len__()] = data
        return data.__len__()

    def write(self, data):
        self.do_handshake()
        return self._out.write(data)

    def pending(self):
        return self._in.pending if self._done else 0

    def shutdown(self):
        self._closed = True

    def getpeercert(self, der=False):
        return None if der else {}

    def selected_alpn_protocol(self):
        return None

    # Not known of the host's connection.
    cipher = version = compression = shared_ciphers = selected_alpn_protocol

    def get_channel_binding(self, cb_type="tls-unique"):
        return None

    def get_verified_chain(self):
        return []

    get_unverified_chain = get_verified_chain

    def verify_client_post_handshake(self):
        raise _failed(_NO_SERVER)


def _kept(name, meant=lambda value: value):
    """An attribute of contexts. Subclasses may have properties over it (truststore has), so that
    it has to be one, too."""
    def read(self):
        return self._state[name]

    def write(self, value):
        self._state[name] = meant(value)

    return property(read, write)


class _SSLContext:
    """What programs set of a context. See the module."""

    def __new__(cls, protocol=2):
        constants = globals()
        if protocol not in [constants[n] for n in constants if n.startswith("PROTOCOL_")]:
            raise ValueError("invalid or unsupported protocol version")
        is_client = protocol == constants["PROTOCOL_TLS_CLIENT"]
        self = object.__new__(cls)
        self._state = {
            "protocol": protocol,
            "verify_mode": 2 if is_client else 0,
            "check_hostname": is_client,
            "options": (constants["OP_ALL"] | constants["OP_NO_SSLv3"]
                        | constants["OP_NO_COMPRESSION"]),
            "verify_flags": constants["VERIFY_X509_TRUSTED_FIRST"],
            "minimum_version": constants["PROTO_TLSv1_2"],
            "maximum_version": constants["PROTO_MAXIMUM_SUPPORTED"],
            "host_flags": constants["HOSTFLAG_NO_PARTIAL_WILDCARDS"],
            "keylog_filename": None,
            "sni_callback": None,
            "msg_callback": None,
            "num_tickets": 2,
            "post_handshake_auth": False,
        }
        return self

    protocol = property(lambda self: self._state["protocol"])
    security_level = property(lambda self: 2)
    options = _kept("options", lambda value: _number(value))
    verify_flags = _kept("verify_flags", lambda value: _number(value))
    minimum_version = _kept("minimum_version", lambda value: _version(value))
    maximum_version = _kept("maximum_version", lambda value: _version(value))
    keylog_filename = _kept("keylog_filename")
    sni_callback = _kept("sni_callback")
    num_tickets = _kept("num_tickets", lambda value: _number(value))
    post_handshake_auth = _kept("post_handshake_auth", bool)
    _host_flags = _kept("host_flags", lambda value: _number(value))
    _msg_callback = _kept("msg_callback")

    @property
    def check_hostname(self):
        return self._state["check_hostname"]

    @check_hostname.setter
    def check_hostname(self, value):
        if value and self._state["verify_mode"] == 0:
            self._state["verify_mode"] = 2
        self._state["check_hostname"] = bool(value)

    @property
    def verify_mode(self):
        return self._state["verify_mode"]

    @verify_mode.setter
    def verify_mode(self, value):
        if value not in (0, 1, 2):
            raise ValueError("invalid value for verify_mode")
        if value == 0 and self._state["check_hostname"]:
            raise ValueError("Cannot set verify_mode to CERT_NONE when check_hostname is enabled.")
        self._state["verify_mode"] = int(value)

    def _wrap_socket(self, sock, server_side, server_hostname=None, *, owner=None, session=None):
        raise _failed(_NO_SERVER if server_side else
                      "TLS is spoken by the sandbox's host, with servers outside; this one is within")

    def _wrap_bio(self, incoming, outgoing, server_side, server_hostname=None, *, owner=None,
                  session=None):
        if server_side:
            raise _failed(_NO_SERVER)
        if self._state["check_hostname"] and not server_hostname:
            raise ValueError("check_hostname requires server_hostname")
        return _SSLSocket(self, incoming, outgoing, server_hostname, owner)

    def load_cert_chain(self, certfile, keyfile=None, password=None):
        _readable(certfile)
        raise _failed("certificates of clients cannot be used: TLS is spoken by the sandbox's host")

    def load_verify_locations(self, cafile=None, capath=None, cadata=None):
        """The host has its own roots: that the files are there is all that is looked at."""
        if cafile is None and capath is None and cadata is None:
            raise TypeError("cafile, capath and cadata cannot be all omitted")
        if cafile is not None:
            _readable(cafile)

    def set_default_verify_paths(self):
        """The host has its own roots."""

    def set_ciphers(self, ciphers):
        if not isinstance(ciphers, str):
            raise TypeError("argument must be str")
        if not ciphers:
            raise _failed("No cipher can be selected.")

    def _set_alpn_protocols(self, protocols):
        """The host chooses between HTTP/1.1 and 2."""

    def get_ciphers(self):
        return []

    def get_ca_certs(self, binary_form=False):
        return []

    def cert_store_stats(self):
        return {"x509": 0, "crl": 0, "x509_ca": 0}

    def session_stats(self):
        names = ("number connect connect_good connect_renegotiate accept accept_good"
                 " accept_renegotiate hits misses timeouts cache_full")
        return dict.fromkeys(names.split(), 0)

    def set_ecdh_curve(self, name):
        """The host chooses."""

    def load_dh_params(self, path):
        raise _failed(_NO_SERVER)

    def set_psk_client_callback(self, callback):
        raise NotImplementedError("keys agreed upon before cannot be used: TLS is the sandbox's host's")

    def set_psk_server_callback(self, callback, identity_hint=None):
        raise NotImplementedError(_NO_SERVER)


def _number(value):
    value = int(value)
    if value < 0:
        raise OverflowError("can't convert negative value to unsigned int")
    return value


def _version(value):
    constants = globals()
    if value not in [constants[n] for n in constants if n.startswith("PROTO_")]:
        raise ValueError(f"Unsupported TLS/SSL version 0x{int(value) & 0xffffffff:x}")
    return int(value)


def _readable(path):
    with open(path, "rb"):
        pass


def txt2obj(txt, name=False):
    if name and txt in _OBJECTS:
        txt = _OBJECTS[txt][3]
    for names in _OBJECTS.values():
        if names[3] == txt:
            return names
    raise ValueError(f"unknown object '{txt[:100]}'")


def nid2obj(nid):
    for names in _OBJECTS.values():
        if names[0] == nid:
            return names
    raise ValueError(f"unknown NID {nid}")


# The objects that `ssl.Purpose` is made of.
_OBJECTS = {
    "serverAuth": (129, "serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"),
    "clientAuth": (130, "clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"),
}


def get_default_verify_paths():
    folder = "/etc/ssl"
    return "SSL_CERT_FILE", f"{folder}/cert.pem", "SSL_CERT_DIR", f"{folder}/certs"


def RAND_status():
    return True


def RAND_add(string, entropy):
    """The host's randomness needs none."""


def RAND_bytes(n):
    return _os.urandom(n)
