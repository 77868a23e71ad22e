#: attacks = a chain of tens of thousands of directories, and the list of changes over it
#: finding = C4
#: json = yes
#: timeout = 3
#: disk = 64M
#: grows = 320M
#: status = any
import os
os.chdir("/tmp")
for _ in range(100_000):
    try:
        os.mkdir("d")
        os.chdir("d")
    except OSError:
        break
print("made")
