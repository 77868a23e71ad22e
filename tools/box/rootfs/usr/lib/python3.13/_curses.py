"""Terminal descriptions (terminfo) for the interactive interpreter, which edits lines with them.

Has the part of CPython's module of this name that `_pyrepl` uses; `curses` itself, with its windows,
is not there. The format of the files is that of term(5), the language of parameters that of
terminfo(5).
"""

import os
import re
import struct

_FOLDERS = ("/etc/terminfo", "/usr/share/terminfo")

# The positions of strings in a description (the order of ncurses's `Caps`).
_STRINGS = {
    "bel": 1, "clear": 5, "el": 6, "ed": 7, "hpa": 8, "cup": 10, "cud1": 11, "home": 12, "civis": 13,
    "cub1": 14, "cnorm": 16, "cuf1": 17, "cuu1": 19, "dch1": 21, "bold": 27, "smso": 35, "smul": 36,
    "sgr0": 39, "rmso": 43, "rmul": 44, "ich1": 52, "kbs": 55, "kdch1": 59, "kcud1": 61, "kf1": 66,
    "kf10": 67, "kf2": 68, "kf3": 69, "kf4": 70, "kf5": 71, "kf6": 72, "kf7": 73, "kf8": 74, "kf9": 75,
    "khome": 76, "kich1": 77, "kcub1": 79, "knp": 81, "kpp": 82, "kcuf1": 83, "kcuu1": 87, "rmkx": 88,
    "smkx": 89, "pad": 104, "dch": 105, "cud": 107, "ich": 108, "cub": 111, "cuf": 112, "cuu": 114,
    "ind": 129, "ri": 130, "kcbt": 148, "kend": 164, "kent": 165, "kf11": 216, "kf12": 217,
    "kf13": 218, "kf14": 219, "kf15": 220, "kf16": 221, "kf17": 222, "kf18": 223, "kf19": 224,
    "kf20": 225,
}
_NUMBERS = {"cols": 0, "lines": 2, "colors": 13}
_FLAGS = {"bw": 0, "am": 1, "xenl": 4, "km": 8}

# The first two bytes of a description, and the size of its numbers.
_FORMATS = {0o432: 2, 0o1036: 4}

_terminal = None


class error(Exception):
    pass


class _Description:
    def __init__(self, data):
        magic, names, flags, numbers, strings, table = struct.unpack_from("<6h", data)
        size = _FORMATS[magic]
        at = 12 + names
        self.flags = data[at : at + flags]
        at += flags
        at += at % 2
        self.numbers = struct.unpack_from("<%d%s" % (numbers, "h" if size == 2 else "i"), data, at)
        at += numbers * size
        self.offsets = struct.unpack_from("<%dh" % strings, data, at)
        at += 2 * strings
        self.table = data[at : at + table]

    def string(self, index):
        if index >= len(self.offsets) or self.offsets[index] < 0:
            return None
        start = self.offsets[index]
        return self.table[start : self.table.index(b"\0", start)]


def _folders():
    if own := os.environ.get("TERMINFO"):
        yield own
    yield os.path.expanduser("~/.terminfo")
    for folder in filter(None, os.environ.get("TERMINFO_DIRS", "").split(":")):
        yield folder
    yield from _FOLDERS


def setupterm(term=None, fd=-1):
    """Reads the description of a terminal, by default that of $TERM."""
    global _terminal
    term = term or os.environ.get("TERM") or "dumb"
    if "/" not in term:
        for folder in _folders():
            try:
                with open(os.path.join(folder, term[0], term), "rb") as file:
                    _terminal = _Description(file.read())
                return
            except (OSError, KeyError, struct.error):
                continue
    raise error("setupterm: could not find terminal")


def _setup():
    if _terminal is None:
        raise error("must call (at least) setupterm() first")
    return _terminal


def tigetstr(name):
    """Returns a string capability as bytes, or None."""
    terminal = _setup()
    return terminal.string(_STRINGS[name]) if name in _STRINGS else None


def tigetnum(name):
    """Returns a numeric capability, -1 if it is absent, -2 if there is none of this name."""
    numbers = _setup().numbers
    if name not in _NUMBERS:
        return -2
    return numbers[_NUMBERS[name]] if _NUMBERS[name] < len(numbers) else -1


def tigetflag(name):
    """Returns 1 or 0 for a Boolean capability, -1 if there is none of this name."""
    flags = _setup().flags
    if name not in _FLAGS:
        return -1
    return int(_FLAGS[name] < len(flags) and flags[_FLAGS[name]] == 1)


_PIECE = re.compile(
    rb"%(?:(?P<char>')(?P<constant>.)'|\{(?P<number>-?\d+)\}|p(?P<parameter>[1-9])"
    rb"|(?P<variable>[Pg][a-zA-Z])|:?(?P<format>[-+# ]*\d*(?:\.\d+)?[doxXs])|(?P<operator>.))",
    re.DOTALL,
)

_BINARY = {
    b"+": lambda a, b: a + b, b"-": lambda a, b: a - b, b"*": lambda a, b: a * b,
    b"/": lambda a, b: a // b if b else 0, b"m": lambda a, b: a % b if b else 0,
    b"&": lambda a, b: a & b, b"|": lambda a, b: a | b, b"^": lambda a, b: a ^ b,
    b"=": lambda a, b: int(a == b), b">": lambda a, b: int(a > b), b"<": lambda a, b: int(a < b),
    b"A": lambda a, b: int(bool(a and b)), b"O": lambda a, b: int(bool(a or b)),
}


def _skip(text, at, stops):
    """Returns the position behind the next of `stops` on this level of %? and %;."""
    depth = 0
    for piece in _PIECE.finditer(text, at):
        operator = piece["operator"]
        if depth == 0 and operator in stops:
            return piece.end()
        depth += (operator == b"?") - (operator == b";")
    return len(text)


def tparm(text, *parameters):
    """Returns a string capability with its parameters put in."""
    values = list(parameters) + [0] * (9 - len(parameters))
    stack, variables, out, at = [], {}, bytearray(), 0
    pop = lambda: stack.pop() if stack else 0
    while piece := _PIECE.search(text, at):
        out += text[at : piece.start()]
        at = piece.end()
        operator = piece["operator"]
        if piece["char"]:
            stack.append(piece["constant"][0])
        elif piece["number"]:
            stack.append(int(piece["number"]))
        elif piece["parameter"]:
            stack.append(values[int(piece["parameter"]) - 1])
        elif piece["variable"]:
            name = piece["variable"][1:]
            if piece["variable"].startswith(b"P"):
                variables[name] = pop()
            else:
                stack.append(variables.get(name, 0))
        elif piece["format"]:
            out += (b"%" + piece["format"]) % pop()
        elif operator == b"%":
            out += b"%"
        elif operator == b"c":
            out.append(pop() & 255)
        elif operator == b"i":
            values[0] += 1
            values[1] += 1
        elif operator == b"l":
            stack.append(len(pop()))
        elif operator == b"!":
            stack.append(int(not pop()))
        elif operator == b"~":
            stack.append(~pop())
        elif operator in _BINARY:
            second, first = pop(), pop()
            stack.append(_BINARY[operator](first, second))
        elif operator == b"t" and not pop():
            at = _skip(text, at, (b"e", b";"))
        elif operator == b"e":
            at = _skip(text, at, (b";",))
    return bytes(out + text[at:])
