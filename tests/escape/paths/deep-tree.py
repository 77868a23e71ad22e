#: attacks = a chain of a hundred thousand directories, and the list of changes over it
#: finding = C4
#: json = yes
#: timeout = 6
#: seconds = 9
#: disk = 128M
#: status = any
import os
at = os.open("/tmp", os.O_RDONLY | os.O_DIRECTORY)
try:
    for n in range(100_000):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
        os.close(at)
        at = inner
except OSError as e:
    print(n, e)
print("made")
