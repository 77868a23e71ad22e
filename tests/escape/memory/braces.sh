#: attacks = memory by brace expansion
#: timeout = 1
#: memory = 64M
#: status = any
while read -r line; do bash -c "$line" | wc -c; done << 'E'
echo {1..100000000}
echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}
x=({1..16000000}); echo ${#x[@]}
echo {1..9223372036854775807..1} {-9223372036854775808..9223372036854775807}
echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}
E
