#: attacks = the interpreter's stack
#: timeout = 2
#: status = any
import sys
sys.setrecursionlimit(2**31 - 1)
def f(): f()
for g in (f, lambda: eval("(" * 100000), lambda: compile("-" * 1000000 + "1", "x", "eval"), lambda: repr(x), lambda: hash(t)):
    x = []
    for _ in range(200000): x = [x]
    try:
        t = ()
        g()
    except (RecursionError, MemoryError, SyntaxError, ValueError):
        pass
