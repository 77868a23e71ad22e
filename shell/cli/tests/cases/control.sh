# Compound commands, loops, errexit, pipelines (bash manual 3.2).
for i in 1 2 3; do [ $i = 2 ] && continue; echo $i; done
for ((i=0, j=10; i<3; i++, j--)); do echo $i $j; done
i=0; until [ $i -ge 2 ]; do echo u$i; ((i++)); done
while true; do while true; do break 2; done; echo never; done; echo out
case abc in a*) echo one ;;& *c) echo two ;& zzz) echo three ;; *) echo four ;; esac
if false; then echo a; elif true; then echo b; else echo c; fi
[[ abc == a?c && ( 1 -lt 2 || x == y ) ]] && echo cond
[[ foo123 =~ ([a-z]+)([0-9]+) ]] && echo ${BASH_REMATCH[1]} ${BASH_REMATCH[2]}
((5 > 3)) && echo arith; ((0)) || echo zero
{ echo brace; } | cat; (echo sub; exit 3); echo $?
! true; echo $?; ! false | false; echo $?
true | false | true; echo ${PIPESTATUS[@]}
set -o pipefail; false | true; echo $?; set +o pipefail
echo a | while read x; do y=$x; done; echo "[$y]"
shopt -s lastpipe; echo b | read z; echo "[$z]"; shopt -u lastpipe
(set -e; false; echo no); echo $?
(set -e; if false; then :; fi; false || true; ! true; echo yes; f() { false; echo in; }; f || echo or; f; echo no); echo $?
(set -e; x=$(false; echo continued); echo $x); (set -e; shopt -s inherit_errexit; x=$(false; echo no); echo no); echo $?
(set -e; (false); echo no); echo $?; (set -e; { false; }; echo no); echo $?
(set -eo pipefail; false | true; echo no); echo $?
f() { return 5; }; f; echo $?; f && echo no
g() { for i in 1 2 3; do if [ $i = 2 ]; then return $i; fi; done; }; g; echo $?
fact() { if (( $1 <= 1 )); then echo 1; else echo $(( $1 * $(fact $(( $1 - 1 ))) )); fi; }; fact 10
select s in red green; do echo "got $s ($REPLY)"; break; done 2>/dev/null <<< 2
set -u; (echo $nounset) 2>&1; echo $?; echo ${nounset-default}; set +u
for x; do echo never; done; set -- p q; for x; do echo pos $x; done
time_out=$( { time true; } 2>&1 | grep -c real ); echo $time_out
function kw { echo keyword; }; kw; kw() ( echo subshell body; exit 4 ); kw; echo $?
h() { echo to $1; } > /dev/null; h x; i() { cat; } <<< "from here"; i
echo one && echo two || echo three; false && echo x || echo y
{ false; true; }; echo $?; while false; do :; done; echo $?
(exit 300); echo $?; eval 'echo evaled; false'; echo $?
break 2>&1; echo $?; ( for i in 1; do (break); echo after; done ) 2>&1
coproc CP { while read l; do echo "<$l>"; done; }; echo hi >&${CP[1]}; read -r r <&${CP[0]}; echo $r
