#: attacks = pipes of the bridge of which one end is never opened: the next program must have pipes
#: finding = low: half-open pipes
#: timeout = 8
#: status = 0
#: says = alive
import os, subprocess, sys
code = """
import os
n = 0
try:
    for n in range(5000):
        os.close(os.open(f"/.box/pipe/{os.getpid()}-{n}/r", os.O_RDONLY))
except OSError as e:
    print(n, e)
try:
    for n in range(5000):
        os.close(os.open(f"/.box/pipe/w{os.getpid()}-{n}/w", os.O_WRONLY))
except OSError as e:
    print(n, e)
"""
for _ in range(3):
    subprocess.run([sys.executable, "-c", code])
print(subprocess.run("echo alive | cat | cat", shell=True, capture_output=True, text=True))
