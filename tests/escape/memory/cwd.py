#: attacks = working directories with long names, one for every process
#: finding = H5
#: timeout = 3
#: memory = 96M
#: status = any
import os, subprocess, sys
try:
    for _ in range(2000):
        os.mkdir("d" * 250); os.chdir("d" * 250)
except OSError as e:
    print(e)
held = []
for _ in range(100):
    try:
        held.append(subprocess.Popen(["sleep", "9"]))
    except OSError:
        break
held[0].wait()
