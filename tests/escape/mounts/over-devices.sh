#: attacks = a mount over the devices
#: mount = work:/dev:rw
#: status = 125
echo never
