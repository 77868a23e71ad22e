#: attacks = files that the host cuts short and replaces while the guest reads them
#: mount = work:/w:ro
#: before = head -c 4000000 /dev/zero > work/f
#: during = while :; do : > work/f; head -c 4000000 /dev/zero > work/f; rm -f work/f; mkdir work/f; rmdir work/f; done
#: timeout = 1
#: status = 124
while :; do wc -c /w/f; cp /w/f /tmp/f; tail -c 5 /w/f; sha256sum /w/f; tac /w/f; done > /dev/null 2>&1
