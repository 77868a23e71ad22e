#: attacks = the same by system calls
#: timeout = 2
#: status = any
import os
for pid in (1, 0, -1, os.getppid(), -os.getppid(), 2, 3, 2**31 - 1, -2**31):
    for sig in list(range(65)) + [-1, 255, 2**31 - 1]:
        if sig in (9, 19) and pid in (0, -1, 2):
            continue
        try:
            os.kill(pid, sig)
        except (OSError, OverflowError, ValueError):
            pass
