"""Bootstrap intervals, a permutation test and a power simulation, without a statistics library."""

import numpy as np

rng = np.random.default_rng(2)
control = rng.lognormal(3.0, 0.5, 150)
treated = rng.lognormal(3.15, 0.5, 140)
print("means", control.mean(), treated.mean(), "medians", np.median(control), np.median(treated))

draws = rng.integers(0, control.size, (4000, control.size))
medians = np.median(control[draws], axis=1)
print("median interval", *np.quantile(medians, [0.025, 0.975]), "se", medians.std(ddof=1))

observed = treated.mean() - control.mean()
both = np.concatenate([control, treated])
null = np.empty(5000)
for i in range(null.size):
    rng.shuffle(both)
    null[i] = both[:140].mean() - both[140:].mean()
print("difference", observed, "p", (np.sum(np.abs(null) >= abs(observed)) + 1) / (null.size + 1))

# Bayesian bootstrap of the ratio, by Dirichlet weights.
wc = rng.dirichlet(np.ones(control.size), 2000)
wt = rng.dirichlet(np.ones(treated.size), 2000)
ratio = (wt @ treated) / (wc @ control)
print("ratio", ratio.mean(), *np.quantile(ratio, [0.05, 0.95]))

for size in (50, 100, 200):
    a = rng.normal(0, 1, (2000, size))
    b = rng.normal(0.3, 1, (2000, size))
    t = (b.mean(1) - a.mean(1)) / np.sqrt((a.var(1, ddof=1) + b.var(1, ddof=1)) / size)
    print("power", size, np.mean(np.abs(t) > 1.96))
print("streams", *np.random.default_rng([1, 2]).integers(0, 1000, 5), *np.random.RandomState(7).rand(2))
