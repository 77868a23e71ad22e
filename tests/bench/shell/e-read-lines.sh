# `while read` over 100,000 lines of a file.
seq 100000 > lines
#-- measured
n=0
while read -r line; do n=$((n+line)); done < lines
echo $n
