"""needs SciPy: heat on a plate with sparse matrices; dense decompositions."""

import numpy as np
from scipy import linalg, sparse, special
from scipy.sparse.linalg import LinearOperator, cg, eigsh, expm_multiply, gmres, splu, spsolve, svds

n = 30
one = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
plate = sparse.kronsum(one, one, format="csc")
right = np.zeros(n * n)
right[n * n // 2 + n // 2] = 1
direct = spsolve(plate, right)
print("plate", plate.shape, plate.nnz, direct.max(), direct.sum())
iterated, state = cg(plate, right, rtol=1e-10)
print("cg", state, np.abs(iterated - direct).max() < 1e-8, "gmres", gmres(plate, right, rtol=1e-8, restart=50)[1])
print("lu", splu(plate).solve(right).sum(), "eigenvalues", *eigsh(plate, k=3, sigma=0)[0])
print("heat", expm_multiply(-0.1 * plate, right).max())
rows = sparse.random(200, 60, density=0.1, rng=np.random.default_rng(3), format="csr")
print("svds", *np.sort(svds(rows, k=3, rng=0)[1]), "product", (rows.T @ rows).sum(), rows.getnnz(axis=0).max())
print("operator", LinearOperator((3, 3), matvec=lambda v: 2 * v).matvec(np.ones(3)).sum())

rng = np.random.default_rng(5)
a = rng.normal(size=(6, 6))
spd = a @ a.T + np.eye(6)
print("det", linalg.det(a), "cholesky", *np.diag(linalg.cholesky(spd)))
print("lu", *np.abs(np.diag(linalg.lu(a)[2])), "qr", *np.abs(np.diag(linalg.qr(a)[1])))
print("eigh", *linalg.eigh(spd, eigvals_only=True), "svd", *linalg.svdvals(a))
print("eig", *np.sort(np.abs(linalg.eigvals(a))), "schur", np.abs(linalg.schur(a)[0]).sum() > 0)
print("expm", linalg.expm(a / 10)[0, 0], "logm", linalg.logm(spd)[1, 1], "sqrtm", linalg.sqrtm(spd)[2, 2])
x, residual, rank, s = linalg.lstsq(a[:, :4], np.arange(6.0))
print("lstsq", *x, residual, rank)
print("toeplitz", *linalg.solve_toeplitz([4, 1, 0.5], [1, 2, 3]), "pinv", linalg.pinv(a[:, :3]).sum())
print("sylvester", linalg.solve_sylvester(spd, np.eye(6), a).sum(), "banded", *linalg.solve_banded((1, 1), [[0, 1, 1], [4, 4, 4], [1, 1, 0]], [1, 2, 3]))
print("special", special.gamma(4.5), special.jv(1, 2.5), special.erfinv(0.3), special.hyp2f1(1, 2, 3, 0.4), special.zeta(3), special.lambertw(1).real)
