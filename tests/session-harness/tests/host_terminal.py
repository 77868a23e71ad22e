"""Ends the runner by signals while it has this machine's terminal. Prints a line for each way: whether
the terminal was in another mode meanwhile, whether it is as before, and the status."""

import os
import pty
import select
import signal
import sys
import termios
import time

RUNNER, IMAGE = sys.argv[1:]


def end_by(number, command, keys, awaited):
    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    child = os.fork()
    if child == 0:
        os.login_tty(slave)
        os.execv(RUNNER, [RUNNER, *command])
    shown = b""

    def read_until(text):
        nonlocal shown
        until = time.monotonic() + 60
        while text not in shown and time.monotonic() < until:
            if select.select([master], [], [], 0.1)[0]:
                shown += os.read(master, 65536)
        if text not in shown:
            sys.exit(f"{text} is not in {shown}")
        shown = b""

    for text, typed in zip(awaited, [*keys, b""]):
        read_until(text)
        os.write(master, typed)
    is_other = termios.tcgetattr(slave) != before
    os.kill(child, number)
    status = None
    while status is None:
        if select.select([master], [], [], 0.05)[0]:
            os.read(master, 65536)
        ended, code = os.waitpid(child, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if ended else None
    print(command[0], keys, is_other, termios.tcgetattr(slave) == before, status)
    os.close(master)
    os.close(slave)


SHELL = ["shell", "--image", IMAGE]
CAT = ["exec", "-t", IMAGE, "--", "bash", "-c", "echo begun; cat"]
for number in (signal.SIGTERM, signal.SIGHUP):
    end_by(number, SHELL, [], [b"$ "])
    end_by(number, SHELL, [b"sh -c 'echo be''gun; sleep 60'\r"], [b"$ ", b"begun"])
    end_by(number, CAT, [], [b"begun"])
