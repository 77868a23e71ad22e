#: attacks = maps of files and of nothing
#: mount = work:/w:rw
#: before = echo original > work/f
#: memory = 128M
#: timeout = 2
#: status = any
import mmap, os
for path in ("/w/f", "/tmp/f", "/dev/zero", "/etc/passwd"):
    for size in (0, 1, 4096, 1 << 27, 1 << 31, 1 << 40, -1):
        for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
            try:
                fd = os.open(path, os.O_RDWR | os.O_CREAT)
                m = mmap.mmap(fd, size, flags)
                m[0:3] = b"abc"; m.flush(); m.resize(1 << 30); m.move(0, 1 << 20, 1 << 20); os.ftruncate(fd, 0); m[100]
            except (Exception, MemoryError):
                pass
            os.close(fd)
for n in (1 << 28, 1 << 31, 1 << 40):
    try:
        mmap.mmap(-1, n)
    except (Exception, MemoryError):
        pass
