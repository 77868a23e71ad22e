#: attacks = memory by widths and precisions of printf
#: timeout = 1
#: memory = 64M
#: status = any
while read -r line; do bash -c "$line" | wc -c; done << 'E'
printf '%*d' 2000000000 1
printf '%.*f' 2000000000 1
printf '%2147483647s' x
printf -v x '%*s' 60000000 y; printf -v y '%s%s%s%s' $x $x $x $x
printf '%99999999999999999999d' 1
awk 'BEGIN{printf "%2000000000d", 1}'
awk 'BEGIN{x = sprintf("%*s", 2000000000, "y"); print length(x)}'
python3 -c 'print(len("%2000000000d" % 1))'
python3 -c 'print(len(f"{1:>2000000000}"))'
jq -n '"x" * 2000000000'
E
