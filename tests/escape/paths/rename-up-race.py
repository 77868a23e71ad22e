#: attacks = directory descriptors of folders that the host moves about
#: mount = work:/w:rw
#: before = mkdir -p work/a/b/c aside/b/c
#: before = cp outside/secret aside/secret
#: swap = work/a/b aside/b
#: timeout = 1
#: status = 124
import os
while True:
    try:
        d = os.open("/w/a/b/c", os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        continue
    for p in ("../../secret", "../../../secret", "../../../outside/secret"):
        try:
            print(os.read(os.open(p, os.O_RDONLY, dir_fd=d), 99))
        except OSError:
            pass
    os.close(d)
