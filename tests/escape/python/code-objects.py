#: attacks = the interpreter by bytecode that it would never make
#: timeout = 2
#: status = any
import types, random
def f(a, b): return a + b
c = f.__code__
r = random.Random(7)
for _ in range(300):
    code = bytes(r.randrange(256) for _ in range(64))
    try:
        types.FunctionType(c.replace(co_code=code, co_stacksize=r.choice((0, 1, 100))), {})(1, 2)
    except BaseException:
        pass
