#: attacks = the time limit by arithmetic
#: timeout = 1
#: status = 124
#: limit = timeout
for ((;;)); do ((x += 2 ** 62 % 7, y = x * x)); done
