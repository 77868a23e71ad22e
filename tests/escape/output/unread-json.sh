#: attacks = the runner's JSON outcome, where nobody reads
#: finding = H6
#: streams = unread
#: json = yes
#: timeout = 1
#: seconds = 8
#: status = any
#: targets = exec
head -c 900000 /dev/zero | tr '\0' x; sleep 99
