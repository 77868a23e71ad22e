"""Customers in groups: k-means with k-means++ starts and silhouettes, in NumPy alone."""

import numpy as np

rng = np.random.default_rng(8)
centres = np.array([[0, 0], [5, 1], [2, 6], [8, 7]])
points = np.vstack([c + rng.normal(0, 0.8, (60, 2)) for c in centres])
rng.shuffle(points)


def distances(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=2))


def kmeans(points, k, rng):
    chosen = [points[rng.integers(len(points))]]
    while len(chosen) < k:
        d2 = distances(points, np.array(chosen)).min(axis=1) ** 2
        chosen.append(points[rng.choice(len(points), p=d2 / d2.sum())])
    means = np.array(chosen)
    for _ in range(100):
        labels = distances(points, means).argmin(axis=1)
        moved = np.array([points[labels == j].mean(axis=0) for j in range(k)])
        if np.allclose(moved, means):
            break
        means = moved
    return means, labels, (distances(points, means).min(axis=1) ** 2).sum()


def silhouette(points, labels):
    d = distances(points, points)
    ids = np.unique(labels)
    mean = np.array([d[:, labels == j].sum(axis=1) for j in ids]).T
    sizes = np.array([(labels == j).sum() for j in ids])
    own = mean[np.arange(len(points)), np.searchsorted(ids, labels)] / (sizes[np.searchsorted(ids, labels)] - 1)
    other = mean / sizes
    other[np.arange(len(points)), np.searchsorted(ids, labels)] = np.inf
    nearest = other.min(axis=1)
    return ((nearest - own) / np.maximum(nearest, own)).mean()


for k in range(2, 7):
    best = min((kmeans(points, k, rng) for _ in range(8)), key=lambda run: run[2])
    print(k, "inertia", best[2], "silhouette", silhouette(points, best[1]))
    if k == 4:
        four = best
order = np.lexsort(four[0].T)
print("centres", *four[0][order].ravel())
print("sizes", *np.bincount(four[1])[order])
