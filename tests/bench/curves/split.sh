# Word splitting of one long value.
text=$(seq $N)
set -- $text
for x; do :; done
