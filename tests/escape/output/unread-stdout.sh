#: attacks = the same on standard output, by several processes
#: finding = H6
#: streams = unread
#: timeout = 1
#: status = 124
yes & yes & cat /dev/zero & yes >&2 & wait; yes
