"""Prices an option by simulation, and compares with the closed formula and a binomial tree."""

import math

import numpy as np

s0, strike, rate, sigma, years = 100.0, 105.0, 0.03, 0.25, 1.0


def normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


d1 = (math.log(s0 / strike) + (rate + sigma**2 / 2) * years) / (sigma * math.sqrt(years))
d2 = d1 - sigma * math.sqrt(years)
formula = s0 * normal_cdf(d1) - strike * math.exp(-rate * years) * normal_cdf(d2)
print("formula", formula, "delta", normal_cdf(d1))

rng = np.random.default_rng(1)
z = rng.standard_normal(200_000)
z = np.concatenate([z, -z])
end = s0 * np.exp((rate - sigma**2 / 2) * years + sigma * math.sqrt(years) * z)
payoff = math.exp(-rate * years) * np.maximum(end - strike, 0)
print("simulated", payoff.mean(), "+-", payoff.std(ddof=1) / math.sqrt(payoff.size))

steps, paths = 50, 20_000
moves = rng.normal((rate - sigma**2 / 2) / steps, sigma / math.sqrt(steps), (paths, steps))
path = s0 * np.exp(np.cumsum(moves, axis=1))
asian = np.exp(-rate) * np.maximum(path.mean(axis=1) - strike, 0)
barrier = np.exp(-rate) * np.where(path.max(axis=1) < 140, np.maximum(path[:, -1] - strike, 0), 0)
print("Asian", asian.mean(), "barrier", barrier.mean(), "value at risk", np.quantile(path[:, -1] - s0, 0.05))

up = math.exp(sigma * math.sqrt(years / steps))
p = (math.exp(rate / steps) - 1 / up) / (up - 1 / up)
values = np.maximum(strike - s0 * up ** (2 * np.arange(steps + 1) - steps), 0)
for step in range(steps - 1, -1, -1):
    prices = s0 * up ** (2 * np.arange(step + 1) - step)
    values = np.maximum(strike - prices, math.exp(-rate / steps) * (p * values[1:] + (1 - p) * values[:-1]))
print("American put", values[0])
low, high = 0.01, 1.0
while high - low > 1e-12:
    guess = (low + high) / 2
    a = (math.log(s0 / strike) + (rate + guess**2 / 2)) / guess
    price = s0 * normal_cdf(a) - strike * math.exp(-rate) * normal_cdf(a - guess)
    low, high = (guess, high) if price < 10.0 else (low, guess)
print("implied", low)
