#: attacks = expansions whose work grows with the square or worse
#: timeout = 1
#: memory = 256M
#: status = any
while read -r line; do
  timeout 0.5 bash -c "x=\$(head -c 300000 /dev/zero | tr '\\0' a); shopt -s extglob; $line"
done << 'E' > /dev/null 2>&1
: "${x//a/bb}" "${x//a*a*a*a*b/}"
: "${x##*a*a*a*a*b}" "${x%%a*a*a*a*b*}" "${x^^?}"
[[ $x == *a*a*a*a*a*a*b ]]
[[ $x =~ (a*)*b ]]
[[ $x == +(+(+(a)))b ]]
case $x in *(a|aa|aaa)b) ;; esac
set -- $(printf '%300000s' | sed 's/ /a /g'); IFS=a; set -- $x
E
exit 0
