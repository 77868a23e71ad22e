"""needs SciPy: the usual tests, from t to Kolmogorov-Smirnov, with their p-values."""

import numpy as np
from scipy import stats

rng = np.random.default_rng(31)
a, b, c = rng.normal(10, 2, 40), rng.normal(11, 2.5, 35), rng.normal(10.4, 2, 50)


def show(name, result):
    print(name, float(result.statistic), float(result.pvalue))


show("t", stats.ttest_ind(a, b))
show("Welch", stats.ttest_ind(a, b, equal_var=False))
show("paired", stats.ttest_rel(a[:35], b))
show("Mann-Whitney", stats.mannwhitneyu(a, b))
show("Wilcoxon", stats.wilcoxon(a[:35] - b))
show("ANOVA", stats.f_oneway(a, b, c))
show("Kruskal", stats.kruskal(a, b, c))
show("Levene", stats.levene(a, b, c))
show("Shapiro", stats.shapiro(a))
show("KS", stats.ks_2samp(a, b))
show("normal", stats.normaltest(c))
table = np.array([[18, 7, 12], [9, 15, 14]])
chi = stats.chi2_contingency(table)
print("chi2", chi.statistic, chi.pvalue, chi.dof, *chi.expected_freq[0])
print("Fisher", stats.fisher_exact([[8, 2], [1, 5]]).pvalue, "binomial", stats.binomtest(36, 50, 0.6).pvalue)
x = rng.normal(size=60)
y = 0.5 * x + rng.normal(size=60)
for name in ("pearsonr", "spearmanr", "kendalltau"):
    show(name, getattr(stats, name)(x, y))
line = stats.linregress(x, y)
print("line", line.slope, line.intercept, line.rvalue, line.pvalue, line.stderr)
tukey = stats.tukey_hsd(a, b, c)
print("Tukey", *tukey.pvalue[0])
shape, loc, scale = stats.gamma.fit(rng.gamma(2.0, 3.0, 500), floc=0)
print("gamma", shape, loc, scale, stats.gamma(shape, loc, scale).ppf(0.9))
kde = stats.gaussian_kde(a)
print("density", *kde([8, 10, 12]), kde.integrate_box_1d(8, 12))
print("zscore", *stats.zscore(a)[:2], "trimmed", stats.trim_mean(a, 0.1), "mode", stats.mode([1, 2, 2, 3]).mode)
boot = stats.bootstrap((a,), np.mean, n_resamples=500, rng=np.random.default_rng(1))
print("bootstrap", *boot.confidence_interval)
