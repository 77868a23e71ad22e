"""Orders of a shop: cohorts, retention, RFM scores and a pivot table."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(17)
customers = 500
first = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 180, customers), unit="D")
rows = []
for customer, start in enumerate(first):
    for offset in np.cumsum(rng.geometric(0.02, rng.integers(1, 9))):
        when = start + pd.Timedelta(days=int(offset))
        rows.append((customer, when, round(float(rng.gamma(2, 20)), 2), rng.choice(["web", "app", "shop"])))
orders = pd.DataFrame(rows, columns=["customer", "date", "amount", "channel"])
orders["month"] = orders["date"].dt.to_period("M")
orders["cohort"] = orders.groupby("customer")["month"].transform("min")
orders["age"] = (orders["month"] - orders["cohort"]).map(lambda d: d.n)
retention = orders.pivot_table(index="cohort", columns="age", values="customer", aggfunc="nunique")
share = retention.div(retention[0], axis=0)
print(share.iloc[:5, :5].round(6).to_string(na_rep="-"))

now = orders["date"].max()
rfm = orders.groupby("customer").agg(
    recency=("date", lambda d: (now - d.max()).days), frequency=("date", "size"), money=("amount", "sum")
)
for column in rfm:
    labels = [4, 3, 2, 1] if column == "recency" else [1, 2, 3, 4]
    rfm[column[0].upper()] = pd.qcut(rfm[column].rank(method="first"), 4, labels=labels).astype(int)
rfm["score"] = rfm[["R", "F", "M"]].sum(axis=1)
print(rfm["score"].value_counts().sort_index().to_dict())
print(rfm.sort_values(["score", "money"], ascending=False).head(3).to_string())
table = pd.crosstab(orders["channel"], orders["month"].dt.quarter, values=orders["amount"], aggfunc="sum")
print(table.to_string(float_format="%.2f"))
top = orders.assign(rank=orders.groupby("channel")["amount"].rank(ascending=False)).query("rank <= 2")
print(top.sort_values(["channel", "rank"])[["channel", "customer", "amount"]].to_csv(index=False), end="")
print(orders["amount"].describe(percentiles=[0.05, 0.95]).round(4).to_dict())
