"""A network of roads: shortest ways, centrality, communities, flows, a drawing."""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

rng = np.random.default_rng(4)
graph = nx.Graph()
places = [f"P{i:02d}" for i in range(24)]
where = dict(zip(places, rng.random((24, 2)) * 100))
for a in places:
    near = sorted(places, key=lambda b: np.hypot(*(where[a] - where[b])))[1:5]
    for b in near:
        graph.add_edge(a, b, km=round(float(np.hypot(*(where[a] - where[b]))), 3))
if not nx.is_connected(graph):
    parts = [sorted(c) for c in nx.connected_components(graph)]
    for one, other in zip(parts, parts[1:]):
        graph.add_edge(one[0], other[0], km=50.0)
print(graph.number_of_nodes(), graph.number_of_edges(), nx.density(graph))
way = nx.shortest_path(graph, "P00", "P23", weight="km")
print(" ".join(way), nx.path_weight(graph, way, "km"))
print("diameter", nx.diameter(graph), "clustering", nx.average_clustering(graph))
degrees = nx.degree_centrality(graph)
print("central", *sorted(degrees, key=lambda n: (-degrees[n], n))[:4])
between = nx.betweenness_centrality(graph, weight="km")
print("between", *(f"{n}={between[n]:.6f}" for n in sorted(between, key=between.get, reverse=True)[:4]))
tree = nx.minimum_spanning_tree(graph, weight="km")
print("tree", tree.size(), tree.size(weight="km"))
communities = nx.community.greedy_modularity_communities(graph)
print("communities", sorted(map(len, communities)), nx.community.modularity(graph, communities))
flow, _ = nx.maximum_flow(graph, "P00", "P23", capacity="km")
print("flow", flow)
jobs = nx.DiGraph([("fetch", "clean"), ("clean", "fit"), ("clean", "plot"), ("fit", "report"), ("plot", "report")])
print(list(nx.lexicographical_topological_sort(jobs)), nx.dag_longest_path(jobs))
nx.draw(graph, where, node_size=40, with_labels=True, font_size=6)
plt.savefig("/output/graph.png", dpi=60)
nx.write_graphml(graph, "/output/graph.graphml")
print(nx.is_isomorphic(graph, nx.read_graphml("/output/graph.graphml")))
