#: attacks = the terminal, by what a guest prints
#: targets = exec
#: finding = low: escape sequences
#: streams = terminal
#: status = 0
#: says = contained
#: never = \e]0;
#: never = \e[2J
#: never = \eP
printf '\033]0;title\007\033[2J\033[6n\033Pq\033\\\n'
printf '\033]52;c;ZXZpbA==\007\033]8;;http://x\007' >&2
echo contained
