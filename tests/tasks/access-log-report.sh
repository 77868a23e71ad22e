# Which paths fail most, which clients are busiest, how many bytes by hour?
awk 'BEGIN { srand(7); s = 42
  for (i = 0; i < 400; i++) { s = (s * 1103515245 + 12345) % 2147483648; a = int(s / 65536) % 17
    s = (s * 1103515245 + 12345) % 2147483648; p = int(s / 65536) % 6
    s = (s * 1103515245 + 12345) % 2147483648; c = int(s / 65536) % 10
    printf "10.0.0.%d - - [12/Mar/2024:%02d:%02d:%02d +0000] \"GET /%s HTTP/1.1\" %d %d\n", a, i / 40, i % 60, (i * 7) % 60, substr("indexapi/vloginshop.jsabout", p * 4 + 1, 5), c < 7 ? 200 : c < 9 ? 404 : 500, 100 + i * 13 % 977 } }' > access.log
wc -l < access.log
echo "== failing paths"; awk '$9 >= 400 { n[$7 " " $9]++ } END { for (k in n) print n[k], k }' access.log | sort -k1,1nr -k2 | head -5
echo "== busiest clients"; cut -d' ' -f1 access.log | sort | uniq -c | sort -k1,1nr -k2,2V | head -4 | sed 's/^ *//'
echo "== bytes by hour"; awk -F'[:[]' '{ h = $3; match($0, /[0-9]+$/); b[h] += substr($0, RSTART) } END { for (h in b) printf "%s %8d %s\n", h, b[h], substr("####################", 1, b[h] / 2000) }' access.log | sort
echo "== error rate"; awk '{ t++ } $9 ~ /^5/ { e++ } END { printf "%.2f%%\n", 100 * e / t }' access.log
