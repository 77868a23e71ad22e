#: attacks = memory and waits, by terminals that nobody reads
#: status = 124 137
#: limit = timeout
#: timeout = 2
import os, threading
pairs = []
for _ in range(32):
    master = os.open("/dev/ptmx", os.O_RDWR)
    pairs.append((master, os.open("/dev/pts/%d" % len(pairs), os.O_RDWR)))
def flood(fd, text):
    while True:
        os.write(fd, text)
for master, slave in pairs[:4]:
    threading.Thread(target=flood, args=(slave, b"x" * 70000)).start()
    threading.Thread(target=flood, args=(master, b"a\x7f\t\x16\x03\x13" * 9000)).start()
flood(pairs[5][1], b"\t\n" * 50000)
