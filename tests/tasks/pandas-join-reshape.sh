cat > t.py <<'P'
import io, pandas as pd, numpy as np
users = pd.read_csv(io.StringIO("id,name,team\n1,Ann,a\n2,Bob,b\n3,Cy,\n"), dtype={"team": "string"})
logs = pd.DataFrame({"uid": [1, 1, 2, 9], "t": pd.to_datetime(["2024-01-01 10:00", "2024-01-01 10:45", "2024-01-02 09:30", "2024-01-03 00:00"]), "ms": [120, 80, 300, 5]})
m = users.merge(logs, left_on="id", right_on="uid", how="outer", indicator=True); print(m.to_string()); print(m._merge.value_counts().sort_index().to_string())
long = users.melt(id_vars="id", var_name="k", value_name="v"); print(long.to_string(index=False)); print(long.pivot(index="id", columns="k", values="v").to_string())
g = logs.groupby("uid").t.diff(); print(g.to_string()); print(logs.assign(bin=pd.cut(logs.ms, [0, 100, 200, 1000], labels=["low", "mid", "high"])).to_string())
print(pd.crosstab(logs.uid, logs.ms > 100).to_string()); print(users.to_markdown(index=False)); print(users.query("id > 1 and name.str.len() == 2").name.tolist(), np.percentile(logs.ms, [25, 50, 75]))
print(logs.to_csv(index=False)); logs.to_excel("l.xlsx", index=False); print(pd.read_excel("l.xlsx").equals(logs), pd.json_normalize([{"a": {"b": 1, "c": [1, 2]}}]).to_dict())
P
python3 t.py
