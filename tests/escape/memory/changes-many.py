#: attacks = the list of changes: deep folders of long names with very many files
#: finding = C4
#: json = yes
#: timeout = 12
#: disk = 64M
#: memory = 128M
#: grows = 320M
#: seconds = 15
#: status = any
import os
at = os.open("/output", os.O_RDONLY | os.O_DIRECTORY)
try:
    for _ in range(200):
        os.mkdir("d" * 255, dir_fd=at)
        at = os.open("d" * 255, os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
    for n in range(30000):
        os.close(os.open(f"f{n}", os.O_CREAT | os.O_RDWR, dir_fd=at))
except OSError as e:
    print(e)
print("made")
