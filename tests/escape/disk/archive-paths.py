#: attacks = archives whose members leave the folder they are unpacked into
#: mount = work:/w:rw
#: timeout = 8
#: status = 0
#: says = contained
import io, subprocess, tarfile, zipfile
def member(t, name, kind=tarfile.REGTYPE, link="", size=3):
    m = tarfile.TarInfo(name); m.type = kind; m.linkname = link; m.size = size if kind == tarfile.REGTYPE else 0; m.mode = 0o7777
    t.addfile(m, io.BytesIO(b"x" * size))
with tarfile.open("/tmp/t.tar", "w") as t:
    for name in ("../up", "../../outside/new", "/w/../outside/new", "a/../../up2", "./../up3", "..", "/", "\n", "a" * 5000):
        member(t, name)
    member(t, "l", tarfile.SYMTYPE, "../outside"); member(t, "l/new"); member(t, "l2", tarfile.SYMTYPE, "/"); member(t, "l2/tmp/wasibox-escape")
    member(t, "h", tarfile.LNKTYPE, "../outside/secret"); member(t, "h2", tarfile.LNKTYPE, "/etc/passwd"); member(t, "h", tarfile.REGTYPE)
    member(t, "dev", tarfile.CHRTYPE); member(t, "fifo", tarfile.FIFOTYPE)
with zipfile.ZipFile("/tmp/z.zip", "w") as z:
    for name in ("../up4", "../../outside/new2", "/w/../outside/new3", "a/../../up5", "\\..\\x", "C:\\x"):
        z.writestr(name, "x")
for cmd in ("tar xpf /tmp/t.tar", "tar xPpf /tmp/t.tar", "unzip -o /tmp/z.zip", "unzip -o -: /tmp/z.zip"):
    subprocess.run(["sh", "-c", "mkdir -p /w/in && cd /w/in && " + cmd], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print("contained")
