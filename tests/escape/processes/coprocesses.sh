#: attacks = coprocesses and process substitutions without end
#: timeout = 1
#: status = any
while :; do coproc cat; exec {x}< <(cat <(cat <(cat <(yes)))); : > >(cat > >(cat)); done 2> /dev/null
