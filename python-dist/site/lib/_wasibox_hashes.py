"""What `hashlib` has from OpenSSL elsewhere: key derivation, and hashes that CPython has not itself.

The work is C's (`site/hashes.c`); here are the checks of arguments, with the words of CPython's
`_hashlib`, and the objects.
"""

import operator as _operator

import _wasibox_hash

# OpenSSL's names.
NAMES = {
    "ripemd160": "ripemd160",
    "rmd160": "ripemd160",
    "sha512_224": "sha512_224",
    "sha512-224": "sha512_224",
    "sha512_256": "sha512_256",
    "sha512-256": "sha512_256",
    "sm3": "sm3",
}
_DERIVING = {"sha1", "sha224", "sha256", "sha384", "sha512", *NAMES.values()}


class _Hash:
    __slots__ = "name", "digest_size", "block_size", "_work"

    def __init__(self, name, data=b""):
        self.name = name
        self.digest_size, self.block_size = _wasibox_hash.sizes(name)
        self._work = _wasibox_hash.update(name, None, data)

    def update(self, data, /):
        self._work = _wasibox_hash.update(self.name, self._work, data)

    def digest(self):
        return _wasibox_hash.digest(self.name, self._work)

    def hexdigest(self):
        return self.digest().hex()

    def copy(self):
        other = object.__new__(_Hash)
        other.name, other._work = self.name, self._work
        other.digest_size, other.block_size = self.digest_size, self.block_size
        return other

    def __repr__(self):
        return f"<{self.name} _wasibox_hashes.HASH object @ {id(self):#x}>"


def constructor(name):
    """The constructor of a hash by one of OpenSSL's names; None if there is none."""
    name = NAMES.get(name.lower())
    if name is None:
        return None

    def new(data=b"", *, usedforsecurity=True):
        return _Hash(name, data)

    new.__name__ = "openssl_" + name
    return new


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """Password based key derivation function 2 (PKCS #5 v2.0) with HMAC as pseudorandom function."""
    import hashlib

    if not isinstance(hash_name, str):
        raise TypeError(
            f"pbkdf2_hmac() argument 'hash_name' must be str, not {type(hash_name).__name__}"
        )
    iterations = _operator.index(iterations)
    size = hashlib.new(hash_name).digest_size
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    if iterations > (1 << 31) - 1:
        raise OverflowError("iteration value is too great.")
    length = size if dklen is None else _operator.index(dklen)
    if length < 1:
        raise ValueError("key length must be greater than 0.")
    if length > (1 << 31) - 1:
        raise OverflowError("key length is too great.")
    name = hash_name.lower().replace("-", "_")
    name = {"sha_1": "sha1", "sha_256": "sha256", "sha_384": "sha384", "sha_512": "sha512"}.get(
        name, NAMES.get(hash_name.lower(), name)
    )
    if name in _DERIVING:
        return _wasibox_hash.pbkdf2(name, password, salt, iterations, length)
    return _derive(hash_name, password, salt, iterations, length)


def _derive(name, password, salt, iterations, length):
    """PBKDF2 over a hash that is not among those of C: MD5, SHA-3, BLAKE2."""
    import hmac

    begun = hmac.new(bytes(memoryview(password)), None, name)
    key, number = b"", 1
    while len(key) < length:
        work = begun.copy()
        work.update(bytes(memoryview(salt)) + number.to_bytes(4, "big"))
        part = work.digest()
        total = int.from_bytes(part, "big")
        for _ in range(iterations - 1):
            work = begun.copy()
            work.update(part)
            part = work.digest()
            total ^= int.from_bytes(part, "big")
        key += total.to_bytes(len(part), "big")
        number += 1
    return key[:length]


def scrypt(password, *, salt=None, n=None, r=None, p=None, maxmem=0, dklen=64):
    """scrypt password-based key derivation function."""
    if salt is None:
        raise TypeError("salt is required")
    if n is None or not isinstance(n, int):
        raise TypeError("n is required and must be an unsigned int")
    if r is None or not isinstance(r, int):
        raise TypeError("r is required and must be an unsigned int")
    if p is None or not isinstance(p, int):
        raise TypeError("p is required and must be an unsigned int")
    if n < 2 or n & (n - 1):
        raise ValueError("n must be a power of 2.")
    if not 0 <= maxmem <= (1 << 31) - 1:
        raise ValueError("maxmem must be positive and smaller than 2147483647")
    if not 1 <= dklen <= (1 << 31) - 1:
        raise ValueError("dklen must be greater than 0 and smaller than 2147483647")
    # OpenSSL's own limits.
    most = maxmem or 32 << 20
    if r < 1 or p < 1 or p > ((1 << 30) - 1) // r or (16 * r <= 62 and n >= 1 << 16 * r):
        raise ValueError("Invalid parameter combination for n, r, p, maxmem.")
    if 128 * r * p + 32 * r * (n + 2) * 4 > most:
        raise ValueError("[digital envelope routines] memory limit exceeded")
    return _wasibox_hash.scrypt(password, salt, n, r, p, dklen)
