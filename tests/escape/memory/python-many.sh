#: attacks = memory by many interpreters that each stay below the limit
#: timeout = 2
#: memory = 128M
#: processes = 24
#: status = any
for i in $(seq 20); do python3 -c 'x = bytearray(40 << 20); import time; time.sleep(9)' & done
wait; exit 0
