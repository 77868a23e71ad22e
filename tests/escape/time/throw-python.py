#: attacks = the kill, in a Python program whose extension throws C++ exceptions
#: finding = C1
#: timeout = 1
#: memory = 512M
#: grows = 900M
#: status = 124
#: limit = timeout
import kiwisolver
c = kiwisolver.Variable("x") >= 1
while True:
    try:
        kiwisolver.Solver().removeConstraint(c)
    except Exception:
        pass
