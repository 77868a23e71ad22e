#: attacks = files made and removed in a loop, whose numbers may stay in memory
#: finding = H5
#: timeout = 5
#: memory = 64M
#: disk = 1M
#: grows = 80M
#: status = 124
import os
while True:
    for _ in range(1000):
        os.close(os.open("/tmp/f", os.O_CREAT | os.O_RDWR))
        os.unlink("/tmp/f")
        os.mkdir("/tmp/d")
        os.rmdir("/tmp/d")
