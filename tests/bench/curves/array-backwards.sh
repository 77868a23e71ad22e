# Array elements written from the end.
for ((i=N;i>=0;i--)); do a[i]=$i; done
