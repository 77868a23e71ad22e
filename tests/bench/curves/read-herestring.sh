# `while read` from a here-string.
text=$(seq $N)
while read -r x; do :; done <<< "$text"
