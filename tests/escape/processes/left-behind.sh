#: attacks = a background process that outlives the command and holds its output
#: timeout = 8
#: seconds = 4
#: status = 0
#: says = ended
sleep 1000 & nohup sleep 1000 & (trap '' HUP TERM; sleep 1000) & disown -a; setsid sleep 1000 &
echo ended
