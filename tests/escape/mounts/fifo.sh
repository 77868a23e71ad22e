#: attacks = a FIFO of the host in a mount, which nobody writes to
#: mount = work:/w:rw
#: before = mkfifo work/fifo
#: timeout = 1
#: status = any
for i in 1 2 3 4; do cat /w/fifo & done
echo x > /w/fifo & dd if=/w/fifo of=/dev/null & stat /w/fifo; cp /w/fifo /tmp/; grep x /w/fifo; cat < /w/fifo
wait
