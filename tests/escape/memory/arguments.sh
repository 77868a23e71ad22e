#: attacks = memory by argument lists of many processes
#: finding = H5
#: timeout = 3
#: memory = 64M
#: status = any
set -- $(seq 200000)
for i in $(seq 100); do sleep 9 "$@" & done
wait
