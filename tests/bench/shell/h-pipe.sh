# 1,000 pipelines of a builtin and a program in a command substitution.
i=0
#-- measured
while [ $i -lt 1000 ]; do x=$(printf 'line %s\n' $i | tr a-z A-Z); i=$((i+1)); done
echo $x
