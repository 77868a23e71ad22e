# `while read` from a here-document of N lines.
text=$(seq $N)
while read -r x; do :; done <<EOF
$text
EOF
