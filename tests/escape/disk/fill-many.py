#: attacks = the same as fast as can be, with long names
#: disk = 1M
#: timeout = 4
#: memory = 64M
#: status = 0
#: says = contained
import os
def until_full(f):
    n = 0
    try:
        for n in range(200_000):
            f(n)
    except OSError:
        pass
    return n
os.mkdir("/tmp/x"); os.chdir("/tmp/x")
name = "n" * 240
print(until_full(lambda n: os.symlink("t" * 4000, f"s{n}")), until_full(lambda n: os.mkdir(f"{name}{n}")), until_full(lambda n: os.close(os.open(f"f{n}", os.O_CREAT | os.O_RDWR))))
open("/tmp/h", "w").close() if False else None
print(until_full(lambda n: os.link("f0", f"h{n}")), until_full(lambda n: os.mkfifo(f"{name}p{n}")))
print("contained")
