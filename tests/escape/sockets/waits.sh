#: attacks = the end of a run by processes that wait for connections, bytes and room
#: status = 124
#: limit = timeout
#: timeout = 1
nc -l 1000 </dev/null &
nc -lk 1001 </dev/null | sleep 60 &
yes | nc localhost 1001 &
exec 3<>/dev/tcp/localhost/1001
cat <&3 &
wait
