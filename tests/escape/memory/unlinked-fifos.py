#: attacks = bytes that lie in named pipes without a name
#: finding = H5
#: timeout = 4
#: memory = 96M
#: status = any
import os
held = []
try:
    while True:
        os.mkfifo("/tmp/f")
        fd = os.open("/tmp/f", os.O_RDWR | os.O_NONBLOCK)
        os.unlink("/tmp/f")
        os.write(fd, b"x" * 65536)
        held.append(fd)
except OSError as e:
    print(len(held), e)
import subprocess, sys
if len(sys.argv) < 2:
    import time
    while True:
        time.sleep(0.1)
