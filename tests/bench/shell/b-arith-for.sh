# A million rounds of `for ((...))`.
# not: dash
#-- measured
for ((i=0;i<1000000;i++)); do x=$((x+i)); done
echo $x
