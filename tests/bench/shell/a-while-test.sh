# 5,000 rounds of `while [ ... ]` with an arithmetic assignment.
#-- measured
i=0
while [ $i -lt 5000 ]; do i=$((i+1)); done
echo $i
