#: attacks = signals to everybody, and to processes that are not the guest's
#: timeout = 2
#: status = any
for s in 9 15 1 2 19 17 0 63 64 -1 999; do for p in 1 0 -1 2 3 4 99 65535 -2 -99999 4294967295; do kill -$s -- $p; done; done 2> /dev/null
kill -9 -1; kill -9 1; kill -KILL $$ $PPID
