#: attacks = the same by many processes, each with a thousand
#: finding = H5
#: timeout = 4
#: memory = 512M
#: descriptors = 1024
#: status = any
code='
import os, time
try:
    for n in range(990):
        p = f"/tmp/{os.getpid()}-{n}"
        os.mkfifo(p); fd = os.open(p, os.O_RDWR | os.O_NONBLOCK); os.unlink(p); os.write(fd, b"x" * 65536)
except OSError as e: print(e)
time.sleep(9)'
for i in $(seq 24); do python3 -c "$code" & done; wait
