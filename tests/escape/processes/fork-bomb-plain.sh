#: attacks = background processes without end
#: timeout = 1
#: status = any
while :; do sleep 100 & (sleep 100 | sleep 100) & x=$(sleep 0.01) & done
