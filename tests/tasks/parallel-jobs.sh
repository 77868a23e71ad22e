job() { sleep ".$((5 - $1))"; echo "job $1" > "out.$1"; return $(($1 % 3)); }
pids=(); for i in 1 2 3 4; do job $i & pids+=($!); done; bad=0; for i in "${!pids[@]}"; do wait "${pids[i]}"; s=$?; echo "job $((i + 1)): $s"; ((s)) && ((++bad)); done; echo "failed $bad"; cat out.* | sort
seq 6 | xargs -P 3 -I{} sh -c 'echo $(({} * {}))' | sort -n | paste -sd' '; mkfifo q; (for i in a b c; do echo "$i"; done > q) & while read -r x; do echo "got $x"; done < q; wait
coproc BC { while read -r l; do echo $((l)); done; }; echo '6*7' >&${BC[1]}; read -r r <&${BC[0]}; echo "coproc $r"; eval "exec ${BC[1]}>&-"; wait $BC_PID; echo "ended $?"
wait; { sleep .4; echo slow; exit 6; } & p=$!; echo fast; wait -n $p; echo "wait -n $?"
