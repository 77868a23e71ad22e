# Traps, jobs, signals (bash manual 3.7.6, 4.1, 7).
trap 'echo ERR $?' ERR; false; (false); f() { false; }; f; false || true; trap - ERR
trap 'echo DEBUG: $BASH_COMMAND' DEBUG; x=1; echo $x; trap - DEBUG
g() { trap 'echo RETURN' RETURN; echo in g; }; g; trap - RETURN
(trap 'echo sub exit $?' EXIT; exit 4); echo $?
trap 'echo USR1' USR1; kill -USR1 $$; echo after; trap '' USR1; kill -USR1 $$; echo ignored; trap - USR1
(trap 'echo term; exit 9' TERM; kill -TERM $BASHPID; echo no); echo $?
sleep 0.05 & p=$!; wait $p; echo $?; (exit 6) & wait $!; echo $?
{ sleep 0.02; echo bg; } & wait; echo done
sleep 5 & kill $!; wait $!; echo $?
wait 99999 2>&1; echo $?
for i in 1 2 3; do (exit $i) & done; wait; echo $?
(exit 3) & (exit 4) & wait -n; wait; echo $?
$BASH -c 'trap "echo bye" EXIT; echo hi; exit 2'; echo $?
h() { trap 'echo fexit' EXIT; }; (h; echo body)
x=$(trap 'echo csub' EXIT; echo val); echo $x
trap 'echo e1' EXIT; trap; (trap); trap - EXIT
set -E; trap 'echo err in $FUNCNAME' ERR; k() { false; }; k; trap - ERR; set +E
echo $(kill -l INT) $(trap -l | head -1 | cut -c1-9)
set -x 2>/dev/null; { set +x; } 2>/dev/null
{ PS4='+ $LINENO: '; set -x; y=2; echo $y "a b"; [[ $y == 2 ]]; for q in 1; do :; done; ((y++)); z=(1 2); set +x; } 2>&1 | sed 's/^[^:]*: line//'
