#: attacks = processes that start others after the first one has ended
#: finding = low: spawns after the end
#: timeout = 8
#: seconds = 4
#: status = 0
#: says = ended
export f='trap "" TERM HUP INT; while :; do bash -c "$f" & bash -c "$f" & done'
bash -c "$f" > /dev/null 2>&1 &
bash -c "$f" > /dev/null 2>&1 &
sleep 0.3
echo ended
exit 0
