#: attacks = a mount over the root
#: mount = work:/:rw
#: status = 125
echo never
