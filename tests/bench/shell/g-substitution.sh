# 10,000 command substitutions of a builtin.
i=0
#-- measured
while [ $i -lt 10000 ]; do x=$(echo $i); i=$((i+1)); done
echo $x
