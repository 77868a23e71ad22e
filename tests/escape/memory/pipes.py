#: attacks = bytes that lie in pipes
#: finding = H5
#: timeout = 3
#: memory = 96M
#: status = any
import os, subprocess, sys, time
code = """
import os, time
try:
    while True:
        r, w = os.pipe(); os.set_blocking(w, False); os.write(w, b"x" * 65536)
except OSError: pass
time.sleep(9)
"""
held = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(16)]
time.sleep(9)
