#!/bin/bash
set -euo pipefail
declare -A stock price
add() { local item=$1 n=$2; stock[$item]=$(( ${stock[$item]:-0} + n )); }
sell() { local item=$1 n=$2
  if (( ${stock[$item]:-0} < n )); then echo "cannot sell $n $item: ${stock[$item]:-0} left" >&2; return 3; fi
  (( stock[$item] -= n )) || true; }
report() { local k total=0; for k in $(printf '%s\n' "${!stock[@]}" | sort); do
    printf '%-8s %4d %8.2f\n' "$k" "${stock[$k]}" "${price[$k]:-0}"; total=$(awk -v t="$total" -v n="${stock[$k]}" -v p="${price[$k]:-0}" 'BEGIN { print t + n * p }'); done; echo "total $total"; }
while read -r verb rest; do
  case $verb in
    add|sell) "$verb" $rest || echo "  (status $?)" ;;
    price) set -- $rest; price[$1]=$2 ;;
    '#'*|'') ;;
    *) echo "unknown: $verb" ;;
  esac
done <<'CMDS'
# opening stock
add pear 10
add fig 3
price pear 0.35
sell pear 4
sell fig 9
price fig 1.2
dance
add pear 1
CMDS
report
