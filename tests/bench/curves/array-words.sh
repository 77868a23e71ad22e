# A loop over all elements.
a=({1..10})
while ((${#a[@]} < N)); do a+=("${a[@]}"); done
a=("${a[@]:0:N}")
for x in "${a[@]}"; do :; done
