#: attacks = hard links that would carry a file from a read-only mount into a writable one
#: mount = work/ro:/ro:ro
#: mount = work/rw:/rw:rw
#: before = mkdir work/ro work/rw; echo original > work/ro/file
#: status = 0
#: says = contained
#: after = grep -qx original work/ro/file && test "$(stat -c %h work/ro/file)" = 1
ln /ro/file /rw/hard; echo changed > /rw/hard; ln -f /rw/hard /ro/file
ln -s /ro/file /rw/soft; echo changed > /rw/soft; cp --link /ro/file /rw/copied; echo changed >> /rw/copied
mv /ro/file /rw/moved; mv /rw/moved /ro/file; ln -L /rw/soft /rw/through; echo changed >> /rw/through
echo contained
