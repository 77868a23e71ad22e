"""Symbolic mathematics: derivatives, integrals, equations, series, matrices, LaTeX."""

import sympy as sp

x, y, t = sp.symbols("x y t")
a = sp.symbols("a", positive=True)
f = sp.exp(-(x**2)) * sp.sin(a * x)
print(sp.simplify(sp.diff(f, x)))
print(sp.integrate(x**2 * sp.exp(-a * x), (x, 0, sp.oo)))
print(sp.integrate(1 / (1 + x**3), x))
print(sp.series(sp.log(1 + sp.sin(x)), x, 0, 6))
print(sp.limit((1 + a / x) ** x, x, sp.oo), sp.summation(1 / x**2, (x, 1, sp.oo)))
print(sp.solve(x**3 - 6 * x**2 + 11 * x - 6, x), sp.solveset(sp.sin(x) - sp.Rational(1, 2), x, sp.Interval(0, 6)))
print(sp.solve([x + y - 5, x * y - 6], [x, y]))
u = sp.Function("u")
print(sp.dsolve(u(t).diff(t, 2) + 4 * u(t), u(t), ics={u(0): 1, u(t).diff(t).subs(t, 0): 0}))
m = sp.Matrix([[2, 1, 0], [1, 2, 1], [0, 1, 2]])
print(m.det(), m.inv(), sorted(m.eigenvals(), key=lambda v: v.evalf()))
print(sp.latex(sp.Integral(f, (x, 0, 1))))
area = sp.lambdify(x, f.subs(a, 2))
print(area(0.5), sp.N(sp.Integral(f.subs(a, 2), (x, 0, 1)), 15), sp.N(sp.pi, 40))
print(sp.factor(x**6 - 1), sp.apart(1 / (x**2 - 1)), list(sp.primerange(90, 120)))
