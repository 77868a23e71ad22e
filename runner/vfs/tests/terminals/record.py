#!/usr/bin/env python3
"""Plays the scripts of `recordings.txt` on Linux's own pseudo-terminals, and writes what Linux
answers after `=>`. Usage: record.py recordings.txt, on Linux. `../terminals.rs` plays the same
scripts on the session's terminals and compares.

A script begins with a line `== NAME`. Its process leads a session with the terminal. The actions are
described in `../terminals.rs`.
"""

import fcntl
import os
import re
import select
import signal
import struct
import sys
import termios
import time

SETTLE = 0.006
CC = {name: getattr(termios, "V" + name.upper()) for name in
      "intr quit erase kill eof time min start stop susp eol reprint werase lnext eol2".split()}
WATCHED = "HUP INT QUIT TSTP CONT TTIN TTOU WINCH".split()


def quote(data):
    out = ""
    for byte in data:
        named = {10: "\\n", 13: "\\r", 9: "\\t", 92: "\\\\"}.get(byte)
        out += named or (chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}")
    return f'"{out}"'


def unquote(text):
    assert text[0] == text[-1] == '"', text
    return eval("b" + text)  # the file is ours


class Player:
    def __init__(self):
        self.signals = []
        self.master, self.slave = os.openpty()
        os.set_blocking(self.master, False)
        self.name = os.ttyname(self.slave)
        os.set_blocking(self.slave, False)
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
        for name in WATCHED:
            number = getattr(signal, "SIG" + name)
            signal.signal(number, lambda n, _, name=name: self.signals.append(name))

    def set(self, words, when):
        a = termios.tcgetattr(self.slave if self.slave is not None else self.master)
        for word in words:
            if "=" in word:
                name, _, value = word.partition("=")
                a[6][CC[name]] = int(value) if name in ("min", "time") else bytes([int(value)])
                continue
            name = word.lstrip("-")
            if name == "raw":
                t = termios
                a[0] &= ~(t.IGNBRK | t.BRKINT | t.PARMRK | t.ISTRIP | t.INLCR | t.IGNCR | t.ICRNL
                          | t.IXON)
                a[1] &= ~t.OPOST
                a[3] &= ~(t.ECHO | t.ECHONL | t.ICANON | t.ISIG | t.IEXTEN)
                a[6][t.VMIN], a[6][t.VTIME] = 1, 0
                continue
            flag = 0o40000 if name == "iutf8" else 0o200000 if name == "extproc" else getattr(
                termios, {"tabs3": "TAB3"}.get(name, name.upper()))
            at = next(i for i, names in enumerate(FLAGS) if name in names)
            a[at] = a[at] & ~flag if word.startswith("-") else a[at] | flag
        # VMIN and VTIME are numbers without ICANON, and bytes with it.
        for at in termios.VMIN, termios.VTIME:
            if isinstance(a[6][at], bytes) and not a[3] & termios.ICANON:
                a[6][at] = a[6][at][0]
            elif isinstance(a[6][at], int) and a[3] & termios.ICANON:
                a[6][at] = bytes([a[6][at]])
        termios.tcsetattr(self.slave if self.slave is not None else self.master, when, a)

    def play(self, action):
        word, _, rest = action.partition(" ")
        try:
            result = getattr(self, "do_" + word)(rest)
        except termios.error as e:
            result = errno_name(e.args[0])
        except OSError as e:
            result = errno_name(e.errno)
        time.sleep(SETTLE)
        names = sorted(self.signals, key=WATCHED.index)
        self.signals.clear()
        return " ".join([result or "-"] + ["!" + n for n in names])

    def do_type(self, text):
        return str(os.write(self.master, unquote(text)))

    def do_typemany(self, rest):
        count, text = rest.split(" ", 1)
        data = unquote(text) * int(count)
        while data:
            n = os.write(self.master, data[:200])
            data = data[n:]
            time.sleep(0.001)

    def do_screen(self, _):
        got = b""
        while True:
            try:
                part = os.read(self.master, 65536)
            except BlockingIOError:
                return quote(got)
            except OSError:
                if got:
                    return quote(got)
                raise
            got += part
            time.sleep(0.002)

    def do_read(self, count):
        return quote(os.read(self.slave, int(count)))

    def do_waitread(self, count):
        os.set_blocking(self.slave, True)
        begin = time.monotonic()
        data = os.read(self.slave, int(count))
        tenths = round((time.monotonic() - begin) * 10)
        os.set_blocking(self.slave, False)
        return f"{quote(data)} {tenths}"

    def do_readlen(self, count):
        return str(len(os.read(self.slave, int(count))))

    def do_write(self, text):
        return str(os.write(self.slave, unquote(text)))

    def do_set(self, rest):
        self.set(rest.split(), termios.TCSANOW)

    def do_setflush(self, rest):
        self.set(rest.split(), termios.TCSAFLUSH)

    def do_get(self, rest):
        a = termios.tcgetattr(self.slave)
        return " ".join(str(v) for v in a[:4])

    def do_flush(self, which):
        queue = {"in": termios.TCIFLUSH, "out": termios.TCOFLUSH, "both": termios.TCIOFLUSH}[which]
        termios.tcflush(self.slave, queue)

    def do_flow(self, which):
        action = {"off": termios.TCOOFF, "on": termios.TCOON, "stop": termios.TCIOFF,
                  "start": termios.TCION}[which]
        termios.tcflow(self.slave, action)

    def do_count(self, _):
        return str(struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, bytes(4)))[0])

    def poll(self, fd):
        p = select.poll()
        p.register(fd, select.POLLIN | select.POLLOUT)
        bits = dict(p.poll(0)).get(fd, 0)
        marks = ((select.POLLIN, "r"), (select.POLLOUT, "w"), (select.POLLHUP, "h"))
        return "".join(c if bits & bit else "-" for bit, c in marks)

    def do_poll(self, _):
        return self.poll(self.slave)

    def do_pollmaster(self, _):
        return self.poll(self.master)

    def do_size(self, rest):
        rows, columns = map(int, rest.split())
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))
        got = struct.unpack("4H", fcntl.ioctl(self.slave, termios.TIOCGWINSZ, bytes(8)))
        return f"{got[0]} {got[1]}"

    def do_close(self, which):
        if which == "slave":
            os.close(self.slave)
            self.slave = None
        else:
            os.close(self.master)
            self.master = None

    def do_open(self, _):
        self.slave = os.open(self.name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


FLAGS = [
    "ignbrk brkint ignpar parmrk inpck istrip inlcr igncr icrnl iuclc ixon ixany iutf8".split(),
    "opost olcuc onlcr ocrnl onocr onlret tab3 tabs3".split(),
    "cs7 cstopb parenb hupcl".split(),
    "isig icanon xcase echo echoe echok echonl noflsh tostop echoctl echoprt echoke iexten "
    "extproc".split(),
]
termios.IUCLC = 0o1000
termios.OLCUC = 2


def errno_name(number):
    import errno
    return {"EWOULDBLOCK": "EAGAIN"}.get(errno.errorcode[number], errno.errorcode[number])


def record(actions):
    """Plays one script in a process of its own, which leads a session."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(r)
        os.setsid()
        player = Player()
        for action in actions:
            os.write(w, (player.play(action) + "\n").encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        results = f.read().splitlines()
    _, status = os.waitpid(pid, 0)
    assert status == 0 and len(results) == len(actions), (actions, results, status)
    return results


def main(path):
    scripts = []
    for line in open(path).read().splitlines():
        if line.startswith("== "):
            scripts.append((line[3:], []))
        elif line and not line.startswith("#"):
            scripts[-1][1].append(re.sub(r" =>.*", "", line))
    head = [line for line in open(path).read().splitlines() if line.startswith("#")]
    out = head[:]
    for name, actions in scripts:
        results = record(actions)
        again = record(actions)
        if results != again:
            print("differs between two runs:", name, results, again)
        out += ["", "== " + name] + [f"{a} => {r}" for a, r in zip(actions, results)]
    open(path, "w").write("\n".join(out) + "\n")
    print(len(scripts), "scripts")


main(sys.argv[1])
