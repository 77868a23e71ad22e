# printf with N arguments.
set -- $(seq $N)
printf '%s\n' "$@" > out
