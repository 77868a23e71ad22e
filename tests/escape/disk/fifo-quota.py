#: attacks = the disk limit, by named pipes that are made and removed
#: finding = low: mkfifo leaks quota
#: disk = 1M
#: timeout = 10
#: status = 0
#: says = contained
import os
for n in range(30_000):
    os.mkfifo("/tmp/f")
    os.unlink("/tmp/f")
open("/tmp/g", "wb").write(b"x" * 100_000)
print("contained")
