#: attacks = a folder exchanged for a link, through every call that takes a path
#: mount = work:/w:rw
#: before = mkdir -p work/a/folder; echo inside > work/a/secret; ln -s ../outside work/b
#: swap = work/a work/b
#: timeout = 1
#: status = 124
import os
calls = [
    lambda p: open(p + "/secret").read(), lambda p: open(p + "/new", "w"), lambda p: os.listdir(p + "/folder"),
    lambda p: os.mkdir(p + "/made"), lambda p: os.unlink(p + "/secret"), lambda p: os.rename(p + "/secret", "/w/out"),
    lambda p: os.link(p + "/secret", "/w/hard"), lambda p: os.symlink("x", p + "/link"), lambda p: os.chmod(p + "/secret", 0),
    lambda p: os.utime(p + "/secret", (0, 0)), lambda p: os.truncate(p + "/secret", 0), lambda p: os.rmdir(p + "/folder"),
]
while True:
    for call in calls:
        for p in ("/w/a", "/w/b", "/w/a/../b", "/w/b/../a"):
            try:
                got = call(p)
            except OSError:
                continue
            if isinstance(got, str) and "inside" not in got:
                print(got)
