#: attacks = locks of files without number, of every length, and files that are no files
#: timeout = 10
#: status = 0
#: says = contained
import fcntl
import os
import struct
errors = set()
files = [open(f"/tmp/{n}", "w+b") for n in range(200)]
for file in files:
    for at in range(0, 60, 2):
        try:
            fcntl.lockf(file, fcntl.LOCK_EX, 1, at)
            fcntl.flock(file, fcntl.LOCK_SH)
        except OSError as e:
            errors.add(e.errno)
for kind in range(-2, 5):
    for whence in range(-1, 4):
        for start, length in ((0, 0), (2**63 - 1, 1), (-2**63, 0), (2**62, 2**62), (-1, -1), (5, -5)):
            for command in (fcntl.F_GETLK, fcntl.F_SETLK):
                try:
                    fcntl.fcntl(files[0], command, struct.pack("hhxxxxqqixxxx", kind, whence, start, length, -1))
                except OSError as e:
                    errors.add(e.errno)
for path in ("/dev/null", "/dev/tty", "/.box/terminal", "/.box/meta", "/", "/proc/self/status", "/dev/zero"):
    try:
        fd = os.open(path, os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as e:
        errors.add(e.errno)
print("contained", sorted(errors))
