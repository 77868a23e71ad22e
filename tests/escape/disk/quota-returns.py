#: attacks = the disk limit, by everything that gives room back: it must come back once, and not twice
#: disk = 2M
#: timeout = 10
#: status = 0
#: says = contained
import os
data = b"x" * 200_000
def room():
    n = 0
    try:
        with open("/tmp/room", "wb", buffering=0) as f:
            while n < 10_000_000:
                n += f.write(b"y" * 4096)
    except OSError:
        pass
    os.unlink("/tmp/room")
    return n
first = room()
for n in range(300):
    with open("/tmp/a", "wb") as f: f.write(data)
    os.link("/tmp/a", "/tmp/b"); os.rename("/tmp/b", "/tmp/c"); os.unlink("/tmp/c")
    with open("/tmp/d", "wb") as f: f.write(data)
    os.rename("/tmp/d", "/tmp/a"); os.truncate("/tmp/a", 10); os.truncate("/tmp/a", 100_000); os.truncate("/tmp/a", 0)
    fd = os.open("/tmp/a", os.O_RDWR); os.unlink("/tmp/a"); os.write(fd, data); os.ftruncate(fd, 1); os.close(fd)
    os.mkdir("/tmp/e"); os.symlink("x" * 3000, "/tmp/e/s"); os.unlink("/tmp/e/s"); os.rmdir("/tmp/e")
last = room()
print(first, last)
assert abs(first - last) < 65536 and last <= 2 << 20
print("contained")
