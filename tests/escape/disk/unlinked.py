#: attacks = the disk limit by files that are open but have no name
#: disk = 2M
#: timeout = 4
#: memory = 64M
#: status = 0
#: says = contained
import os
held, total = [], 0
try:
    while total < 1 << 28:
        fd = os.open("/tmp/f", os.O_CREAT | os.O_RDWR); os.unlink("/tmp/f"); held.append(fd)
        total += os.write(fd, b"x" * 65536)
except OSError as e:
    print(total, e)
assert total <= 2 << 20
print("contained")
