# `mapfile` and the sum of its elements.
mapfile -t a < <(seq $N)
s=0
for x in "${a[@]}"; do ((s+=x)); done
