# 100,000 regular expression matches with groups.
# not: dash
#-- measured
n=0
for ((i=0;i<100000;i++)); do
  if [[ item-$i =~ ^([a-z]+)-([0-9]*)7$ ]]; then n=$((n+${BASH_REMATCH[2]:-0})); fi
done
echo $n
