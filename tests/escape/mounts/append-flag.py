#: attacks = a flag set after opening: what is appended must not overwrite the beginning
#: finding = low: O_APPEND by fcntl
#: mount = work:/w:rw
#: before = printf 'precious data\n' > work/log
#: status = 0
#: says = contained
#: after = head -n 1 work/log | grep -qx 'precious data'
import fcntl, os
fd = os.open("/w/log", os.O_WRONLY)
try:
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
    os.write(fd, b"more\n")
except OSError as e:
    print(e)
print("contained")
