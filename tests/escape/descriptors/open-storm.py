#: attacks = files held open without end
#: status = 0
#: says = contained
import os
held = []
for path, how in (("/etc/passwd", os.O_RDONLY), ("/dev/null", os.O_RDWR), ("/tmp", os.O_RDONLY), ("/tmp/f", os.O_CREAT | os.O_RDWR), ("/dev/urandom", os.O_RDONLY)):
    try:
        while True:
            held.append(os.open(path, how))
    except OSError:
        for _ in range(200):
            if held:
                os.close(held.pop())
os.write(1, b"contained\n")
