#: attacks = patterns that backtrack in grep, sed, expr and the shell
#: timeout = 1
#: status = any
s=$(printf 'a%.0s' $(seq 5000))
for r in '(a*)*b' '(a|aa)+$b' '(.*)(.*)(.*)(.*)(.*)\1\2x' '(a?){500}a{500}b' '(a+)+\1+b' '((a{1,99}){1,99}){1,99}b' '\(a*\)*\1\1b'; do
  echo $s | grep -E "$r"; echo $s | grep -P "$r"; echo $s | sed -E "s/$r/x/"; expr $s : "$r"; [[ $s =~ $r ]]; echo $s | awk "/$r/"
done > /dev/null 2>&1
