#: attacks = a program that replaces itself without end
#: timeout = 1
#: status = 124
#: limit = timeout
export f='exec bash -c "$f"'
exec bash -c "$f"
