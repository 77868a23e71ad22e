#: attacks = the runner's own message about the output limit, where nobody reads
#: finding = H6
#: streams = unread
#: output = 64K
#: timeout = 2
#: status = 124 137
head -c 65536 /dev/zero >&2; while :; do echo x >&2; done
