work() ( set -e; t=$(mktemp -d); trap 'rm -rf "$t"; echo "cleaned, status $?"' EXIT; trap 'echo "error on line $LINENO"' ERR
  echo data > "$t/a"; cp "$t/a" "$t/b"; ls "$t"; cmp "$t/a" "$t/b"; "$@"; echo "done" )
work true; echo "=> $?"; work false; echo "=> $?"; work exit 7; echo "=> $?"
( trap 'echo got TERM; exit 143' TERM; sleep 5 & wait $! ) & p=$!; sleep .3; kill -TERM $p; wait $p; echo "background ended with $?"
cleanup() { echo "bye from $FUNCNAME, $#"; }; trap 'cleanup a b' EXIT; trap 'echo usr1' USR1; kill -USR1 $$; trap -p USR1; trap - USR1; trap -p | wc -l
