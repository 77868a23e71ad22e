printf '%s\n' '3,Carol,10' '1,Ann,20' '2,Bob,10' '4,Dan,' > users.csv; printf '%s\n' '10,Sales' '20,R&D' '30,Legal' > depts.csv
sort -t, -k3,3 users.csv > u.s; sort -t, -k1,1 depts.csv > d.s
join -t, -1 3 -2 1 -o 1.1,1.2,2.2 u.s d.s | sort -n; echo "-- no department"; join -t, -v1 -1 3 -2 1 u.s d.s; echo "-- nobody"; join -t, -v2 -1 3 -2 1 u.s d.s
join -t, -a1 -e NONE -1 3 -2 1 -o 1.2,2.2 u.s d.s; awk -F, 'NR == FNR { d[$1] = $2; next } { print $2, ($3 in d) ? d[$3] : "?" }' depts.csv users.csv | sort
paste -d: <(cut -d, -f1 users.csv) <(cut -d, -f2 users.csv | tr a-z A-Z); sort -t, -k3,3nr -k2,2 users.csv | head -2; sort -u -t, -k3,3 users.csv | wc -l; tac users.csv | head -1; shuf -i 1-5 --random-source=<(yes) | sort | paste -sd+ | bc 2>/dev/null || echo no bc
