"""needs statsmodels: linear and logistic models by formula, ARIMA, tests, a seasonal decomposition."""

import numpy as np
import pandas as pd
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats.multicomp import pairwise_tukeyhsd
from statsmodels.stats.power import TTestIndPower
from statsmodels.tsa.api import ARIMA, ExponentialSmoothing, adfuller, seasonal_decompose

rng = np.random.default_rng(19)
n = 200
people = pd.DataFrame({"age": rng.integers(20, 65, n), "years": rng.integers(8, 20, n), "city": rng.choice(["A", "B", "C"], n)})
people["pay"] = 10 + 0.3 * people["age"] + 1.1 * people["years"] + (people["city"] == "B") * 3 + rng.normal(0, 4, n)
people["left"] = (rng.random(n) < 1 / (1 + np.exp(0.15 * (people["pay"] - 35)))).astype(int)
ols = smf.ols("pay ~ age + years + C(city)", people).fit()
print(ols.params.round(8).to_dict(), round(ols.rsquared, 8), round(ols.fvalue, 6), round(ols.aic, 6))
print("robust", *ols.get_robustcov_results("HC3").bse.round(8))
print(sm.stats.anova_lm(ols, typ=2).round(6).to_string())
logit = smf.logit("left ~ pay + age", people).fit(disp=0)
print("logit", *logit.params.round(6), round(logit.llf, 6))
poisson = smf.glm("years ~ age", people, family=sm.families.Poisson()).fit()
print("poisson", *poisson.params.round(8), round(poisson.deviance, 6))
print("tests", *np.round(sm.stats.diagnostic.het_breuschpagan(ols.resid, ols.model.exog), 6), round(sm.stats.durbin_watson(ols.resid), 8))
print(pairwise_tukeyhsd(people["pay"], people["city"]).pvalues.round(5).tolist())
print("power", round(float(TTestIndPower().solve_power(0.5, alpha=0.05, power=0.8)), 5))
months = pd.date_range("2018-01-01", periods=84, freq="MS")
series = pd.Series(50 + 0.4 * np.arange(84) + 8 * np.sin(np.arange(84) * np.pi / 6) + rng.normal(0, 1.5, 84), months)
parts = seasonal_decompose(series, period=12)
print("seasonal", *parts.seasonal.iloc[:12].round(6))
print("adf", *np.round(list(adfuller(series))[:2], 5))
arima = ARIMA(series, order=(1, 1, 1), trend="t").fit()
print("arima", *np.round(arima.params, 2), *arima.forecast(3).round(1))
smoothing = ExponentialSmoothing(series, trend="add", seasonal="add", seasonal_periods=12).fit()
print("smoothing", *smoothing.forecast(4).round(1))
lowess = sm.nonparametric.lowess(people["pay"], people["age"], frac=0.5)
print("lowess", *lowess[[0, 100, -1], 1].round(6))
