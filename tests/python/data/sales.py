"""Reads a large table, groups, joins and pivots it, and writes a plot and a workbook: CSV OUTPUT.

The output must not depend on the machine, because floats are printed to the last bit.
"""

import hashlib
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import openpyxl
import pandas as pd


def show(title, frame):
    """Prints the frame's shape, types and first rows, and a digest of all its values."""
    print(f"== {title} {frame.shape}")
    for name, column in frame.reset_index().items():
        values = column.to_numpy()
        if values.dtype.kind in "fiuM":
            digest = hashlib.sha256(np.ascontiguousarray(values).tobytes())
            first = [v.hex() if isinstance(v, float) else str(v) for v in values[:3].tolist()]
        else:
            digest = hashlib.sha256("\n".join(map(str, values)).encode())
            first = [str(v) for v in values[:3]]
        print(name, values.dtype, digest.hexdigest()[:16], *first)


def main(csv, output):
    sales = pd.read_csv(csv, parse_dates=["date"])
    show("sales", sales.head(100_000))
    print(sales.isna().sum().sum(), sales["quantity"].sum(), sales["amount"].sum().hex())

    totals = sales.groupby(["region", "product"])["amount"].agg(
        ["sum", "mean", "median", "std", "min", "max", "count"]
    )
    show("totals", totals)

    products = pd.DataFrame({"product": sorted(sales["product"].unique())})
    products["price"] = np.linspace(1.0, 99.9, len(products))
    joined = sales.merge(products, on="product", how="left")
    joined["revenue"] = joined["price"] * joined["quantity"]
    show("joined", joined[["revenue"]])

    joined["month"] = joined["date"].dt.to_period("M").dt.to_timestamp()
    monthly = joined.pivot_table(index="month", columns="region", values="revenue", aggfunc="sum")
    show("monthly", monthly)
    show("rolling", monthly.rolling(3).mean())
    show("quantiles", joined[["amount", "revenue"]].quantile([0.1, 0.5, 0.9]))
    show("correlation", joined[["amount", "revenue", "quantity"]].corr())
    best = joined.nlargest(5, ["revenue", "amount"])[["date", "product", "revenue"]]
    print(best.to_csv(index=False), end="")

    ax = monthly.plot(kind="bar", stacked=True, figsize=(8, 4), title="Revenue")
    ax.set_xticks(range(12), [m.strftime("%b") for m in monthly.index], rotation=0)
    plt.tight_layout()
    plt.savefig(Path(output, "revenue.png"), dpi=80)

    book = Path(output, "sales.xlsx")
    with pd.ExcelWriter(book) as writer:
        monthly.to_excel(writer, sheet_name="monthly")
        totals.head(100).to_excel(writer, sheet_name="totals")
    sheets = openpyxl.load_workbook(book)
    print(sheets.sheetnames, sheets["monthly"].dimensions, sheets["totals"].dimensions)
    back = pd.read_excel(book, sheet_name="monthly", index_col=0)
    print(np.allclose(back.to_numpy(), monthly.to_numpy(), rtol=1e-15, atol=0))


main(*sys.argv[1:])
