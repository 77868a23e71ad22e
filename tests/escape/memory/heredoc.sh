#: attacks = memory by here-documents, which may live in pipes or files
#: timeout = 1
#: memory = 64M
#: status = any
x=$(head -c 8000000 /dev/zero | tr '\0' x)
while :; do cat <<< "$x$x$x" | cat <<E > /dev/null &
$x $x
E
done
