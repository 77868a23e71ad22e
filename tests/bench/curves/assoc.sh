# Associative array: written, then read.
declare -A h
for ((i=0;i<N;i++)); do h[key$i]=$i; done
for ((i=0;i<N;i++)); do x=${h[key$i]}; done
