#: attacks = processes that wait for each other
#: timeout = 1
#: status = 124
#: limit = timeout
cd /tmp; mkfifo a b
(cat < a > b) & (cat < b > a) & cat a b & exec 8<> a 9<> b; cat <&8 >&9 & wait
