#: attacks = memory by an array without end
#: timeout = 1
#: memory = 64M
#: status = 1 2 124 134 137 139
i=0
while :; do a[i]=$i; b[$((i * 1000003))]=x$i; i=$((i + 1)); done
