#: attacks = the disk limit by small things as fast as can be, with long names and targets
#: disk = 1M
#: timeout = 8
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
made = lambda n: os.close(os.open(f"f{n}", os.O_CREAT | os.O_RDWR))
print(until_full(lambda n: os.symlink("t" * 4000, f"s{n}")), until_full(lambda n: os.mkdir(f"{name}{n}")), until_full(made))
print(until_full(lambda n: os.link("f0", f"h{n}")), until_full(lambda n: os.mkfifo(f"{name}p{n}")))
print("contained")
