#: attacks = an end that never comes: exit handlers, destructors, generators
#: timeout = 1
#: status = 124
#: limit = timeout
import atexit
class D:
    def __del__(self):
        while True:
            pass
d = D()
def g():
    try:
        yield
    finally:
        while True:
            pass
x = g(); next(x)
@atexit.register
def never():
    atexit.register(never)
    while True:
        pass
