#: attacks = the terminal, by the name of an image and of a mount
#: finding = low: escape sequences
#: streams = terminal
#: targets = exec
#: runner = exec --mount \e[2J:/w:ro \e]0;title\a -- true
#: status = 2
#: never = \e]0;
#: never = \e[2J
