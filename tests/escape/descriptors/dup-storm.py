#: attacks = copies of descriptors without end
#: status = 0
#: says = contained
import os
n = 0
try:
    while True:
        os.dup(1); n += 1
except OSError as e:
    pass
for target in (3, 4, 99, 1023, 1024, 4095, 65535, 2**20, 2**31 - 1):
    try:
        os.dup2(1, target)
    except (OSError, OverflowError):
        pass
os.write(1, b"contained\n")
