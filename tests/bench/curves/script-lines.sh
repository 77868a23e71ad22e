# A script of N lines, read and run.
# max: 100000
{ for ((i=0;i<N;i++)); do echo "x=$i"; done; } > script
. ./script
