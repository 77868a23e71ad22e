#: attacks = reaching /proc below a mount of the whole host
#: finding = low: /proc mount
#: mount = /:/host:ro
#: status = 0 125
#: never = VmRSS
#: never = Linux version
cat /host/proc/self/status /host/proc/version /host/proc/self/root/proc/version 2> /dev/null
for p in /host/proc/[0-9]*; do cat $p/environ 2> /dev/null | grep -a canary; done
exit 0
