"""Times NumPy and pandas at sizes where start-up does not count, as the best of three.

Prints a line for each measurement, `NAME MILLISECONDS`. The folder in the argument has
`sales.csv`, about 50 MB.
"""

import sys
import time

import numpy as np
import pandas as pd


def measure(name, function, repeat=3):
    best = float("inf")
    for _ in range(repeat):
        begin = time.perf_counter()
        result = function()
        best = min(best, time.perf_counter() - begin)
    print(name, round(best * 1000, 2), flush=True)
    return result


def main(folder):
    random = np.random.default_rng(1)
    a = random.random((500, 500))
    b = random.random((500, 500))
    measure("matmul-500", lambda: a @ b)
    values = random.random(10**6)
    measure("sort-1e6", lambda: np.sort(values))
    measure("fft-2^20", lambda: np.fft.fft(values[: 2**19].repeat(2)))
    measure("sum-of-products-1e6", lambda: (values * values).sum())
    frame = measure("read-csv-50MB", lambda: pd.read_csv(f"{folder}/sales.csv"), 1)
    measure("groupby", lambda: frame.groupby(["region", "product"])["amount"].agg(["sum", "mean"]))
    prices = pd.DataFrame({"product": sorted(frame["product"].unique())})
    prices["price"] = range(len(prices))
    measure("merge", lambda: frame.merge(prices, on="product"))
    measure("sort-values", lambda: frame.sort_values("amount"))


main(sys.argv[1])
