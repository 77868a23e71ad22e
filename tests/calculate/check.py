"""Checks the known answers of `table.toml` independently of the calculator.

It uses mpmath, fractions and Python's statistics. Each case has its expression, the answer, and a
check:

| check | the answer |
|---|---|
| `= E` | is the number (list, matrix) that the Python expression E gives |
| `digits E` | is E rounded to as many digits as the answer has, computed with 40 more |
| `unit E` | is the number E, to the shown digits, before a unit |
| `same E` | equals E for several values of its letters |
| `d E`, `dd E` | equals the first or second derivative of E in x, by difference quotients |
| `int E` | has E as its derivative, and a constant `C` |
| `roots N E` | has N solutions, and each makes E zero |
| `system E, F` | makes E and F zero |
| `sums E` | is the sum of E for k = 1 to n, for several n |
| `series E` | differs from E near 0 by less than its order allows |
| `is E` | is right if E is true; if the answer is `false` or `no solution`, if E is false |

A test runs it in the image's own Python: `python3 check.py table.toml`.
"""

import re
import statistics
import sys
import tomllib
from decimal import Decimal
from fractions import Fraction
from math import comb, gcd, lcm, perm

import mpmath
from mpmath import mp, mpf

mp.dps = 30


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


# Functions are compared at these places, which are positive for logarithms and roots.
PLACES = [mpf("0.3137"), mpf("1.2291"), mpf("2.7183")]
SAMPLES = [mpf(n) / 4 for n in range(-40, 41)]
KNOWN = {**vars(mpmath), "mpf": mpf, "abs": abs, "max": max, "e": mp.e, "pi": mp.pi, "Fraction": Fraction, "Decimal": Decimal, "gcd": gcd,
         "lcm": lcm, "comb": comb, "perm": perm, "statistics": statistics, "is_prime": is_prime, "SAMPLES": SAMPLES,
         "near": lambda a, b: abs(a - b) < 1e-20}  # fmt: skip


def near(a, b, tolerance=1e-10):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(near(x, y, tolerance) for x, y in zip(a, b))
    a, b = to(a), to(b)
    return abs(a - b) <= tolerance * max(1, abs(a), abs(b)) if abs(b) > 1e-5 else abs(a - b) <= tolerance * abs(b)


def to(value):
    """Returns a number of any kind as a number of mpmath."""
    if isinstance(value, Fraction):
        return mpf(value.numerator) / value.denominator
    return mp.mpmathify(value)


def python(text):
    """Translates the calculator's notation to Python by its published rules (docs/calculate.md)."""
    text = text.replace("^", "**").replace("infinity", "inf")
    text = re.sub(r"ln\|([^|]*)\|", r"log(abs(\1))", text)
    text = re.sub(r"\bln\b", "log", text).replace(" mod ", "%")
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)!", r"factorial(\1)", text)
    text = re.sub(r"(?<![\w.])i\b", "1j", text)
    text = re.sub(r"(?<=\d)i\b", "*1j", text)
    text = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)(?=[a-df-zA-Z(]|e(?![\d-]))(?!j\b)", r"\1*", text)
    text = re.sub(r"\)(?=[\w(])", ")*", text)
    # No number of the answer may be rounded on the way.
    return re.sub(r"(?<![\w.])(\d+(?:\.\d+)?(?:e-?\d+)?)(?![\w.]*\()(?!j)", r"mpf('\1')", text)


def value(text, **letters):
    return eval(python(text), {**KNOWN, **letters})  # noqa: S307: the table is ours


def exact(result):
    """Returns the exact form and the decimal of a result, of which one may be empty."""
    before, _, after = result.partition("≈")
    return before.strip(), after.strip()


def numbers(result):
    before, after = exact(result)
    if before.startswith(("0x", "0b", "-0x")):
        return int(before, 0)
    if before.endswith("%"):
        return value(before[:-1])
    if before and " * " in before:
        before = before.replace(" * ", "*")
    found = value(before or after)
    if before and after:
        assert near(value(after), found, 1e-11), f"{after} is not {before}"
    return list(found) if isinstance(found, tuple) else found


def places(letters):
    for n, place in enumerate(PLACES):
        yield {name: place + mpf(n + k) / 7 for k, name in enumerate(letters)}


def of(code, **letters):
    return eval(code, {**KNOWN, **letters})  # noqa: S307


def agrees(result, code, expected):
    letters = sorted(
        set(re.findall(r"(?<![A-Za-z])[a-dk-npt-z](?![A-Za-z])", code + " " + python(result).replace("mpf", "")))
    )
    return all(near(value(result, **at), expected(at), 1e-9) for at in places(letters))


def solutions(result):
    """Yields the values in `x = 2 or x ≈ 3.5`."""
    for part in result.split(" or "):
        _, sign, rest = re.match(r"(\w+) ([=≈]) (.*)", part).groups()
        yield numbers(rest) if sign == "=" else value(rest)


def checked(result, check):
    kind, _, code = check.partition(" ")
    if kind == "=":
        return near(numbers(result), of(code))
    if kind == "digits":
        digits = len(re.sub(r"^0\.0*|[.]", "", result))
        with mp.workdps(digits + 40):
            return mpmath.nstr(of(code), digits, strip_zeros=False) == result
    if kind == "unit":
        number = (exact(result)[1] or result).split()[0]
        told = len(re.sub(r"^-?0\.0*|[.-]|e.*", "", number))
        return near(mpf(number), of(code), mpf(10) ** (1 - told) / 2 if told < 12 and "." in number else mpf(10) ** -12)
    if kind == "same":
        result = result.split(" = ")[-1]
        return agrees(result, code, lambda at: of(code, **at))
    if kind in ("d", "dd"):
        return all(near(value(result, x=x), mp.diff(lambda t: of(code, x=t), x, len(kind)), 1e-9) for x in PLACES)
    if kind == "int":
        assert result.endswith(" + C")
        return all(near(mp.diff(lambda t: value(result[:-4], x=t), x), of(code, x=x), 1e-9) for x in PLACES)
    if kind == "roots":
        count, code = code.split(" ", 1)
        found = list(solutions(result))
        return len(found) == int(count) and all(abs(of(code, x=mp.mpmathify(r))) < 1e-9 for r in found)
    if kind == "system":
        every = (dict(part.split(" = ") for part in one.split(", ")) for one in result.split(" or "))
        return all(v == 0 for one in every for v in of(f"({code},)", **{k: value(v) for k, v in one.items()}))
    if kind == "sums":
        return all(near(value(result, n=mpf(n)), sum(of(code, k=k) for k in range(1, n + 1))) for n in (1, 2, 5, 9))
    if kind == "series":
        body, _, rest = result.partition(" + O(x^")
        power, at = int(rest.rstrip(")")), mpf("0.001")
        return abs(value(body, x=at) - of(code, x=at)) < 3 * at**power
    assert kind == "is", check
    return of(code) is True or of(code) == (result not in ("false", "no solution"))


def main(path):
    with open(path, "rb") as file:
        table = tomllib.load(file)
    wrong, count = [], 0
    for part in table["class"]:
        for expression, result, check in part["cases"]:
            count += 1
            try:
                is_right = checked(result, check)
            except Exception as e:
                is_right = f"{type(e).__name__}: {e}"
            if is_right is not True:
                wrong.append(f"{part['name']}: {expression} = {result}: {check}: {is_right}")
    print(*wrong, sep="\n")
    print(f"{count} answers, {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
