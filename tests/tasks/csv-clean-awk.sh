cat > people.csv <<'CSV'
name,age,city
"Smith, John",42,Paris
  Ann  ,thirty,Rome

Bob,7,"New ""York"""
Carla,65,paris
CSV
awk -v FPAT='([^,]*)|("([^"]|"")*")' -v OFS='|' 'NR == 1 { print; next } NF == 0 { next }
{ for (i = 1; i <= NF; i++) { if ($i ~ /^"/) { $i = substr($i, 2, length($i) - 2); gsub(/""/, "\"", $i) } gsub(/^ +| +$/, "", $i) } $1 = $1 }
$2 !~ /^[0-9]+$/ { print "bad age on line " NR ": " $2 > "/dev/stderr"; bad++; next } { print; n++; sum += $2; city[tolower($3)]++ }
END { printf "rows %d bad %d mean %.1f\n", n, bad, sum / n; for (c in city) print c, city[c] | "sort"; close("sort"); exit bad > 0 }' people.csv > out.txt 2> err.txt
echo "status $?"; cat out.txt; echo "-- stderr"; cat err.txt; column -t -s'|' out.txt | head -3
