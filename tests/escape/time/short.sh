#: attacks = a limit that is over before anything has begun
#: timeout = 0.001
#: status = 124
#: limit = timeout
while :; do :; done
