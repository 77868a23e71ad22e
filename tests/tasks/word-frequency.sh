cat > text.txt <<'T'
It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief -- it was the epoch of
incredulity; it was the season of Light. Naïve café? "It was", she said.
T
tr -cs '[:alpha:]' '\n' < text.txt | tr A-Z a-z | sort | uniq -c | sort -k1,1nr -k2,2 | head -6 | awk '{ print $2 ": " $1 }'
echo "words $(wc -w < text.txt), lines $(wc -l < text.txt), longest $(tr -s '[:space:][:punct:]' '\n' < text.txt | awk '{ print length, $0 }' | sort -rn | head -1)"
fold -s -w 30 text.txt | sed 's/ *$//' | nl -w2 -s'| ' | head -4; grep -o -i '\bit was\b' text.txt | wc -l; rev <<< "desserts"; wc -m < text.txt; wc -c < text.txt
awk '{ for (i = 1; i <= NF; i++) if (!seen[tolower($i)]++) printf "%s ", $i } END { print "" }' text.txt | fmt -w 50; expand -t 4 <<< $'a\tb' ; grep -nE '^(It|it) was.*(wisdom|belief)' text.txt | cut -c1-12
