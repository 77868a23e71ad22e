#: attacks = positions in files that overflow
#: timeout = 4
#: disk = 2M
#: mount = work:/w:rw
#: status = 0
#: says = contained
import os
edges = [0, 1, -1, 2**31, 2**32 - 1, 2**62, 2**63 - 4096, 2**63 - 1, 2**63, -2**63, 2**64 - 1]
for path in ("/tmp/f", "/w/f", "/dev/zero", "/dev/full", "/etc/passwd"):
    for how in (os.O_RDWR | os.O_CREAT, os.O_RDONLY, os.O_WRONLY | os.O_APPEND):
        try:
            fd = os.open(path, how)
        except OSError:
            continue
        for n in edges:
            for f in (lambda: os.lseek(fd, n, 0), lambda: os.lseek(fd, n, 1), lambda: os.lseek(fd, n, 2), lambda: os.lseek(fd, n, 77),
                      lambda: os.write(fd, b"x"), lambda: os.read(fd, 10), lambda: os.pread(fd, 10, n), lambda: os.pwrite(fd, b"x", n),
                      lambda: os.ftruncate(fd, n), lambda: os.posix_fallocate(fd, n, n), lambda: os.posix_fadvise(fd, n, n, 0),
                      lambda: os.ftruncate(fd, 0)):
                try:
                    f()
                except (OSError, OverflowError, ValueError, AttributeError, MemoryError):
                    pass
        os.close(fd)
print("contained")
