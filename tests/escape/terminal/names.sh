#: attacks = the terminal, by names in messages of tools
#: targets = exec
#: finding = low: escape sequences
#: streams = terminal
#: status = any
#: never = \e]0;
#: never = \e[2J
n=$(printf '\033]0;title\007\033[2J'); cat "$n"; ls "$n"; cd "$n"; "$n"; : > "/tmp/$n"; ls /tmp; rm "/nosuch/$n"; python3 "$n"; exit "$n"
