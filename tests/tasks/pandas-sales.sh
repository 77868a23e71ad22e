python3 - <<'P'
import csv, random
random.seed(3)
with open("sales.csv", "w", newline="") as f:
    w = csv.writer(f); w.writerow(["date", "region", "product", "units", "price"])
    for i in range(200): w.writerow([f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}", random.choice("NSEW"), random.choice(["tea", "rice", "oil"]), random.randint(1, 30), round(random.uniform(1, 9), 2)])
P
head -3 sales.csv; cat > a.py <<'P'
import pandas as pd
df = pd.read_csv("sales.csv", parse_dates=["date"]); df["total"] = df.units * df.price
print(df.dtypes.to_string()); print(df.describe().round(2).to_string())
print(df.groupby(["region", "product"], sort=True).total.agg(["count", "sum", "mean"]).round(2).to_string())
print(df.pivot_table(index=df.date.dt.quarter, columns="product", values="units", aggfunc="sum").to_string())
top = df.nlargest(3, "total")[["date", "product", "total"]]; print(top.to_string(index=False))
m = df.set_index("date").resample("MS").total.sum().round(2); print(m.tail(3).to_string()); print(m.pct_change().round(3).iloc[-1])
df.loc[::50, "price"] = None; print(df.price.isna().sum(), round(df.price.fillna(df.price.median()).mean(), 4)); df.groupby("region").total.sum().round(2).to_json("out.json")
P
python3 a.py; jq -S . out.json
