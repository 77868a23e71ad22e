"""Tests terminals, limits and the log with streams that are pipes. The guest and the machine's
own CPython must print the same (tests/harness/tests/python.rs)."""

import errno
import os
import pty
import resource
import select
import sys
import syslog
import termios
import tty


def show(name, function):
    try:
        result = function()
    except Exception as error:
        number = error.args[0] if error.args else None
        result = type(error).__name__, errno.errorcode.get(number, number), *error.args[1:]
    print(f"{name}: {result!r}")


read, write = os.pipe()
show("tcgetattr", lambda: termios.tcgetattr(read))
show("of a file", lambda: termios.tcgetattr(open("/dev/null")))
show("of none", lambda: termios.tcgetattr(99))
show("of nothing", lambda: termios.tcgetattr("a"))
show("negative", lambda: termios.tcgetattr(-1))
show("tcsetattr", lambda: termios.tcsetattr(read, termios.TCSANOW, [0, 0, 0, 0, 0, 0, []]))
show("of what is no list", lambda: termios.tcsetattr(read, termios.TCSANOW, ()))
for function in termios.tcdrain, termios.tcgetwinsize:
    show(function.__name__, lambda: function(read))
show("tcflush", lambda: termios.tcflush(read, termios.TCIFLUSH))
show("raw", lambda: tty.setraw(read))
show("numbers", lambda: (termios.ECHO, termios.ICANON, termios.TIOCGWINSZ, termios.VMIN, termios.NCCS))
show("isatty", lambda: (os.isatty(read), pty.STDIN_FILENO))
show("terminal size", lambda: os.get_terminal_size(read))

master, slave = os.openpty()
tty.setraw(slave)
show("written", lambda: os.write(slave, b"abcdef"))
show("read", lambda: os.read(master, 2))
show("output of the master is flushed", lambda: termios.tcflush(master, termios.TCOFLUSH))
show("which is what was typed", lambda: os.read(master, 2))
show("input of the master is flushed", lambda: termios.tcflush(master, termios.TCIFLUSH))
show("written again", lambda: os.write(slave, b"ABCDEF"))
show("read again", lambda: os.read(master, 100))
show("typed", lambda: os.write(master, b"line"))
show("there it is", lambda: select.select([slave], [], [], 10)[0] == [slave])
show("both are flushed", lambda: termios.tcflush(master, termios.TCIOFLUSH))
show("read by the program", lambda: os.read(slave, 100))

show("no such limit", lambda: resource.getrlimit(99))
show("raised", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 40, 1 << 40)))
show("unchanged", lambda: resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS)))
show("shape", lambda: [type(n).__name__ for n in resource.getrusage(resource.RUSAGE_SELF)])
show("fields", lambda: resource.getrusage(resource.RUSAGE_CHILDREN).ru_nswap)
show("who", lambda: resource.getrusage(7))
show("infinity", lambda: resource.RLIM_INFINITY)

show("log", lambda: syslog.syslog(syslog.LOG_ERR, "nobody reads this"))
show("nothing to log", lambda: syslog.syslog())
show("masks", lambda: (syslog.LOG_MASK(3), syslog.LOG_UPTO(syslog.LOG_ERR), syslog.setlogmask(0)))
show("a mask", lambda: (syslog.setlogmask(15), syslog.setlogmask(0)))
sys.stdout.flush()
os.dup2(1, 2)
syslog.openlog("me", syslog.LOG_PERROR)
syslog.syslog("and this on standard error")
syslog.syslog(syslog.LOG_ERR, "and this")
