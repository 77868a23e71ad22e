#: attacks = pipes without end
#: timeout = 1
#: status = any
#: memory = 256M
for i in $(seq 30); do python3 -c 'import os, time
try:
    while True: os.pipe()
except OSError as e: print(e)
time.sleep(1)' & done; wait; echo alive | cat
