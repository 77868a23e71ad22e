#: attacks = CPU time, by several processes at once
#: timeout = 20
#: seconds = 12
#: cpu = 1
#: status = 152
#: limit = cpu
for i in 1 2 3 4; do while :; do :; done & done
python3 -c 'while True: pass'
