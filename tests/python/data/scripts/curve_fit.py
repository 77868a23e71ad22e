"""needs SciPy: fits decays, peaks and a logistic curve; confidence of the parameters."""

import numpy as np
from scipy import optimize, stats

rng = np.random.default_rng(6)
x = np.linspace(0, 10, 80)


def decay(x, a, k, c):
    return a * np.exp(-k * x) + c


y = decay(x, 5.0, 0.6, 1.2) + rng.normal(0, 0.1, x.size)
best, covariance = optimize.curve_fit(decay, x, y, p0=(1, 1, 1))
width = stats.t.ppf(0.975, x.size - 3) * np.sqrt(np.diag(covariance))
for name, value, half in zip("akc", best, width):
    print(f"{name} = {value:.6f} +- {half:.6f}")


def peaks(x, *p):
    return sum(p[i] * np.exp(-(((x - p[i + 1]) / p[i + 2]) ** 2)) for i in (0, 3))


y = peaks(x, 3, 3, 0.8, 2, 7, 1.5) + rng.normal(0, 0.05, x.size)
best, _ = optimize.curve_fit(peaks, x, y, p0=(1, 2, 1, 1, 8, 1), bounds=(0, 10))
print("peaks", *best)

dose = np.array([0.1, 0.3, 1, 3, 10, 30, 100])
response = np.array([2.0, 5.1, 14.8, 38.7, 66.0, 84.2, 93.9])
hill = lambda d, top, ec50, n: top * d**n / (ec50**n + d**n)
best, covariance = optimize.curve_fit(hill, dose, response, p0=(100, 5, 1))
print("Hill", *best, *np.sqrt(np.diag(covariance)))
robust = optimize.least_squares(lambda p: decay(x, *p) - np.append(decay(x[:-3], 5, 0.6, 1.2), [9, 9, 9]),
                                (1, 1, 1), loss="soft_l1", f_scale=0.1)
print("robust", *robust.x, robust.success)
