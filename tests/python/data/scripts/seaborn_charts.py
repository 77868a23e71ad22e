"""Statistical charts with seaborn, and the numbers that they show."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns

rng = np.random.default_rng(12)
n = 240
tips = pd.DataFrame(
    {
        "bill": rng.gamma(4, 6, n).round(2),
        "day": pd.Categorical(rng.choice(["Thu", "Fri", "Sat", "Sun"], n), ["Thu", "Fri", "Sat", "Sun"]),
        "smoker": rng.choice(["yes", "no"], n, p=[0.4, 0.6]),
        "party": rng.integers(1, 7, n),
    }
)
tips["tip"] = (tips["bill"] * 0.15 + rng.normal(0, 0.8, n)).clip(lower=0.5).round(2)
print(tips.groupby(["day", "smoker"], observed=True)["tip"].mean().unstack().to_string(float_format="%.5f"))
print(tips.select_dtypes("number").corr().to_string(float_format="%.6f"))

sns.set_theme(style="whitegrid")
fig, axes = plt.subplots(2, 2, figsize=(9, 7))
sns.boxplot(tips, x="day", y="tip", hue="smoker", ax=axes[0, 0])
sns.histplot(tips, x="bill", bins=20, hue="smoker", multiple="stack", ax=axes[0, 1])
sns.heatmap(tips.select_dtypes("number").corr(), annot=True, ax=axes[1, 0])
sns.barplot(tips, x="party", y="tip", errorbar=None, ax=axes[1, 1])
fig.tight_layout()
fig.savefig("/output/tips.png", dpi=70)
heights = [patch.get_height() for patch in axes[1, 1].patches]
print("bars", *heights)
counts = [int(p.get_height()) for p in axes[0, 1].patches]
print("histogram", sum(counts), len(counts))
print(plt.imread("/output/tips.png").shape, [t.get_text() for t in axes[0, 0].get_legend().get_texts()])
