#: attacks = a named pipe for an image, which nobody writes to
#: finding = H2
#: targets = exec
#: before = mkfifo i
#: runner = exec --timeout 1 i -- true
#: timeout = 1
#: status = 125
