n=0; flaky() { n=$((n + 1)); echo "try $n" >&2; [ $n -ge ${1:-3} ] && echo ok; }
retry() { local max=$1 delay=.01 i; shift; for ((i = 1; i <= max; i++)); do if out=$("$@" 2>>err.log); then echo "$out after $i"; return 0; fi; sleep $delay; delay=.0$((i * 2)); done; echo "gave up after $max: $*" >&2; return 75; }
count=0; step() { count=$(($(cat c 2>/dev/null || echo 0) + 1)); echo $count > c; echo "attempt $count" >&2; ((count >= 3)) && echo done; }
retry 5 step; echo "=> $?"; cat err.log; rm -f c err.log; retry 2 step; echo "=> $?"; timeout 0.3 sleep 5; echo "timeout $?"; timeout -s INT 1 bash -c 'trap "echo int; exit 9" INT; sleep 3 & wait'; echo "=> $?"; flaky 1; until flaky 3; do :; done 2>&1
( set -o pipefail; false | true; echo "pipefail ${PIPESTATUS[*]} $?" ); wait; echo end
