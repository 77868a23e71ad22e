#: attacks = memory by a variable that doubles
#: timeout = 4
#: memory = 64M
#: status = 1 2 134 137 139
x=aaaaaaaaaaaaaaaa
while :; do x=$x$x; done
