# An array of 100,000 elements: built by subscript and by +=, then summed.
# not: dash
#-- measured
for ((i=0;i<100000;i++)); do a[i]=$i; b+=("$i"); done
s=0
for x in "${a[@]}"; do s=$((s+x)); done
echo ${#a[@]} ${#b[@]} $s "${b[77777]}"
