# 100,000 appends to a string.
# not: dash
#-- measured
for ((i=0;i<100000;i++)); do s+=word; done
echo ${#s}
