#: attacks = nodes of the host that are no files: a terminal, a socket, a device
#: mount = work:/w:rw
#: before = python3 -c "import socket; socket.socket(socket.AF_UNIX).bind('work/socket')"; ln -s /dev/tty work/tty
#: before = mknod work/zero c 1 5 2> /dev/null || :; mknod work/disk b 8 0 2> /dev/null || :
#: timeout = 1
#: status = any
#: grows = 240M
for f in socket tty zero disk; do head -c 100 /w/$f | wc -c; echo x > /w/$f; cat /w/$f; done > /dev/null 2>&1
