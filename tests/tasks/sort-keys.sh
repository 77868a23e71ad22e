cat > f <<'F'
v1.10.0 200K Mar b
v1.9.3 1M Jan a
v1.9 3G Feb c
v2.0-rc1 512 Dec B
v1.10.0 200K Mar A
F
for o in "-V" "-k2,2h" "-k3,3M" "-k4,4f" "-k1,1Vr -k4,4" "-s -k1,1" "-u -k1,1" "-c"; do echo "== $o"; sort $o f 2>&1; done; sort -n <<< $'10\n9\n-3\n0x10\n1e2' | paste -sd' '; sort -g <<< $'10\n9\n1e2\nnan\n-inf' | paste -sd' '; LC_ALL=C sort <<< $'b\nA\na\nB' | paste -sd' '
uniq -D -w3 <(sort f) | wc -l; sort -z <(printf 'b\0a\0') | tr '\0' ' '; echo; sort -m <(printf '1\n3\n') <(printf '2\n4\n') | paste -sd,; head -c 20 f | od -An -tx1 | head -1; tail -n +4 f | cut -f1 -d' '
