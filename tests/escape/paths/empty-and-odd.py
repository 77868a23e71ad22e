#: attacks = names that are empty, dots, slashes or other alphabets, in every call
#: mount = work:/w:rw
#: status = 0
#: says = contained
import os
names = [b"", b".", b"..", b"/", b"//", b"/.", b"/..", b"./", b"../", b"\xff", b"\x01", b"a/", b"a/.", b"a/..", b"a\n", b"\xc0\xaf..",
         b"..\xe2\x88\x95outside", b"\xef\xbc\x8e\xef\xbc\x8e/outside/secret", b"a" * 300, b"-", b"~", b"$HOME", b"..;/outside"]
calls = [os.stat, os.lstat, os.listdir, os.unlink, os.rmdir, os.mkdir, os.readlink, os.chdir, lambda p: open(p, "wb"),
         lambda p: os.rename(p, b"/w/z"), lambda p: os.rename(b"/w/z", p), lambda p: os.symlink(p, b"/w/s"),
         lambda p: os.link(p, b"/w/h"), lambda p: os.chmod(p, 0o700), lambda p: os.utime(p)]
for at in (b"", b"/w/", b"/tmp/", b"/w/../"):
    for n in names:
        for c in calls:
            try:
                os.chdir("/w")
                c(at + n)
            except (OSError, ValueError):
                pass
print("contained")
