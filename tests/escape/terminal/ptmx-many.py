#: attacks = the number of terminals, and their memory
#: status = 0
#: says = ENOSPC 64
import errno, os
held = []
try:
    while True:
        held.append(os.open("/dev/ptmx", os.O_RDWR))
except OSError as e:
    print(errno.errorcode[e.errno], len(held))
for fd in held:
    os.close(fd)
# Each is free again at once.
for _ in range(2000):
    os.close(os.open("/dev/ptmx", os.O_RDWR))
