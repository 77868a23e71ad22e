#: attacks = traps for every command that run commands
#: timeout = 1
#: status = any
set -T -E
trap 'f' DEBUG; trap 'f; false' ERR RETURN
f() { false; f; }
while :; do false; done
