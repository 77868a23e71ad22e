#: attacks = thousands of short processes
#: memory = 512M
#: processes = 80
#: timeout = 1
#: status = 0 124
seq 100000 | xargs -P 64 -n 1 true; seq 100000 | xargs -P 0 -n 2 echo > /dev/null; exit 0
