#: attacks = the same by the shell: large writes, cut to one byte
#: finding = C3
#: timeout = 3
#: memory = 64M
#: disk = 4M
#: status = any
cd /tmp
for i in $(seq 3000); do head -c 1M /dev/zero > f$i; truncate -s 1 f$i; done 2> /dev/null
echo contained
