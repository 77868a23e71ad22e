#: attacks = names with line feeds, escape sequences and bytes that are no text, in the list of changes
#: json = yes
#: status = 0
#: never = \e
cd /output
touch $'a\nb' $'\e[2J\e]0;title\a' $'\xff\xfe' $'\x01\x7f' ' ' '"' '\' "'" '{"path":"/etc"}' $'\u202e' '-rf' '*'
for i in $(seq 100); do touch "$(printf '%b' "n\\x$(printf %02x $((RANDOM % 254 + 1)))x$i")"; done 2> /dev/null
echo contained
