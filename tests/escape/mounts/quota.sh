#: attacks = the host's disk through a writable mount
#: finding = low: quota of mounts
#: mount = work:/w:rw,quota=2M
#: timeout = 8
#: status = 0
#: says = contained
#: after = test "$(du -sm work | cut -f 1)" -le 3
head -c 600M /dev/zero > /w/big; dd if=/dev/zero of=/w/other bs=1M count=9 seek=1000; for i in $(seq 20000); do : > /w/f$i || break; done
echo contained
