#: attacks = a folder for an image
#: targets = exec
#: before = mkdir i
#: runner = exec i -- true
#: status = 125
