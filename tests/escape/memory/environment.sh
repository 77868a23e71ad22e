#: attacks = memory by an environment that grows from process to process
#: finding = H5
#: timeout = 3
#: memory = 64M
#: status = any
export x=$(head -c 120000 /dev/zero | tr '\0' x)
for i in $(seq 400); do export "v$i=$x"; done
for i in $(seq 40); do sleep 9 & done
exec bash -c "sleep 1; exec env y=\$x\$x\$x bash -c 'sleep 9'"
