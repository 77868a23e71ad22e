#: attacks = the time limit by a loop
#: timeout = 1
#: status = 124
#: limit = timeout
trap '' TERM INT HUP
while :; do :; done
