#: attacks = the time limit by calls that take long in the host
#: timeout = 1
#: status = 124
import os
while True:
    os.getrandom(1 << 26) if hasattr(os, "getrandom") else os.urandom(1 << 26)
