#: attacks = the time limit, with streams that nobody reads
#: finding = H6
#: streams = unread
#: timeout = 1
#: status = 124
while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2; done
