#: attacks = the stack by recursion in C
#: timeout = 2
#: status = any
import pickle, json, copy, ast, functools, re, operator
x = []
for _ in range(500000): x = [x]
t = ()
for _ in range(500000): t = (t,)
for f in (lambda: repr(x), lambda: x == [x], lambda: pickle.dumps(x), lambda: json.dumps(x), lambda: copy.deepcopy(x), lambda: json.loads("[" * 1000000),
          lambda: ast.parse("a" + ".b" * 100000), lambda: re.compile("(" * 10000 + ")" * 10000), lambda: operator.eq(x, x[0]),
          lambda: isinstance(1, functools.reduce(lambda a, _: (a,), range(100000), (int,))), lambda: hash(t)):
    try:
        f()
    except (RecursionError, MemoryError, OverflowError, ValueError):
        pass
