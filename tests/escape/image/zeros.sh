#: attacks = a device for an image
#: targets = exec
#: before = ln -s /dev/zero i
#: runner = exec --timeout 1 i -- true
#: timeout = 1
#: status = 125
