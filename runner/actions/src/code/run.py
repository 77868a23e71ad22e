"""python3 run.py PROGRAM VALUE LISTS: runs a program that may import the modules of a list alone, and writes the
value of its last expression to the file VALUE: as JSON if it is plain data, else its `repr`, as a JSON string.

LISTS is JSON: `allowed`, names as the policy has them, and `builtins`, the modules without a file that stay. Files of
other modules are gone from this machine before the interpreter begins (`closure.py`); what is here makes the messages
clear, and keeps what the interpreter has loaded for itself from being imported.
"""

import ast
import builtins
import importlib.machinery
import importlib.util
import json
import linecache
import os
import sys
import traceback
import types

PROGRAM, VALUE, LISTS = sys.argv[1:]
LIBRARY = os.path.dirname(os.__file__) + os.sep


def guard(allowed, kept):
    """Has imports of the program's own code refused that are not of a list."""
    text = ", ".join(allowed) or "none"
    is_listed = {*allowed, "__main__"}.__contains__
    parents = {name[:at] for name in allowed for at, c in enumerate(name) if c == "."}
    real, import_module = builtins.__import__, importlib.import_module
    folder, kept = os.getcwd(), frozenset(kept)
    find_file = importlib.machinery.PathFinder.find_spec

    def is_allowed(name):
        parts = name.split(".")
        whole = any(is_listed(".".join(parts[: n + 1])) for n in range(len(parts)))
        # What begins with `_` is a library's own: some functions in C import such for their caller.
        return whole or name in parents or parts[0].startswith("_") or find_file(parts[0], [folder]) is not None

    def refuse(name):
        message = f"module '{name}' is not among those that may be imported here: {text}"
        raise ModuleNotFoundError(message, name=name)

    def is_librarys(globals):
        return globals is not None and str(globals.get("__file__", "")).startswith(LIBRARY)

    def __import__(name, globals=None, locals=None, fromlist=(), level=0):
        """Imports a module, if the program may."""
        if level == 0 and not is_librarys(globals):
            if not is_allowed(name):
                refuse(name)
            for part in fromlist or ():
                if f"{name}.{part}" in sys.modules and not is_allowed(f"{name}.{part}"):
                    refuse(f"{name}.{part}")
        return real(name, globals, locals, fromlist, level)

    def guarded(name, package=None):
        """Imports a module by its name, if the program may."""
        full = importlib.util.resolve_name(name, package) if name.startswith(".") else name
        if not (is_allowed(full) or is_librarys(sys._getframe(1).f_globals)):
            refuse(full)
        return import_module(name, package)

    class Builtins(importlib.machinery.BuiltinImporter):
        """Finds the modules without a file that stay."""

        @classmethod
        def find_spec(cls, name, path=None, target=None):
            return super().find_spec(name, path, target) if name in kept else None

    at = sys.meta_path.index(importlib.machinery.BuiltinImporter)
    sys.meta_path[at] = Builtins
    builtins.__import__, importlib.import_module = __import__, guarded
    if not any("." in name for name in kept):
        # All that may be made is there: now nothing makes another.
        for name in kept:
            real(name)
        import _imp

        del _imp.create_builtin


def show(value):
    if value is None:
        return
    try:
        text = json.dumps(value, allow_nan=False)
        is_plain = json.loads(text) == value
    except (TypeError, ValueError, RecursionError):
        is_plain = False
    with open(VALUE, "w") as file:
        file.write(text if is_plain else json.dumps(repr(value)))


def main():
    with open(LISTS) as file:
        lists = json.load(file)
    with open(PROGRAM) as file:
        source = file.read()
    sys.argv[:] = [PROGRAM]
    sys.path[0] = os.getcwd()
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    name = "<code>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    guard(lists["allowed"], lists["builtins"])
    try:
        tree = ast.parse(source, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), module.__dict__)
        if last is not None:
            show(eval(compile(ast.Expression(last.value), name, "eval"), module.__dict__))
    except SystemExit:
        raise
    except BaseException as error:
        traceback.print_exception(without_ours(error))
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)


def without_ours(error):
    """An exception, and those that it came with, without the frames of this file."""
    todo, seen = [error], set()
    while todo:
        one = todo.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        kept = [f for f in frames(one.__traceback__) if f.tb_frame.f_code.co_filename != __file__]
        at = None
        for f in reversed(kept):
            at = types.TracebackType(at, f.tb_frame, f.tb_lasti, f.tb_lineno)
        one.__traceback__ = at
        todo += [one.__cause__, one.__context__]
    return error


def frames(at):
    while at is not None:
        yield at
        at = at.tb_next


main()
