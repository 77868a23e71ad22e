#: attacks = the runner's own message about the output limit, where nobody reads
#: finding = H6
#: streams = unread
#: output = 60K
#: timeout = 2
#: status = 124 137
#: output = 65536
head -c 65536 /dev/zero >&2; head -c 65536 /dev/zero; while :; do echo x >&2; done
