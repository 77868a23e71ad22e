#: attacks = messages of the bridge about paths outside of everything, in a read-only mount too
#: mount = work:/w:ro
#: before = echo original > work/f; chmod 644 work/f
#: status = 0
#: says = contained
import os, struct
fd = os.open("/.box/meta", os.O_RDWR)
def ask(m):
    try:
        os.write(fd, m)
        return os.read(fd, 999)
    except OSError as e:
        return e
paths = [b"/w/f", b"/w/../outside/secret", b"/../../../etc/shadow", b"/w", b"/", b"/.box/meta", b"/dev/fd/0", b"/proc/self/fd/1", b"/" + b"a/" * 2040, b"/" + b"x" * 4095, b"/\xff\n"]
for p in paths:
    for m in (b"\1\1" + p, b"\1\0" + p, b"\2\xff\xff" + p, b"\3\xff" + struct.pack("<II", 0, 0) + p, b"\4\xff" + struct.pack("<QQ", 2**64 - 1, 0) + p, b"\5\xff\xff" + p + b"x"):
        ask(m)
for n in (0, 1, 2, 3, 10, 4159, 4160, 4161, 65536):
    ask(b"\1" * n)
print("contained")
