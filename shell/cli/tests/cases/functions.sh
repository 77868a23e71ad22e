# FUNCNAME, BASH_SOURCE, recursion, printing of functions, subshell state.
a() { b; }; b() { echo ${FUNCNAME[@]} ${#BASH_SOURCE[@]} ${BASH_LINENO[@]}; }; a
r() { (( $1 )) || { echo bottom; return; }; r $(( $1 - 1 )); }; r 200
d() { if true; then for i in 1 2; do case $i in 1) echo one;; *) echo other;; esac; done; fi > /dev/null 2>&1; while read x; do :; done < /dev/null; }; declare -f d
e() { cat <<X
here $1
X
}; e doc; declare -f e; p() { echo a | cat && echo b || echo c; { x=1; } & }; declare -f p
q() ( cd /; pwd ); q; declare -f q
c() { local -a l=(1 2); local s="a b"; echo "${l[1]} $s"; }; c
outer() { inner() { echo defined inside; }; }; outer; inner
unset -f inner; inner 2>/dev/null || echo gone
export -f e; $BASH -c 'e exported'
v=1; (v=2; echo $v); echo $v; { v=3; }; echo $v; v=4 | :; echo $v
(cd /usr; pwd); [ "$PWD" = "$(pwd)" ] && echo same
w() { echo "$# $*"; shift; echo "$# $*"; set -- n; echo $1; }; w 1 2 3; echo $#
x() { return; }; false; x; echo $?; y() { false; return; }; y; echo $?
n() { echo $1; n2() { echo nested $1; }; n2 deep; }; n top; declare -F | grep -c n2
z() { echo piped $1 $v; local m=in; echo $m | cat; } ; z arg | cat; z bg & wait
loop() { for i; do echo "$i"; done; }; loop 'a b' c; "loop" quoted; \loop escaped
IFS=,; j() { echo "$*"; }; j 1 2 3; unset IFS
s() { local IFS=-; echo "$*"; t; }; t() { set -- x y; echo "$*"; }; s a b; echo "$IFS" | od -An -c | head -1
function with-dash { echo dash; }; with-dash; function a.b { echo dot; }; a.b
BASH_ARGV0=renamed; echo $0; echo $BASH_SUBSHELL $(echo $BASH_SUBSHELL) $( (echo $BASH_SUBSHELL) )
echo "${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]} $BASH_VERSION"; echo $SHLVL | grep -c '[0-9]'; echo $- | tr -d i
RANDOM=42; echo $RANDOM $RANDOM $RANDOM; SECONDS=100; echo $SECONDS
echo $_ last; echo $_; : a b; echo $_
