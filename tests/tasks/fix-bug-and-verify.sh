cat > stats.sh <<'S'
mean() { local s=0 x; for x; do s=$((s + x)); done; echo $((s / $#)); }
max() { local m=0 x; for x; do ((x > m)) && m=$x; done; echo $m; }
S
cat > check.sh <<'C'
. ./stats.sh; fails=0
t() { local want=$1 got; shift; got=$("$@" 2>&1); if [[ $got == "$want" ]]; then echo "ok   $*"; else echo "FAIL $*: want '$want', got '$got'"; ((fails++)); fi; }
t 2 mean 1 2 3; t 0 mean; t 9 max 4 9 1; t -2 max -5 -2 -7; exit $fails
C
bash check.sh; echo "=> $?"
sed -i -e 's/mean() { /&(($#)) || { echo 0; return; }; /' -e 's/local m=0 x/local m=$1 x/' stats.sh; cat stats.sh; bash check.sh; echo "=> $?"; bash -x stats.sh 2>&1; bash -c '. ./stats.sh; declare -f max'; PS4='+${LINENO}: ' bash -xc 'x=1; echo $((x+1))' 2>&1; grep -n 'return' stats.sh | wc -l
