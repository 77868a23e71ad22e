"""Statistics of lists. They are exact: the results for fractions are fractions or their roots."""

from sympy import Integer, Rational, S, sqrt

from . import units
from .errors import CalculatorError
from .guards import real
from .integers import flat


def _numbers(args, what, least=1):
    values = [real(v, what) for v in flat(args)]
    if len(values) < least:
        raise CalculatorError(f"{what} needs {least} numbers or more")
    return values


def mean(values):
    return sum(values, S.Zero) / len(values)


def _median(values):
    values, half = sorted(values), len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def _squares(values):
    middle = mean(values)
    return sum(((v - middle) ** 2 for v in values), S.Zero)


def _mode(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    most = max(counts.values())
    found = sorted(v for v, n in counts.items() if n == most)
    return found[0] if len(found) == 1 else found


def quantile(values, part):
    """Returns a quantile, interpolated linearly (type 7 of Hyndman and Fan); `part` is 0 to 1."""
    values = sorted(values)
    place = part * (len(values) - 1)
    low = int(place)
    if low + 1 >= len(values):
        return values[-1]
    return values[low] + (place - low) * (values[low + 1] - values[low])


def _percentile(values, percent):
    percent = real(percent, "percentile")
    if not 0 <= percent <= 100:
        raise CalculatorError("a percentile is between 0 and 100")
    return quantile(values, percent / 100)


def _geometric(values):
    product = S.One
    for value in values:
        if value <= 0:
            raise CalculatorError("a geometric mean needs positive numbers")
        product *= value
    return product ** Rational(1, len(values))


def _harmonic(values):
    if any(v <= 0 for v in values):
        raise CalculatorError("a harmonic mean needs positive numbers")
    return len(values) / sum((1 / v for v in values), S.Zero)


def _product(values):
    product = S.One
    for value in values:
        product *= value
    return product


def _of(what, act, least=1, power=1):
    """Makes `act` a function of a list whose items may have a unit.

    The result has the unit to the power `power`; 0 means that items with units are refused.
    """

    def call(*args):
        items = list(flat(args))
        quantities = [v for v in items if isinstance(v, units.Quantity)]
        if not quantities:
            return act(_numbers(items, what, least))
        first = quantities[0]
        if len(quantities) != len(items) or any(q.dims != first.dims for q in quantities) or power == 0:
            raise CalculatorError(f"{what} needs numbers that all have the same kind of unit")
        value = act(_numbers([q.value for q in items], what, least))
        if isinstance(value, list):
            raise CalculatorError(f"there are {len(value)} of them")
        dims = tuple(power * d for d in first.dims)
        shown = tuple((name, power * of) for name, of in first.shown)
        return units.Quantity(value, dims, shown, first.is_point and power == 1)

    return call


def _percentile_of(*args):
    if len(args) != 2 or not isinstance(args[0], (list, tuple)) and not getattr(args[0], "is_Matrix", False):
        if len(args) == 2 and isinstance(args[1], (list, tuple)):
            args = args[::-1]
        else:
            raise CalculatorError("percentile needs a list and a number: percentile 90 of 1, 2, 3")
    return _percentile(_numbers(args[:1], "percentile"), args[1])


def _pairs(what, act):
    def call(*args):
        lists = [
            _numbers([arg], what, 2) for arg in args if isinstance(arg, (list, tuple)) or hasattr(arg, "is_Matrix")
        ]
        if len(args) != 2 or len(lists) != 2 or len(lists[0]) != len(lists[1]):
            raise CalculatorError(f"{what} needs two lists of the same length: {what}([1, 2, 3], [2, 4, 7])")
        return act(*lists)

    return call


def _covariance(xs, ys):
    x, y = mean(xs), mean(ys)
    return sum(((a - x) * (b - y) for a, b in zip(xs, ys)), S.Zero) / (len(xs) - 1)


def _correlation(xs, ys):
    spread = _squares(xs) * _squares(ys)
    if spread == 0:
        raise CalculatorError("a list of equal numbers has no correlation")
    return _covariance(xs, ys) * (len(xs) - 1) / sqrt(spread)


_SPREAD = {
    "variance": _of("variance", lambda v: _squares(v) / (len(v) - 1), 2, 2),
    "pvariance": _of("pvariance", lambda v: _squares(v) / len(v), 1, 2),
    "std": _of("std", lambda v: sqrt(_squares(v) / (len(v) - 1)), 2),
    "pstd": _of("pstd", lambda v: sqrt(_squares(v) / len(v))),
}
TABLE = {
    "mean": _of("mean", mean),
    "average": _of("mean", mean),
    "avg": _of("mean", mean),
    "median": _of("median", _median),
    "mode": _of("mode", _mode),
    "var": _SPREAD["variance"],
    **_SPREAD,
    "stdev": _SPREAD["std"],
    "stddev": _SPREAD["std"],
    "sd": _SPREAD["std"],
    "pstdev": _SPREAD["pstd"],
    "pvar": _SPREAD["pvariance"],
    "range": _of("range", lambda v: max(v) - min(v)),
    "iqr": _of("iqr", lambda v: quantile(v, Rational(3, 4)) - quantile(v, Rational(1, 4))),
    "quartiles": _of("quartiles", lambda v: [quantile(v, Rational(k, 4)) for k in (1, 2, 3)]),
    "q1": _of("quartile", lambda v: quantile(v, Rational(1, 4))),
    "q3": _of("quartile", lambda v: quantile(v, Rational(3, 4))),
    "percentile": _percentile_of,
    "max": _of("max", max),
    "maximum": _of("max", max),
    "min": _of("min", min),
    "minimum": _of("min", min),
    "count": _of("count", lambda v: Integer(len(v)), 1, 0),
    "sort": _of("sort", sorted),
    "total": _of("sum", lambda v: sum(v, S.Zero)),
    "sum": _of("sum", lambda v: sum(v, S.Zero)),
    "product": _of("product", _product, 1, 0),
    "geomean": _of("geomean", _geometric),
    "harmean": _of("harmean", _harmonic),
    "rms": _of("rms", lambda v: sqrt(sum((x**2 for x in v), S.Zero) / len(v))),
    "covariance": _pairs("covariance", _covariance),
    "correlation": _pairs("correlation", _correlation),
}
