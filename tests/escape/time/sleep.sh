#: attacks = the time limit by waiting in every way
#: timeout = 1
#: status = 124
#: limit = timeout
sleep 1e9 & sleep infinity & (read x < /dev/zero) & tail -f /dev/null & mkfifo /tmp/f; cat /tmp/f & wait; cat < /tmp/f
