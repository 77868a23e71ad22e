#: attacks = memory by tools that must hold all of their input
#: timeout = 1
#: memory = 256M
#: processes = 64
#: status = any
for t in sort tac 'tail -n 1000000000' shuf tsort 'column -t' 'paste -s' 'uniq -c' rev; do
  (yes | $t | wc -c) & (cat /dev/zero | $t | wc -c) &
done
wait; exit 0
