#: attacks = memory by awk's own values
#: timeout = 1
#: memory = 64M
#: status = any
awk 'BEGIN { x = "x"; while (1) x = x x }'; awk 'BEGIN { while (1) a[i++] = i }'; awk 'BEGIN { $1000000000 = 1 }'
awk 'BEGIN { NF = 2147483647; print }' | wc -c; awk 'BEGIN { x = sprintf("%c", 1); for (;;) { gsub(/x*/, "xxxx", y) } }'
exit 0
