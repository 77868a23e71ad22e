#: attacks = EXIT traps that never end
#: timeout = 1
#: status = 124
#: limit = timeout
trap 'bash -c "trap \"while :; do :; done\" EXIT; exit"; while :; do kill -TERM $$; done' EXIT TERM
exit
