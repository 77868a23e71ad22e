#: attacks = the time limit by tools that loop by themselves
#: timeout = 1
#: status = 124
#: limit = timeout
awk 'BEGIN { while (1); }' & awk 'function f(x) { return f(x + 1) } BEGIN { f(1) }' & jq -n 'def f: f; f' & jq -n '[recurse]|last' &
jq -n 'last(range(1e18))' & sed ':a; ba' /etc/passwd & echo 'while (1) {}' | bc & seq 1e18 > /dev/null & yes > /dev/null &
factor 340282366920938463463374607431768211455 & echo '2^2^40' | bc > /dev/null & jq -n 'def f: f + 1; f' & wait
while :; do wait; done
