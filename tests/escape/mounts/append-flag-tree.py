#: attacks = the same on a file of the session
#: finding = low: O_APPEND by fcntl
#: status = 0
#: says = precious data
import fcntl, os
open("/tmp/log", "w").write("precious data\n")
fd = os.open("/tmp/log", os.O_WRONLY)
fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_APPEND)
os.write(fd, b"more\n")
print(open("/tmp/log").read())
