#: attacks = a mount over the bridge's nodes
#: mount = work:/.box:rw
#: status = 125
echo never
