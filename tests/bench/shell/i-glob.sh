# 10,000 globs over a directory of 1,000 files.
mkdir -p files
cd files
i=0
while [ $i -lt 1000 ]; do : > file$i.txt; i=$((i+1)); done
#-- measured
i=0
n=0
while [ $i -lt 10000 ]; do
  set -- file9*.txt
  n=$((n+$#))
  i=$((i+1))
done
echo $n $1
