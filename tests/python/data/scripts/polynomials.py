"""Calibrates a sensor with polynomials and picks the degree by cross-validation."""

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

rng = np.random.default_rng(5)
x = np.linspace(-2, 3, 60)
truth = Polynomial([1.0, -0.5, 0.25, 0.4])
y = truth(x) + rng.normal(0, 0.3, x.size)

folds = np.arange(x.size) % 5
scores = {}
for degree in range(1, 8):
    errors = []
    for fold in range(5):
        train, test = folds != fold, folds == fold
        fit = Polynomial.fit(x[train], y[train], degree)
        errors.append(np.mean((fit(x[test]) - y[test]) ** 2))
    scores[degree] = np.mean(errors)
    print(degree, scores[degree])
best = min(scores, key=scores.get)
print("best degree", best)

fit = Polynomial.fit(x, y, best).convert()
print("coefficients", *fit.coef)
print("derivative at 1", fit.deriv()(1.0), "area", fit.integ()(3) - fit.integ()(-2))
roots = fit.roots()
print("real roots", *sorted(r.real for r in roots if abs(r.imag) < 1e-9))
coefficients, covariance = np.polyfit(x, y, best, cov=True)
print("standard errors", *np.sqrt(np.diag(covariance)))
series = Chebyshev.interpolate(np.exp, 8, domain=[-1, 1])
print("Chebyshev error", np.max(np.abs(series(x / 3) - np.exp(x / 3))) < 1e-8)
