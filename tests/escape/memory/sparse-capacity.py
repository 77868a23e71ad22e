#: attacks = files that are long but empty, then touched here and there
#: timeout = 1
#: memory = 96M
#: disk = 4M
#: status = any
import os
fds = [os.open(f"/tmp/f{n}", os.O_CREAT | os.O_RDWR) for n in range(100)]
for at in (1 << 20, 1 << 30, 1 << 40, 1 << 62, (1 << 63) - 2):
    for fd in fds:
        try:
            os.pwrite(fd, b"x", at)
            os.ftruncate(fd, at * 2)
        except (OSError, OverflowError):
            pass
print("contained")
