#: attacks = a shell without streams
#: status = any
exec 0<&- 1>&- 2>&-
echo x; cat; cat /etc/passwd | cat; ls; x=$(cat); exec 3<&-; exec 4<> /tmp/f; python3 -c 'print(1)'; sort < /etc/passwd > /tmp/g
