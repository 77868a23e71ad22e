#: attacks = host descriptors: thousands of files of a mount held open by many processes
#: finding = low: host descriptors
#: mount = work:/w:rw
#: before = seq 1 50 | while read n; do echo x > work/f$n; done
#: timeout = 3
#: status = any
#: memory = 512M
#: descriptors = 2048
import os, subprocess, sys
child = """
import os, time
n = 0
try:
    while True:
        os.open(f"/w/f{n % 50 + 1}", os.O_RDWR)
        n += 1
except OSError as e:
    print(n, e)
time.sleep(9)
"""
held = [subprocess.Popen([sys.executable, "-c", child]) for _ in range(12)]
for h in held:
    h.wait()
