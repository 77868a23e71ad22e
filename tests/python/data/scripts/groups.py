"""needs scikit-learn: clusters, projections and mixtures of unlabelled data."""

import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.decomposition import NMF, PCA, FastICA, TruncatedSVD
from sklearn.manifold import TSNE, Isomap
from sklearn.metrics import adjusted_rand_score, calinski_harabasz_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler

x, truth = make_blobs(300, centers=4, cluster_std=0.9, random_state=3)
for k in (3, 4, 5):
    model = KMeans(k, n_init=5, random_state=0).fit(x)
    print("kmeans", k, round(model.inertia_, 5), round(silhouette_score(x, model.labels_), 6), round(calinski_harabasz_score(x, model.labels_), 4))
for name, model in {"agglomerative": AgglomerativeClustering(4), "batches": MiniBatchKMeans(4, n_init=3, random_state=0),
                    "spectral": SpectralClustering(4, random_state=0, affinity="nearest_neighbors")}.items():
    print(name, round(adjusted_rand_score(truth, model.fit_predict(x)), 3))
moons, shape = make_moons(200, noise=0.05, random_state=1)
print("dbscan", adjusted_rand_score(shape, DBSCAN(eps=0.2).fit_predict(moons)))
mixture = GaussianMixture(4, random_state=0).fit(x)
print("mixture", round(mixture.bic(x), 3), *np.sort(mixture.weights_).round(5))
iris = load_iris()
scaled = StandardScaler().fit_transform(iris.data)
pca = PCA().fit(scaled)
print("pca", *pca.explained_variance_ratio_.round(8), *np.abs(pca.components_[0]).round(6))
print("svd", *TruncatedSVD(2, random_state=0).fit(scaled).explained_variance_ratio_.round(6))
print("nmf", round(NMF(2, init="nndsvd", random_state=0, max_iter=500).fit(iris.data).reconstruction_err_, 3))
print("ica", FastICA(2, random_state=0).fit_transform(scaled).shape, "isomap", Isomap(n_components=2).fit_transform(scaled).shape)
print("tsne", TSNE(random_state=0, max_iter=300).fit_transform(scaled[::3]).shape)
distance, _ = NearestNeighbors(n_neighbors=4).fit(scaled).kneighbors(scaled[:3])
print("neighbours", *distance[:, 1:].ravel().round(8))
print("outliers", int((LocalOutlierFactor(20).fit_predict(scaled) == -1).sum()))
