"""needs SciPy: nearest neighbours, hulls, triangles, distances, rotations, images."""

import numpy as np
from scipy import ndimage, spatial
from scipy.cluster import hierarchy
from scipy.sparse import csgraph
from scipy.spatial.transform import Rotation

rng = np.random.default_rng(14)
points = rng.random((200, 2)) * 10
tree = spatial.KDTree(points)
distance, index = tree.query([[5, 5], [0, 0]], k=3)
print("near", *distance.ravel(), *index.ravel(), len(tree.query_pairs(0.5)))
hull = spatial.ConvexHull(points)
print("hull", len(hull.vertices), hull.volume, hull.area)
mesh = spatial.Delaunay(points)
print("mesh", len(mesh.simplices), int(mesh.find_simplex([5, 5])) >= 0)
print("regions", len(spatial.Voronoi(points).regions))
d = spatial.distance.pdist(points[:30], "cityblock")
print("pdist", d.sum(), spatial.distance.cdist(points[:2], points[2:4], "cosine").ravel()[0])
linkage = hierarchy.linkage(points[:40], "ward")
print("ward", *linkage[-1][:3], *np.bincount(hierarchy.fcluster(linkage, 4, "maxclust"))[1:])
turn = Rotation.from_euler("zyx", [90, 30, 45], degrees=True)
print("rotation", *turn.as_quat(), *turn.apply([1, 2, 3]))
image = np.zeros((60, 60))
image[10:20, 10:25] = 1
image[35:50, 30:38] = 2
blurred = ndimage.gaussian_filter(image, 1.5)
labels, count = ndimage.label(blurred > 0.4)
print("labels", count, *ndimage.sum_labels(image, labels, [1, 2]), *np.ravel(ndimage.center_of_mass(image, labels, [1, 2])))
print("rotated", ndimage.rotate(image, 30, order=1).sum(), ndimage.zoom(image, 0.5, order=3).sum())
print("edges", ndimage.sobel(image).std(), ndimage.distance_transform_edt(image).max(), ndimage.binary_erosion(image).sum())
ways = csgraph.shortest_path(spatial.distance.cdist(points[:8], points[:8]) * (rng.random((8, 8)) < 0.5), directed=False)
print("ways", ways[0][np.isfinite(ways[0])].sum(), csgraph.minimum_spanning_tree(spatial.distance.cdist(points[:8], points[:8])).sum())
