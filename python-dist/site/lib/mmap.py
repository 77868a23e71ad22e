"""Memory maps as copies: WASI maps no files.

The file is read when the map is made. Reading and copy-on-write mean the same with a copy,
and so do maps of anonymous memory. A shared map that may be written is written back to its
file by flush() and close(), and when it is no longer used; others do not see its changes
before, and it does not see theirs.
"""

import errno as _errno
import fcntl as _fcntl
import os as _os

ACCESS_DEFAULT, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY = range(4)
MAP_SHARED, MAP_PRIVATE, MAP_ANON = 1, 2, 32
MAP_ANONYMOUS = MAP_ANON
PROT_READ, PROT_WRITE, PROT_EXEC = 1, 2, 4
MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED = range(5)
PAGESIZE = ALLOCATIONGRANULARITY = 65536
error = OSError


class mmap:
    """A copy of `length` bytes of a file from `offset`; of the rest of it for 0."""

    # For what fails before there is anything to be written back.
    _data = _shared = None

    def __new__(cls, fileno, length, flags=MAP_SHARED, prot=PROT_READ | PROT_WRITE,
                access=ACCESS_DEFAULT, offset=0, *, trackfd=True):
        self = object.__new__(cls)
        if length < 0 or offset < 0:
            raise OverflowError("memory mapped length and offset must be positive")
        if offset % ALLOCATIONGRANULARITY:
            raise ValueError("mmap offset must be a multiple of ALLOCATIONGRANULARITY")
        if access not in range(4):
            raise ValueError("mmap invalid access parameter.")
        if access != ACCESS_DEFAULT and (flags != MAP_SHARED or prot != PROT_READ | PROT_WRITE):
            raise ValueError("mmap can't specify both access and flags, prot.")
        if fileno < -1:
            raise OSError(_errno.EBADF, "Bad file descriptor")
        anonymous = fileno == -1
        private = anonymous or bool(flags & MAP_PRIVATE) or access in (ACCESS_READ, ACCESS_COPY)
        writable = access != ACCESS_READ and bool(prot & PROT_WRITE)
        if anonymous:
            if length == 0:
                raise ValueError("cannot mmap an empty file")
            data = bytearray(length)
        else:
            if writable and not private:
                mode = _fcntl.fcntl(fileno, _fcntl.F_GETFL) & (_os.O_RDONLY | _os.O_WRONLY)
                if mode != _os.O_RDWR:
                    raise PermissionError(_errno.EACCES, "Permission denied")
            data = self._read(fileno, length, offset)
            self._shared = _os.dup(fileno) if trackfd or not private else None
        self._writes_back = writable and not private
        self._tracks, self._anonymous = trackfd, anonymous
        self._data = data if writable else bytes(data)
        self._offset, self._at = offset, 0
        names = "ACCESS_DEFAULT", "ACCESS_READ", "ACCESS_WRITE", "ACCESS_COPY"
        self._access = names[access]
        return self

    def __del__(self):
        self.close()

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

    def _write_back(self, start, end, _os=_os):
        before = _os.lseek(self._shared, 0, _os.SEEK_CUR)
        try:
            _os.lseek(self._shared, self._offset + start, _os.SEEK_SET)
            with memoryview(self._data) as view:
                while start < end:
                    start += _os.write(self._shared, view[start : min(end, start + (1 << 24))])
        finally:
            _os.lseek(self._shared, before, _os.SEEK_SET)

    def _bytes(self):
        if self._data is None:
            raise ValueError("mmap closed or invalid")
        return self._data

    def __buffer__(self, flags):
        return memoryview(self._bytes())

    def __len__(self):
        return len(self._bytes())

    def __getitem__(self, key):
        got = self._bytes()[key]
        return bytes(got) if isinstance(key, slice) else got

    def __setitem__(self, key, value):
        data = self._bytes()
        if isinstance(data, bytes):
            raise TypeError("mmap can't modify a readonly memory map.")
        with memoryview(data) as view:  # keeps the length
            view[key] = value

    def __contains__(self, part):
        return part in self._bytes()

    def __iter__(self):
        return (self[at : at + 1] for at in range(len(self)))

    def __enter__(self):
        self._bytes()
        return self

    def __exit__(self, *raised):
        self.close()

    def __repr__(self):
        if self._data is None:
            return "<mmap.mmap closed=True>"
        return (f"<mmap.mmap closed=False, access={self._access}, length={len(self)}, "
                f"pos={self._at}, offset={self._offset}>")

    @property
    def closed(self):
        return self._data is None

    # What it needs is held here: the module may be gone when the last map goes.
    def close(self, *, _os=_os):
        if self._data is None:
            return
        try:
            if self._writes_back:
                self._write_back(0, len(self._data))
        finally:
            self._data = None
            if self._shared is not None:
                _os.close(self._shared)
                self._shared = None

    def size(self):
        data = self._bytes()
        if self._anonymous:
            return len(data)
        if not self._tracks:
            raise ValueError("can't get size with trackfd=False")
        return _os.fstat(self._shared).st_size

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
        return self._bytes().find(part, start, end)

    def rfind(self, part, start=None, end=None):
        start = self._at if start is None else start
        return self._bytes().rfind(part, start, end)

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

    def flush(self, offset=0, size=None):
        data = self._bytes()
        size = len(data) - offset if size is None else size
        if offset < 0 or size < 0 or offset + size > len(data):
            raise ValueError("flush values out of range")
        if self._writes_back:
            self._write_back(offset, offset + size)

    def madvise(self, *advice):
        """Advice is taken or not."""
        self._bytes()

    def resize(self, size):
        data = self._bytes()
        if size < 0 or self._offset + size < 0:
            raise ValueError("new size out of range")
        if isinstance(data, bytes) or not (self._writes_back or self._anonymous):
            raise TypeError("mmap can't resize a readonly or copy-on-write memory map.")
        if self._writes_back:
            if not self._tracks:
                raise ValueError("mmap can't resize with trackfd=False.")
            _os.ftruncate(self._shared, self._offset + size)
        if size < len(data):
            del data[size:]
        else:
            data.extend(bytes(size - len(data)))
