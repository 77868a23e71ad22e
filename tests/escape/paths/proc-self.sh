#: attacks = the paths by which programs leave other sandboxes
#: mount = work:/w:ro
#: status = 0
#: says = contained
#: never = Linux version
for p in /proc/self/root/etc/shadow /proc/1/root/etc/shadow /proc/self/cwd/outside/secret /proc/self/exe /proc/self/mem \
    /proc/self/maps /proc/self/environ /proc/version /proc/kcore /proc/sysrq-trigger /sys/kernel/notes /dev/mem /dev/sda \
    /dev/kmsg /dev/fd/../../etc/shadow /proc/self/fd/3/../etc/shadow /dev/fd/3/outside/secret /dev/pts/0; do
  cat "$p" | grep -av 6.1.0-wasibox; head -c 9 < "$p"; echo x >> "$p"; ls "$p/"
done 2> /dev/null | head -c 2000
# A new terminal of the session's own: its master has nothing to read, so reading waits, as on Linux.
for p in /dev/ptmx /dev/pts/ptmx; do echo x > "$p"; ls "$p/"; timeout 0.2 head -c 9 < "$p"; done 2> /dev/null
for fd in $(seq 0 300); do ls /dev/fd/$fd/ /proc/self/fd/$fd/.. ; cat /dev/fd/$fd/../outside/secret; done > /dev/null 2>&1 < /dev/null
echo contained
