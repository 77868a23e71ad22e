#: attacks = a mount of the runner's own folder in /proc, through a link
#: finding = low: /proc mount
#: mount = work/link:/host:ro
#: before = ln -s /proc/self work/link
#: status = 125
#: never = VmRSS
cat /host/status; cat /host/root/etc/shadow; ls /host/cwd/
