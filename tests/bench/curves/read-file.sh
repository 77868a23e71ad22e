# `while read` from a file.
seq $N > lines
while read -r x; do :; done < lines
