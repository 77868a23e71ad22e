"""How far the guest's elementary functions are from another libm's.

    python3 libm.py values FILE      writes a million results of each function
    python3 libm.py compare A B      prints, for each, how many differ and by how much

Run `values` in the guest and by the machine's CPython, then compare. The arguments are the same
everywhere (`random` with a fixed seed).
"""

import array
import math
import random
import sys

COUNT = 1_000_000

# Name, and the ranges of its arguments.
FUNCTIONS = {
    "exp": [(-700, 700)],
    "log": [(1e-300, 1e6)],
    "pow": [(0, 100), (-20, 20)],
    "sin": [(-100, 100)],
    "cos": [(-100, 100)],
    "tan": [(-100, 100)],
    "cbrt": [(-1e6, 1e6)],
    "gamma": [(-20, 100)],
    "lgamma": [(-20, 100)],
    "exp2": [(-1000, 1000)],
    "expm1": [(-2, 10)],
    "log2": [(0, 1e6)],
    "log10": [(0, 1e6)],
    "log1p": [(-1, 10)],
    "sinh": [(-20, 20)],
    "cosh": [(-20, 20)],
    "tanh": [(-5, 5)],
    "asin": [(-1, 1)],
    "acos": [(-1, 1)],
    "atan": [(-10, 10)],
    "atan2": [(-10, 10), (-10, 10)],
    "asinh": [(-10, 10)],
    "acosh": [(1, 100)],
    "atanh": [(-1, 1)],
    "erf": [(-4, 4)],
    "erfc": [(-4, 10)],
}


def values(path):
    with open(path, "wb") as file:
        for name, ranges in FUNCTIONS.items():
            function, draw = getattr(math, name), random.Random(name).uniform
            results = array.array("d", bytes(8 * COUNT))
            for n in range(COUNT):
                results[n] = function(*[draw(*ends) for ends in ranges])
            results.tofile(file)


def compare(*paths):
    files = [open(path, "rb") for path in paths]
    print("| function | differ of a million | most units in the last place |\n|---|---|---|")
    for name in FUNCTIONS:
        both = [array.array("d") for _ in files]
        for results, file in zip(both, files):
            results.fromfile(file, COUNT)
        apart = [abs(a - b) / math.ulp(b) for a, b in zip(*both) if a != b]
        print(f"| {name} | {len(apart)} | {max(apart, default=0):.0f} |", flush=True)


if __name__ == "__main__":
    {"values": values, "compare": compare}[sys.argv[1]](*sys.argv[2:])
