# `while read` from a pipe.
seq $N | while read -r x; do :; done
