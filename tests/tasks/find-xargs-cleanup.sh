mkdir -p proj/{src,build,"my docs"}/sub; touch proj/src/{a,b}.c proj/src/sub/c.c proj/build/a.o "proj/my docs/old draft.txt" "proj/my docs/sub/it's.txt" proj/.hidden
printf 'x%.0s' {1..5000} > proj/build/big.bin; touch -d '2020-01-01' "proj/my docs/old draft.txt"
find proj -type f | sort; echo "-- by extension"; find proj -type f -name '*.*' -printf '%f\n' | sed 's/.*\.//' | sort | uniq -c | sed 's/^ *//'
echo "-- old"; find proj -type f ! -newermt 2021-01-01 -print0 | xargs -0 -n1 basename
echo "-- big"; find proj -size +4k -exec stat -c '%n %s' {} +
find proj -name '*.txt' -print0 | xargs -0 -I{} sh -c 'mv "$1" "${1%.txt}.md"' _ {}
find proj -name '*.md' | sort; find proj -path proj/build -prune -o -name '*.[ch]' -print | sort | xargs wc -c | tail -1
find proj \( -name '*.o' -o -name '*.bin' \) -delete; find proj -type d -empty | sort
find proj -type f | xargs -d '\n' -P 2 -n 2 echo | wc -l
