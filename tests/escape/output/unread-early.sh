#: attacks = an end of its own with streams that are full
#: finding = H6
#: streams = unread
#: timeout = 1
#: status = any
(yes >&2 &) ; (yes &); sleep 0.2; exit 0
