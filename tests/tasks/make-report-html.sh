cat > data.tsv <<'D'
Widget	12	3.50
Gadget & Co	5	19.99
<b>Bolt</b>	100	0.05
D
esc() { sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'; }
{ echo "<table>"; esc < data.tsv | awk -F'\t' '{ printf "<tr><td>%s</td><td align=right>%d</td><td>%.2f</td></tr>\n", $1, $2, $2 * $3; t += $2 * $3 } END { printf "<tr><th colspan=2>total</th><th>%.2f</th></tr>\n", t }'; echo "</table>"; } | tee report.html
grep -c '<tr>' report.html; sed -n 's/.*<th>\([0-9.]*\)<.*/\1/p' report.html; sed 's/<[^>]*>/ /g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' report.html | tr -s ' ' | sed '/^ *$/d'; printf '| %s | %s |\n' $(cut -f2,3 data.tsv); numfmt --to=iec 1048576 1500 2>/dev/null; printf "%'d\n" 1234567
