#: attacks = an image of no bytes
#: targets = exec
#: before = : > i
#: runner = exec i -- true
#: status = 125
