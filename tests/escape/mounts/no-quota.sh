#: attacks = the host's disk through a writable mount: what may be written must be boundable
#: finding = low: quota of mounts
#: mount = work:/w:rw
#: disk = 8M
#: timeout = 2
#: status = any
#: after = test "$(du -sm work | cut -f 1)" -lt 256
while :; do cat /dev/zero; done | head -c 600M > /w/big
echo contained
