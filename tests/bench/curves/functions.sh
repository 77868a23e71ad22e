# N functions defined, then called.
# max: 100000
for ((i=0;i<N;i++)); do eval "f$i() { :; }"; done
for ((i=0;i<N;i++)); do f$i; done
