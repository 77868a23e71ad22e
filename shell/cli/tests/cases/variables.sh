# Variables, attributes, arrays, scopes (bash manual 3.4, 4.2 declare, 6.7).
x=1; x+=2; declare -i n=5; n+=3; n=n*2; echo $x $n
declare -l low=ABC; declare -u up=abc; declare -c cap=hELLO; echo $low $up $cap
declare -p x n low up cap
a=(1 2 "3 4"); a[7]=x; a+=(y z); declare -p a; echo ${#a[@]} ${!a[@]} "${a[-1]}"
unset 'a[1]'; declare -p a
declare -A h=([one]=1 ["two words"]=2); h[three]=3; for k in "${!h[@]}"; do echo "$k=${h[$k]}"; done | sort
declare -a e; declare -p e; e+=(q); declare -p e
f() { local x=local y; y=$x; g; echo "f: $x $y"; unset x; echo "f after unset: ${x-unset}"; }
g() { x=changed; echo "g: $x"; unset x; echo "g after unset: $x"; }
x=global; f; echo "global: $x"
t() { echo "t: $v"; local v; echo "t local: $v"; unset v; echo "t unset: ${v-none}"; }
v=outer; v=temp t; echo $v
declare -n ref=target; ref=hello; echo $target ${!ref}; target=(1 2 3); echo ${ref[1]}; unset -n ref; echo ${ref-gone}
elem() { local -n r=$1; r[3]=new; r+=(tail); }
arr=(a b); elem arr; declare -p arr
readonly R=1; (R=2) 2>&1; (unset R) 2>&1; declare -p R
export E=exported; declare -p E; (declare +x E; env | grep -c '^E=')
outer() { declare -g G=fromfunc; local G2=x; declare -p G2; }; outer; echo $G ${G2-unset}
IFS=: read a b c <<< "1:2:3:4"; echo "$a|$b|$c"
printf -v 'pv[2]' %s val; declare -p pv
set -- a b c; echo $# $1 ${@:2} "${@: -1}"; shift 2; echo $*
declare -i arith; arith="3 + 4 * 2"; echo $arith; arith=foo; echo $arith
declare -ar ro=(1 2); { ro[0]=x; } 2>&1; declare -p ro
y=5 eval 'echo $y'; echo ${y-unset}
echo ${x@A} "${a[@]@Q}" ${n@a}
declare -x -i xi=7; declare -p xi
local_outside() { :; }; { local q=1; } 2>&1; echo $?
declare 1bad=3 2>&1; echo $?
s=abc; s[2]=def; declare -p s
m=([3]=c [1]=a); declare -p m; m=(); declare -p m
declare -A q=(a 1 b 2); echo ${q[a]} ${q[b]}
typeset -p nosuch 2>&1; echo $?
