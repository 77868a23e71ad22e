#: attacks = descriptors with numbers at the edge
#: status = any
for n in 3 9 10 28 29 30 63 255 256 1023 1024 4000 4095 4096 65535 2147483647 2147483648 4294967295 99999999999999999999; do
  eval "exec $n> /tmp/f$n"; eval "echo x >&$n"; eval "exec $n>&-"; eval "cat <&$n"; cat /dev/fd/$n; bash -c "echo x >&$n"; eval "exec {x}<&$n"
done 2> /dev/null < /dev/null
exit 0
