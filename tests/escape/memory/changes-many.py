#: attacks = the list of changes: deep folders of long names with very many files
#: finding = C4
#: json = yes
#: timeout = 8
#: disk = 64M
#: memory = 256M
#: grows = 460M
#: seconds = 11
#: status = any
import os
os.chdir("/output")
try:
    for _ in range(200):
        os.mkdir("d" * 255)
        os.chdir("d" * 255)
    for n in range(30000):
        os.close(os.open(f"f{n}", os.O_CREAT))
except OSError as e:
    print(e)
