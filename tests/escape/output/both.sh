#: attacks = output without end on both streams by many processes that ignore its end
#: output = 1M
#: timeout = 5
#: status = 137
#: limit = output
trap '' PIPE
for i in 1 2 3 4 5 6; do (trap '' PIPE; while :; do echo xxxxxxxx; echo yyyyyyyy >&2; done) & done
while :; do printf '\0\1\2\377'; done
