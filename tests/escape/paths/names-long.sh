#: attacks = names and paths of every length about the limits
#: status = 0
#: says = contained
for n in 254 255 256 257 4094 4095 4096 4097 8192 65536 1000000; do
  name=$(printf "%${n}s" | tr ' ' n)
  echo x > "/tmp/$name"; mkdir "/tmp/d$name"; ln -s "$name" "/tmp/l$n"; cat "/tmp/l$n"; mv "/tmp/$name" /tmp/m; cd "/tmp/$name"
done 2> /dev/null
echo contained
