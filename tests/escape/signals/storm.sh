#: attacks = signals between processes without end, all of them caught
#: timeout = 1
#: status = 124
#: limit = timeout
trap : TERM USR1 USR2 CHLD ALRM HUP INT QUIT
for i in 1 2 3 4; do (trap : TERM USR1 USR2; while :; do kill -TERM 0; kill -USR1 $$; kill -USR2 $PPID; done 2> /dev/null) & done
while :; do kill -TERM 0; wait; done 2> /dev/null
