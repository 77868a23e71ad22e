#: attacks = processes that double
#: timeout = 1
#: status = any
:(){ :|:& };:
while :; do wait; : | :; done
