#: attacks = the host's limit of file sizes, whose signal must not end the runner
#: finding = low: SIGXFSZ
#: mount = work:/w:rw
#: wrap = ulimit -f 64
#: status = 0
#: says = contained
head -c 1M /dev/zero > /w/big; dd if=/dev/zero of=/w/other bs=64k count=64; truncate -s 1G /w/t
echo contained
