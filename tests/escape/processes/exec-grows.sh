#: attacks = a program that replaces itself with ever more arguments
#: timeout = 1
#: memory = 64M
#: status = any
exec bash -c 'exec bash -c "$0" "$@" "$@" x' 'exec bash -c "$0" "$@" "$@" x' x
