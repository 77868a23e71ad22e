cat > mixed.txt <<'M'
Contact: ann@example.org, bob.b+tag@mail.co.uk; not-an@mail
Call +1 (555) 010-9999 or 555-0100. ID: 550e8400-e29b-41d4-a716-446655440000
Price: $1,234.50 (was €2.000,00) 12/31/2024 2024-02-30 192.168.1.254 999.1.1.1
M
grep -oE '[[:alnum:]._+-]+@[[:alnum:]-]+(\.[[:alnum:]-]+)+' mixed.txt; grep -oP '(?<=ID: )[0-9a-f-]{36}' mixed.txt; grep -oE '\b([0-9]{1,3}\.){3}[0-9]{1,3}\b' mixed.txt; grep -oP '\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b' mixed.txt
sed -nE 's/.*([0-9]{2})\/([0-9]{2})\/([0-9]{4}).*/\3-\1-\2/p' mixed.txt; awk '{ while (match($0, /[0-9]+(,[0-9]{3})*(\.[0-9]+)?/)) { t = substr($0, RSTART, RLENGTH); gsub(",", "", t); if (t > 1000) print t + 0; $0 = substr($0, RSTART + RLENGTH) } }' mixed.txt | head -3
[[ "2024-02-30" =~ ^([0-9]+)-([0-9]+)-([0-9]+)$ ]] && echo "${BASH_REMATCH[@]:1}"; python3 - <<'P'
import re
t = open("mixed.txt").read()
print(re.findall(r"(?P<sign>[$€])\s?(?P<n>[\d.,]+\d)", t), re.sub(r"(\w+)@(\w+)", lambda m: f"{m[1][0]}***@{m[2]}", t.splitlines()[0]), re.split(r"[;,]\s*", "a, b;c"), bool(re.fullmatch(r"(a|b)*c", "ababc")), [m.span() for m in re.finditer(r"\d{3}-", t)])
P
grep -vnE 'Call|Price' mixed.txt | cut -c1-10; grep -c '' mixed.txt; grep -l Price *.txt; grep -iw 'CALL' mixed.txt | cut -c1-4; echo aaa | sed 's/a*/x/g; s/x/[&]/'; egrep -o 'a{2}' <<< aaaaa 2>/dev/null | wc -l
