#: attacks = leaving a mount by dots and descriptors of directories
#: mount = work:/w:rw
#: status = 0
#: says = contained
import os
d = os.open("/w", os.O_RDONLY | os.O_DIRECTORY)
for name in ["../outside/secret", "../../outside/secret", "./../outside/secret", "/../outside/secret",
             "x/../../outside/secret", "..//outside/secret", "../outside/folder/../secret"]:
    for how in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT):
        try:
            fd = os.open(name, how, dir_fd=d)
        except OSError:
            continue
        print("opened", name, how, os.fstat(fd))
for f in (os.listdir, os.stat, os.readlink, os.unlink, os.rmdir):
    for name in ["/w/../outside", "/w/../outside/secret", "/w/.."]:
        try:
            got = f(name)
        except OSError:
            continue
        if "outside" in str(got):
            print("got", f, name, got)
print("contained")
