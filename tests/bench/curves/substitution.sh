# Command substitutions with N variables around.
# max: 100000
for ((i=0;i<N;i++)); do printf -v v$i x; done
for ((i=0;i<N;i++)); do x=$(echo y); done
