"""Principal components of correlated measurements, by the SVD, checked against the covariance."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(21)
n = 300
factors = rng.normal(size=(n, 2)) * [3.0, 1.5]
loadings = np.array([[0.9, 0.1], [0.8, -0.2], [0.7, 0.3], [0.05, 0.9], [-0.1, 0.85], [0.4, 0.5]])
names = ["height", "weight", "arm", "speed", "jump", "score"]
data = pd.DataFrame(factors @ loadings.T + rng.normal(0, 0.3, (n, 6)), columns=names)

z = (data - data.mean()) / data.std()
u, s, vt = np.linalg.svd(z.to_numpy(), full_matrices=False)
explained = s**2 / (s**2).sum()
for k, share in enumerate(explained):
    print(f"component {k + 1}: {share:.6f} cumulated {explained[: k + 1].sum():.6f}")

# A component's sign is arbitrary, so the largest loading is made positive.
signs = np.sign(vt[np.arange(6), np.abs(vt).argmax(axis=1)])
components = pd.DataFrame(vt * signs[:, None], columns=names).iloc[:2]
print(components.to_string(float_format="%.5f"))
scores = z.to_numpy() @ components.to_numpy().T
print("scores", *scores[0], *scores[-1])
values = np.linalg.eigvalsh(np.cov(z.to_numpy(), rowvar=False))[::-1]
print("eigenvalues", *values)
print("same", np.allclose(values, s**2 / (n - 1)))
rebuilt = scores @ components.to_numpy()
print("lost", np.mean((z.to_numpy() - rebuilt) ** 2))
outliers = np.argsort(np.abs(scores).max(axis=1))[-3:]
print("outliers", sorted(outliers.tolist()))
