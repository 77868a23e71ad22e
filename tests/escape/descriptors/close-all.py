#: attacks = closing everything, the root among it
#: status = any
import os
for fd in range(0, 2000):
    try:
        os.close(fd)
    except OSError:
        pass
for f in (lambda: open("/etc/passwd"), lambda: os.pipe(), lambda: os.listdir("/"), lambda: os.dup(0), lambda: os.getcwd()):
    try:
        f()
    except OSError:
        pass
