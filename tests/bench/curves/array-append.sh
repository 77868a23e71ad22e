# Array append.
for ((i=0;i<N;i++)); do a+=("$i"); done
