"""The commands for the text after an expression, and for percentages.

That text names units to convert to, a form to write the result in, or values of letters.
"""

import sympy as sp
from sympy import Integer, Rational

from . import guards, samples, show, units
from .errors import CalculatorError, Mismatch
from .evaluate import Answer, evaluate, number
from .integers import flat
from .tree import Binary, Command, Unit
from .units import Quantity

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_BASES = {"hex": 16, "binary": 2, "octal": 8}
_PREFIXES = {16: "0x", 2: "0b", 8: "0o"}
_ROMAN = ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
          (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))  # fmt: skip


def _convert(node, context):
    value = evaluate(node.of[0], context)
    names = _units_in(node.of[1])
    target = node.of[1]
    if isinstance(target, Unit) and units.is_scale(target.name):
        return _to_scale(value, target.name)
    goal = evaluate(target, context)
    if isinstance(value, (list, Answer)) or isinstance(goal, (list, Answer)) or not names:
        raise CalculatorError("only numbers with units are converted, to a unit")
    if units.dims_of(value) != units.dims_of(goal):
        raise CalculatorError(_no_way(value, names, goal))
    ratio = sp.simplify(units.number_of(value) / units.number_of(goal))
    text = show.quantity_number(ratio, context)
    if isinstance(value, Quantity) and len(value.shown) == 1 and not value.is_point:
        _tell_factor(value, goal, node.options["words"], context)
    name = node.options["words"]
    if text == "1" and units.find(name) is not None:
        name = units.singular(name)
    if " ≈ " in text:
        exact, decimal = text.split(" ≈ ")
        return Answer(f"{exact} {name} ≈ {decimal} {name}")
    return Answer(f"{text} {name}")


def _units_in(node):
    if isinstance(node, Unit):
        return [node.name]
    if isinstance(node, Binary):
        return _units_in(node.left) + _units_in(node.right)
    return []


def _no_way(value, names, goal):
    has = units.unit_text(value.shown) if isinstance(value, Quantity) else "a number without a unit"
    to = " ".join(names)
    return f"{has} cannot be converted to {to}: they measure different things"


def _to_scale(value, name):
    if not isinstance(value, Quantity) or value.dims != units.find(name).dims:
        raise CalculatorError(f"only a temperature can be converted to degrees of {name}")
    return Quantity(value.value, value.dims, ((name, Integer(1)),), True)


def _tell_factor(value, goal, words, context):
    """Notes as a step how much one of the original unit is in the new one."""
    one = Quantity(sp.S.One, value.dims, value.shown)
    factor = value.value / units.in_shown(value) / units.number_of(goal) if value.value != 0 else None
    if factor is not None and factor != 1 and factor.is_number:
        context.step(
            f"1 {units.singular(units.unit_text(one.shown))} = {show.quantity_number(factor, context)} {words}"
        )


def _form(node, context):
    form, of = node.options["form"], node.of[0]
    if form in ("digits", "places"):
        return _precise(node, context)
    value = number(of, context, "what is written in another form")
    if form in _BASES or form == "base":
        base = _BASES.get(form) or guards.integer(number(node.options["base"], context), "a base", 2, 36)
        return Answer(_in_base(value, base))
    if form == "factors":
        from .commands import COMMANDS

        return COMMANDS["factor"](Command("factor", (of,)), context)
    if not value.is_number:
        raise CalculatorError("only a number is written in another form")
    return _WRITTEN[form](value, context)


def _precise(node, context):
    value = number(node.of[0], context, "what is rounded")
    count = int(node.options["count"])
    if not value.is_number or value.is_infinite:
        raise CalculatorError("only a number is written to so many digits")
    if node.options["form"] == "places":
        if not 0 <= count <= 1000 or not value.is_real:
            raise CalculatorError("a real number is rounded to 0 to 1000 places")
        return Answer(_fixed(value, count))
    if not 1 <= count <= 1000:
        raise CalculatorError("a number is written to 1 to 1000 digits")
    return Answer(show.numeric(value, count) or show.text(value))


def _fixed(value, places):
    """Returns a number rounded to decimal places as text. Halves are rounded away from zero."""
    size = len(str(int(abs(value.evalf(15)))))
    exact = value if value.is_Rational else Rational(value.evalf(size + places + 20))
    scaled = int(sp.floor(abs(exact) * Integer(10) ** places + Rational(1, 2)))
    digits = str(scaled).rjust(places + 1, "0")
    sign = "-" if exact < 0 and scaled else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def _in_base(value, base):
    whole = guards.integer(value, "writing in another base")
    size, out = abs(whole), ""
    if guards.digits_of(Integer(whole)) > 3000:
        raise CalculatorError("numbers of up to 3000 digits are written in another base")
    while size:
        size, digit = divmod(size, base)
        out = _DIGITS[digit] + out
    prefix = _PREFIXES.get(base, "")
    text = ("-" if whole < 0 else "") + prefix + (out or "0")
    return text if prefix or base == 10 else f"{text} (base {base})"


def _decimal(value, context):
    if value.is_Rational and show.is_finite(value):
        return Answer(show.decimal_text(value))
    return Answer(show.numeric(value) or show.text(value))


def _fraction(value, context):
    if not value.is_Rational:
        raise CalculatorError("this number is no fraction")
    return Answer(show.text(value))


def _percent(value, context):
    if value.is_Rational and show.is_finite(100 * value):
        return Answer(show.decimal_text(100 * value) + "%")
    return Answer(f"{show.numeric(100 * value)}%")


def _scientific(value, context):
    if not value.is_real:
        raise CalculatorError("scientific notation is for real numbers")
    number_ = value if value.is_Rational else Rational(value.evalf(30))
    if number_ == 0:
        return Answer("0")
    exponent = show._exponent(abs(number_))
    mantissa = show.approximate(number_ / Integer(10) ** exponent)
    if mantissa.lstrip("-") == "10":
        mantissa, exponent = mantissa.replace("10", "1"), exponent + 1
    return Answer(f"{mantissa} × 10^{exponent}")


def _mixed(value, context):
    if not value.is_Rational:
        raise CalculatorError("this number is no fraction")
    whole, rest = divmod(abs(value.p), value.q)
    sign = "-" if value < 0 else ""
    if rest == 0:
        return Answer(f"{sign}{whole}")
    return Answer(f"{sign}{whole} {rest}/{value.q}" if whole else show.text(value))


def _roman(value, context):
    rest, out = guards.integer(value, "a Roman numeral", 1, 3999), ""
    for size, letters in _ROMAN:
        out += letters * (rest // size)
        rest %= size
    return Answer(out)


def _polar(value, context):
    size, angle = sp.Abs(value), sp.arg(value)
    return Answer(f"{show.text(sp.simplify(size))}*e^({show.text(sp.simplify(angle))}*i)")


_WRITTEN = {"decimal": _decimal, "fraction": _fraction, "percent": _percent, "scientific": _scientific,
            "mixed": _mixed, "roman": _roman, "polar": _polar}  # fmt: skip


def _when(node, context):
    """Evaluates an expression with values for letters.

    The tree is evaluated with the values, because substituting them into the result would skip the
    checks of sizes.
    """
    letters = {}
    for name, tree in node.options["where"]:
        letters[name] = evaluate(tree, context)
    inner = context.within(letters)
    of = node.of[0]
    if isinstance(of, Command) and of.name in ("derivative", "integral", "limit", "sum", "product", "series"):
        # The letters are unknowns in these commands, so the values are substituted afterwards.
        value = number(of, context)
        value = value.subs({sp.Symbol(n): v for n, v in letters.items() if not isinstance(v, (Quantity, list))})
    else:
        value = evaluate(of, inner)
    context.is_decimal = context.is_decimal or inner.is_decimal
    return value


def _percent_of(node, context):
    part, whole = (evaluate(of, context) for of in node.of)
    return _percent(_ratio(part, whole), context)


def _ratio(part, whole):
    from .evaluate import divide

    value = divide(part, whole)
    if isinstance(value, (Quantity, list)) or not value.is_number:
        raise Mismatch("a percentage is of two numbers of the same kind")
    return value


def _percent_change(node, context):
    before, after = (evaluate(of, context) for of in node.of)
    change = _ratio(after, before) - 1
    context.step(f"change / first value = {show.text(change, True)}")
    return _percent(change, context)


def tell_spread(name, args, context):
    """Notes as a step which definition of a spread (deviation, variance, quantile) is used."""
    if name in ("std", "stdev", "stddev", "sd", "variance", "var"):
        other = "pstd" if name.startswith("s") else "pvariance"
        whole = show.result(samples.TABLE[other](*args), context) if not _has_units(args) else "smaller"
        context.step(f"of a sample (divided by n - 1); of a whole population ({other}) it is {whole}")
    elif name in ("percentile", "quartiles", "iqr"):
        context.step("between two values by a straight line")


def _has_units(args):
    return any(isinstance(value, Quantity) for value in flat(args))


COMMANDS = {
    "convert": _convert,
    "form": _form,
    "when": _when,
    "percentof": _percent_of,
    "percentchange": _percent_change,
}
