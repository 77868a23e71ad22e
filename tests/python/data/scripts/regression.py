"""House prices from size, age and distance: least squares with standard errors, written out."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(11)
n = 400
homes = pd.DataFrame(
    {
        "size": rng.normal(120, 35, n).round(1),
        "age": rng.integers(0, 80, n),
        "distance": rng.exponential(6, n).round(2),
        "garden": rng.random(n) < 0.4,
    }
)
noise = rng.normal(0, 18, n)
homes["price"] = (
    60 + 2.1 * homes["size"] - 0.8 * homes["age"] - 4.5 * homes["distance"] + 25 * homes["garden"]
) + noise

design = np.column_stack(
    [np.ones(n), homes[["size", "age", "distance"]].to_numpy(float), homes["garden"].astype(float)]
)
y = homes["price"].to_numpy()
beta, residual, rank, singular = np.linalg.lstsq(design, y, rcond=None)
error = y - design @ beta
dof = n - rank
sigma2 = error @ error / dof
se = np.sqrt(np.diag(sigma2 * np.linalg.inv(design.T @ design)))
table = pd.DataFrame(
    {"estimate": beta, "se": se, "t": beta / se},
    index=["intercept", "size", "age", "distance", "garden"],
)
print(table.to_string(float_format="%.6f"))
r2 = 1 - (error @ error) / ((y - y.mean()) @ (y - y.mean()))
print("R2", r2, "adjusted", 1 - (1 - r2) * (n - 1) / dof, "rank", rank)
print("condition", np.linalg.cond(design))

# Ridge, by the normal equations, for a path of penalties.
centred = design[:, 1:] - design[:, 1:].mean(axis=0)
for penalty in (0.1, 10, 1000):
    ridge = np.linalg.solve(centred.T @ centred + penalty * np.eye(4), centred.T @ (y - y.mean()))
    print("ridge", penalty, *ridge)
new = pd.DataFrame({"size": [90, 150], "age": [5, 40], "distance": [2.5, 10], "garden": [1, 0]})
print("predicted", *(np.column_stack([np.ones(2), new.to_numpy(float)]) @ beta))
