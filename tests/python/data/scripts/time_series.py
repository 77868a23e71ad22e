"""Daily sales: gaps, resampling, rolling means, seasonality, a simple forecast."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(3)
days = pd.date_range("2024-01-01", "2025-12-31", freq="D")
trend = np.linspace(100, 160, len(days))
week = np.array([0, -3, -2, 1, 8, 20, 12])[days.day_of_week]
year = 15 * np.sin(2 * np.pi * days.day_of_year / 365.25)
sales = pd.Series(trend + week + year + rng.normal(0, 5, len(days)), index=days, name="sales")
sales.iloc[rng.choice(len(days), 25, replace=False)] = np.nan

print("missing", sales.isna().sum())
filled = sales.interpolate("time")
monthly = filled.resample("MS").agg(["sum", "mean", "std"])
print(monthly.head(4).to_string(float_format="%.4f"))
print(filled.resample("QE").sum().pct_change().dropna().map("{:.5f}".format).to_dict())

rolling = filled.rolling(28, center=True).mean()
detrended = filled - rolling
pattern = detrended.groupby(detrended.index.day_of_week).mean()
pattern -= pattern.mean()
print("week", *pattern)
print("lag correlations", *(filled.autocorr(k) for k in (1, 7, 30)))

ewm = filled.ewm(span=14).mean()
print("ewm", *ewm.iloc[[13, 100, -1]])
train, test = filled[:"2025-11-30"], filled["2025-12-01":]
naive = pd.Series(train.iloc[-7:].to_numpy()[np.arange(len(test)) % 7], index=test.index)
print("MAE", (test - naive).abs().mean(), "MAPE", ((test - naive).abs() / test).mean())
local = filled.tz_localize("UTC").tz_convert("Europe/Berlin")
print(local.index[180], local.index[0])
print(filled.groupby([filled.index.year, filled.index.quarter]).mean().unstack().to_string(float_format="%.3f"))
