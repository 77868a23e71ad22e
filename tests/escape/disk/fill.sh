#: attacks = the disk limit by one file
#: disk = 2M
#: status = 0
#: says = contained
head -c 1G /dev/zero > /tmp/f; cat /dev/urandom >> /tmp/f; dd if=/dev/zero of=/tmp/g bs=1M count=100
rm -f /tmp/f /tmp/g; echo contained > /tmp/h && cat /tmp/h
