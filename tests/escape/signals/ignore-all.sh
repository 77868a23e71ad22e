#: attacks = a session that ignores every signal
#: timeout = 1
#: status = 124
#: limit = timeout
for s in $(seq 1 64); do trap '' $s; done 2> /dev/null
bash -c 'while :; do kill -TERM $PPID; done' & python3 -c 'while True: pass' & while :; do :; done
