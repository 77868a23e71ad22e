# String append.
for ((i=0;i<N;i++)); do s+=word; done
