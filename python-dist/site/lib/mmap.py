"""Memory maps as private copies: WASI maps no files.

Reading (ACCESS_READ, PROT_READ) and copy-on-write (ACCESS_COPY, MAP_PRIVATE) mean
the same with a copy of the file, which is read when the map is made. So do maps
of anonymous memory. A map that writes back to its file is refused with OSError.
"""

import os as _os

ACCESS_DEFAULT, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY = range(4)
MAP_SHARED, MAP_PRIVATE, MAP_ANON = 1, 2, 32
MAP_ANONYMOUS = MAP_ANON
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
PAGESIZE = ALLOCATIONGRANULARITY = 65536
error = OSError


class mmap:
    """A copy of `length` bytes of a file from `offset`; of the rest of it for 0."""

    def __init__(self, fileno, length, flags=MAP_SHARED, prot=PROT_READ | PROT_WRITE,
                 access=ACCESS_DEFAULT, offset=0, *, trackfd=True):
        if length < 0 or offset < 0:
            raise OverflowError("memory mapped length and offset must be positive")
        if offset % ALLOCATIONGRANULARITY:
            raise ValueError("mmap offset must be a multiple of ALLOCATIONGRANULARITY")
        if access not in range(4):
            raise ValueError("mmap invalid access parameter.")
        anonymous = fileno == -1
        private = anonymous or bool(flags & MAP_PRIVATE) or access in (ACCESS_READ, ACCESS_COPY)
        writable = access != ACCESS_READ and bool(prot & PROT_WRITE)
        if writable and not private:
            raise OSError("WASI maps no files: only ACCESS_READ and ACCESS_COPY are possible")
        if anonymous:
            if length == 0:
                raise ValueError("cannot mmap an empty file")
            data = bytearray(length)
        else:
            data = self._read(fileno, length, offset)
        self._view = memoryview(data if writable else bytes(data))
        self._file = None if anonymous else fileno
        self._at = 0

    @staticmethod
    def _read(fileno, length, offset):
        size = _os.fstat(fileno).st_size
        if length == 0:
            if size == 0:
                raise ValueError("cannot mmap an empty file")
            if offset >= size:
                raise ValueError("mmap offset is greater than file size")
            length = size - offset
        elif offset + length > size:
            raise ValueError("mmap length is greater than file size")
        data = bytearray()
        # Not pread: some hosts lack it for some files.
        before = _os.lseek(fileno, 0, _os.SEEK_CUR)
        try:
            _os.lseek(fileno, offset, _os.SEEK_SET)
            while len(data) < length:
                piece = _os.read(fileno, min(length - len(data), 1 << 24))
                if not piece:
                    raise ValueError("mmap length is greater than file size")
                data += piece
        finally:
            _os.lseek(fileno, before, _os.SEEK_SET)
        return data

    def _bytes(self):
        if self._view is None:
            raise ValueError("mmap closed or invalid")
        return self._view

    def __buffer__(self, flags):
        return memoryview(self._bytes())

    def __len__(self):
        return len(self._bytes())

    def __getitem__(self, key):
        got = self._bytes()[key]
        return bytes(got) if isinstance(key, slice) else got

    def __setitem__(self, key, value):
        self._bytes()[key] = value

    def __contains__(self, part):
        return self._bytes().tobytes().find(part) >= 0

    def __iter__(self):
        return (self[at : at + 1] for at in range(len(self)))

    def __enter__(self):
        self._bytes()
        return self

    def __exit__(self, *raised):
        self.close()

    @property
    def closed(self):
        return self._view is None

    def close(self):
        self._view = None

    def size(self):
        return len(self._bytes()) if self._file is None else _os.fstat(self._file).st_size

    def tell(self):
        self._bytes()
        return self._at

    def seek(self, offset, whence=_os.SEEK_SET):
        start = {_os.SEEK_SET: 0, _os.SEEK_CUR: self._at, _os.SEEK_END: len(self)}
        if whence not in start:
            raise ValueError("unknown seek type")
        if not 0 <= start[whence] + offset <= len(self):
            raise ValueError("seek out of range")
        self._at = start[whence] + offset
        return self._at

    def seekable(self):
        return True

    def read(self, n=None):
        end = len(self) if n is None or n < 0 else min(self._at + n, len(self))
        start, self._at = self._at, end
        return self[start:end]

    def read_byte(self):
        if self._at >= len(self):
            raise ValueError("read byte out of range")
        self._at += 1
        return self[self._at - 1]

    def readline(self):
        end = self.find(b"\n")
        return self.read(None if end < 0 else end + 1 - self._at)

    def find(self, part, start=None, end=None):
        start = self._at if start is None else start
        return self._bytes().tobytes().find(part, start, end)

    def rfind(self, part, start=None, end=None):
        start = self._at if start is None else start
        return self._bytes().tobytes().rfind(part, start, end)

    def write(self, data):
        end = self._at + len(data)
        if end > len(self):
            raise ValueError("data out of range")
        self[self._at : end] = data
        self._at = end
        return len(data)

    def write_byte(self, byte):
        self.write(bytes((byte,)))

    def move(self, to, start, count):
        if min(to, start, count) < 0 or max(to, start) + count > len(self):
            raise ValueError("source, destination, or count out of range")
        self[to : to + count] = self[start : start + count]

    def flush(self, *where):
        """A private map has nothing to write back."""
        self._bytes()

    def madvise(self, *advice):
        """Advice is taken or not."""

    def resize(self, size):
        raise SystemError("mmap: resizing not available")
