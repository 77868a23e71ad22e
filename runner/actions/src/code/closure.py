"""python3 closure.py MODULE...: prints, as JSON, what an interpreter lacks that may import these modules alone.

What it keeps is found by importing: the interpreter's own modules, those of `run.py`, the named ones (a package with
all that is in it) and what came with them; besides, what functions of these import from the standard library when
they are called, unless that reaches out of the interpreter. The rest is `absent`: paths of files and folders below
the library's folders. `builtins` are the modules without a file that stay.
"""

import dis
import importlib
import json
import os
import sys
import sysconfig

LIBRARY = sysconfig.get_path("stdlib")
PACKAGES = sysconfig.get_path("purelib")

# Modules that a function of the standard library may import for a purpose of its own. They are kept only if they are
# named.
REACHING = frozenset(
    """asyncio cProfile code codeop ctypes curses dbm doctest ensurepip ftplib getpass http idlelib imaplib lib2to3
    mailbox multiprocessing nntplib pdb pip poplib profile pstats pty pydoc readline runpy select selectors smtplib
    socket socketserver sqlite3 ssl subprocess telnetlib test tkinter tty turtle unittest urllib venv webbrowser
    wsgiref xmlrpc zipapp _socket _sqlite3 _posixsubprocess""".split()
)

IMPORT = dis.opmap["IMPORT_NAME"]

# What `run.py` imports, and the interpreter when it reports an exception or decodes a text.
OWN = """ast builtins importlib.machinery importlib.util json linecache os sys traceback types encodings.ascii encodings.latin_1 encodings.utf_8
encodings.idna""".split()


def load(name):
    try:
        importlib.import_module(name)
    except Exception:
        # One that is not there, or not here: the import will say so.
        pass


def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from codes(constant)


def imported_by(module):
    """Modules of the standard library that a module's code imports, its functions' too."""
    try:
        code = module.__spec__.loader.get_code(module.__spec__.name)
    except Exception:
        code = None
    for part in codes(code) if code else ():
        if IMPORT in part.co_code[::2]:
            for step in dis.get_instructions(part):
                if step.opcode == IMPORT and top(step.argval) in sys.stdlib_module_names:
                    yield step.argval


def top(name):
    return name.partition(".")[0]


def close(names):
    for name in [*OWN, *names]:
        load(name)
    seen = set()
    while todo := [n for n in list(sys.modules) if n not in seen]:
        for name in todo:
            seen.add(name)
            module = sys.modules.get(name)
            if getattr(module, "__spec__", None) is None:
                continue
            for wanted in set(imported_by(module)):
                if top(wanted) not in REACHING and wanted not in sys.modules:
                    load(wanted)


def files(names):
    """Files and whole folders that stay."""
    kept, whole = set(), set()
    for name, module in list(sys.modules.items()):
        spec = getattr(module, "__spec__", None)
        for path in (getattr(spec, "origin", None), getattr(spec, "cached", None), getattr(module, "__file__", None)):
            if path:
                kept.add(path)
        if name in names and getattr(module, "__path__", None):
            whole.update(module.__path__)
        if top(name) not in sys.stdlib_module_names:
            # A package's data, and what its functions import of it.
            whole.update(getattr(sys.modules.get(top(name)), "__path__", ()))
    return kept, whole


def absent(folder, kept, whole):
    """The highest paths in a folder under which nothing stays, and whether something does."""
    out, stays = [], False
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        if entry.path in whole or entry.path in kept:
            stays = True
        elif entry.is_dir() and any(p.startswith(entry.path + "/") for p in (*kept, *whole)):
            out += absent(entry.path, kept, whole)
            stays = True
        else:
            out.append(entry.path)
    return out


def main(names):
    close(names)
    kept, whole = files(names)
    packages = {top(n) for n in sys.modules if top(n) not in sys.stdlib_module_names}
    builtins = [n for n in sys.builtin_module_names if n in sys.modules or top(n) in packages]
    # By this folder the interpreter knows where its own are.
    kept.add(os.path.join(LIBRARY, "lib-dynload"))
    print(json.dumps({"absent": absent(LIBRARY, kept, whole), "builtins": sorted(builtins)}))


main(sys.argv[1:])
