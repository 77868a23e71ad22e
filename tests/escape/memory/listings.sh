#: attacks = directory listings held open by many processes
#: timeout = 1
#: memory = 96M
#: disk = 8M
#: status = any
cd /tmp; for i in $(seq 20000); do : > f$i; done 2> /dev/null
for i in $(seq 30); do python3 -c 'import os, time
d = [os.scandir("/tmp") for _ in range(900)]
[next(x) for x in d]
time.sleep(9)' & done; wait
