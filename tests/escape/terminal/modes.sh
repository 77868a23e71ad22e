#: attacks = the terminal's modes, which must be as before
#: streams = terminal
#: timeout = 1
#: status = any
stty raw -echo; stty -a; tput reset; reset; clear; python3 -c 'import tty; tty.setraw(1)'; python3 -c 'import termios; print(termios.tcgetattr(1))'; tty; exec < /dev/tty
