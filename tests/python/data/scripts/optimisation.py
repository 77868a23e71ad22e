"""needs SciPy: minima, roots, linear and integer programs, assignment."""

import numpy as np
from scipy import optimize

rosen = optimize.minimize(optimize.rosen, [1.3, 0.7, 0.8, 1.9, 1.2], method="BFGS", jac=optimize.rosen_der)
print("BFGS", *rosen.x, rosen.success)
for method in ("Nelder-Mead", "Powell", "L-BFGS-B", "trust-constr", "SLSQP", "COBYLA"):
    found = optimize.minimize(lambda p: (p[0] - 1) ** 2 + (p[1] + 2) ** 2 + p[0] * p[1], [0, 0], method=method)
    print(method, *np.round(found.x, 3), round(found.fun, 4))
portfolio = np.array([[0.04, 0.006, 0.01], [0.006, 0.09, 0.02], [0.01, 0.02, 0.16]])
returns = np.array([0.06, 0.1, 0.14])
best = optimize.minimize(lambda w: w @ portfolio @ w, np.full(3, 1 / 3), bounds=[(0, 1)] * 3, constraints=[
    {"type": "eq", "fun": lambda w: w.sum() - 1}, {"type": "ineq", "fun": lambda w: returns @ w - 0.1}])
print("portfolio", *np.round(best.x, 5), round(best.fun, 8))
plan = optimize.linprog([-3, -5, -4], A_ub=[[2, 3, 0], [0, 2, 5], [3, 2, 4]], b_ub=[8, 10, 15])
print("linprog", *plan.x, plan.fun, *plan.ineqlin.marginals)
knapsack = optimize.milp([-10, -13, -18, -31, -7], integrality=np.ones(5), bounds=optimize.Bounds(0, 1),
                         constraints=optimize.LinearConstraint([[2, 3, 4, 7, 1]], ub=10))
print("milp", *knapsack.x.round().astype(int), knapsack.fun)
rows, columns = optimize.linear_sum_assignment([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
print("assignment", *rows, *columns)
print("brentq", optimize.brentq(lambda x: x**3 - x - 2, 1, 2), "newton", optimize.newton(np.cos, 1.0))
root = optimize.root(lambda v: [v[0] ** 2 + v[1] ** 2 - 4, v[0] - v[1]], [1, 0.5])
print("root", *root.x)
world = optimize.differential_evolution(lambda p: 20 + (p**2 - 10 * np.cos(2 * np.pi * p)).sum(), [(-5, 5)] * 2, rng=3)
print("evolution", *np.round(world.x, 6) + 0.0, world.fun < 1e-9)
nonneg, rest = optimize.nnls(np.array([[1.0, 2], [3, 4], [5, 6]]), [7.0, 8, 9])
print("nnls", *nonneg, rest)
