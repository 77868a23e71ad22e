#: attacks = a mount of one file: its folder, its replacement
#: mount = work/file:/etc/given:ro
#: before = echo original > work/file; echo not-for-guests > work/beside
#: status = 0
#: says = contained
#: never = not-for-guests
cat /etc/given/../beside /etc/beside; rm -f /etc/given; mv /etc/given /etc/x; echo x > /etc/given; ln -sf /w /etc/given
mv /etc /x; cp /x/given /tmp/; cd /etc/given/..; cat beside; chmod 000 /etc/given
echo contained
