# One glob over N files.
# max: 100000
mkdir -p many; cd many
for ((i=0;i<N;i++)); do : > f$i; done
set -- *
