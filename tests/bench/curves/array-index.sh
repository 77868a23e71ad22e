# Array elements by subscript: written, then read.
for ((i=0;i<N;i++)); do a[i]=$i; done
for ((i=0;i<N;i++)); do x=${a[i]}; done
