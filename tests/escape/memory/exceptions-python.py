#: attacks = the same from Python, whose extensions in C++ throw
#: finding = C2
#: timeout = 6
#: memory = 200M
#: grows = 310M
#: status = 124 1 134 137
import kiwisolver
v = kiwisolver.Variable("x")
c = v >= 1
s = kiwisolver.Solver()
while True:
    try:
        s.removeConstraint(c)
    except Exception:
        pass
