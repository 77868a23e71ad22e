"""Writes values as text in the calculator's notation, which it can also read.

Examples are `3x^2 + 4x`, `sqrt(2)/2`, `[[1, 2], [3, 4]]` and `3.10686 miles`.
"""

from sympy import (
    LC,
    Abs,
    Expr,
    Float,
    Function,
    Integer,
    Integral,
    Piecewise,
    Pow,
    Rational,
    S,
    arg,
    binomial,
    ceiling,
    conjugate,
    degree,
    erf,
    exp,
    expand,
    factorial,
    floor,
    im,
    log,
    radsimp,
    re,
    sign,
    sympify,
    trigsimp,
)  # fmt: skip
from sympy.functions.elementary.hyperbolic import (
    HyperbolicFunction,
    InverseHyperbolicFunction,
)
from sympy.functions.elementary.trigonometric import (
    InverseTrigonometricFunction,
    TrigonometricFunction,
)
from sympy.printing.printer import Printer

from . import units
from .errors import CalculatorError, TooLarge

# The significant digits of a rounded number, and of that of a quantity.
PLACES = 12
UNIT_PLACES = 6
# The maximum number of digits of a finite decimal that is not rounded.
FINITE = 20
# The maximum number of characters of an exact form that is shown, and of a whole answer.
_WORTH = 70
MOST_TEXT = 12_000
_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_NAMES = {"log": "ln", "Abs": "abs", "ceiling": "ceil", "GoldenRatio": "phi", "LambertW": "W"}


class _Notation(Printer):
    """Prints SymPy's objects. Each method returns the text, and how tightly its operator binds."""

    printmethod = "_calculator"

    def __init__(self, is_decimal):
        super().__init__()
        self.is_decimal = is_decimal

    def text(self, expr, least=_SUM):
        text, binds = self._print(expr)
        return text if binds >= least else f"({text})"

    def emptyPrinter(self, expr):
        raise CalculatorError("the result has no form in this notation")

    def _print_Integer(self, expr):
        return integer_text(int(expr)), _ATOM if expr >= 0 else _SUM

    def _print_Rational(self, expr):
        if self.is_decimal and is_finite(expr):
            return decimal_text(expr), _ATOM if expr >= 0 else _SUM
        return f"{integer_text(expr.p)}/{integer_text(expr.q)}", _PRODUCT if expr >= 0 else _SUM

    _print_Half = _print_Rational

    def _print_Float(self, expr):
        return approximate(expr), _ATOM if expr >= 0 else _SUM

    def _print_Symbol(self, expr):
        return expr.name, _ATOM

    _print_Dummy = _print_Symbol

    def _print_ImaginaryUnit(self, expr):
        return "i", _ATOM

    def _print_Exp1(self, expr):
        return "e", _ATOM

    def _print_Pi(self, expr):
        return "pi", _ATOM

    def _print_Infinity(self, expr):
        return "infinity", _ATOM

    def _print_NegativeInfinity(self, expr):
        return "-infinity", _SUM

    def _print_GoldenRatio(self, expr):
        return "phi", _ATOM

    def _print_EulerGamma(self, expr):
        return "gamma_0", _ATOM

    _print_Catalan = _print_EulerGamma

    def _print_BooleanTrue(self, expr):
        return "true", _ATOM

    def _print_BooleanFalse(self, expr):
        return "false", _ATOM

    def _print_Add(self, expr):
        out = ""
        for term in ordered_terms(expr):
            sign = " + "
            if term.could_extract_minus_sign() and not term.is_Add:
                sign, term = " - ", -term
            text = self.text(term, _PRODUCT)
            out += (sign if out else "-" if sign == " - " else "") + text
        return out, _SUM

    def _print_Mul(self, expr):
        if expr.could_extract_minus_sign() and not (-expr).is_Add:
            return "-" + self.text(-expr, _PRODUCT), _SUM
        over, under = self._sides(expr)
        above = self._product(over)
        if not under:
            return above, _PRODUCT
        below = self.text(under[0], _POWER) if len(under) == 1 else f"({self._product(under)})"
        return f"{above}/{below}", _PRODUCT

    def _sides(self, expr):
        """Returns the factors of the numerator and of the denominator, without simplifying."""
        over, under = [], []
        for factor in expr.as_ordered_factors():
            base, exponent = factor.as_base_exp()
            if factor.is_Rational and not (self.is_decimal and is_finite(factor)):
                over += [Integer(factor.p)] if factor.p != 1 else []
                under += [Integer(factor.q)] if factor.q != 1 else []
            elif exponent.is_Rational and exponent < 0:
                under.append(base**-exponent)
            else:
                over.append(factor)
        return _by_roots(over) or [S.One], _by_roots(under)

    def _product(self, factors):
        if len(factors) == 1:
            return self.text(factors[0], _PRODUCT)
        out = ""
        for factor in factors:
            text = self.text(factor, _POWER)
            out += ("*" if out and not _stick(out, text) else "") + text
        return out

    def _print_Pow(self, expr):
        base, exponent = expr.as_base_exp()
        if exponent.is_Rational and exponent < 0:
            return f"1/{self.text(base**-exponent, _POWER)}", _PRODUCT
        if exponent == S.Half:
            return f"sqrt({self.text(base)})", _ATOM
        if exponent.is_Rational and exponent.q == 2 and base.is_Rational:
            return f"sqrt({self.text(base)})^{exponent.p}", _POWER
        text = self.text(exponent, _ATOM)
        return f"{self.text(base, _ATOM)}^{text}", _POWER

    def _print_ExpBase(self, expr):
        if expr.exp.is_negative and expr.exp.is_Integer and expr.exp == -1:
            return "1/e", _PRODUCT
        return f"e^{self.text(expr.exp, _ATOM)}", _POWER

    _print_exp = _print_ExpBase

    def _print_log(self, expr):
        arg = expr.args[0]
        inner = f"|{self.text(arg.args[0])}|" if isinstance(arg, Abs) else f"({self.text(arg)})"
        return f"ln{inner}", _ATOM

    def _print_Function(self, expr):
        name = type(expr).__name__
        name = _NAMES.get(name, name)
        return f"{name}({', '.join(self.text(arg) for arg in expr.args)})", _ATOM

    def _print_factorial(self, expr):
        return f"{self.text(expr.args[0], _ATOM)}!", _ATOM

    def _print_Mod(self, expr):
        return f"{self.text(expr.args[0], _PRODUCT)} mod {self.text(expr.args[1], _POWER)}", _SUM

    def _print_Order(self, expr):
        return f"O({self.text(expr.expr)})", _ATOM

    def _print_Relational(self, expr):
        op = {"==": "=", "!=": "!="}.get(expr.rel_op, expr.rel_op)
        return f"{self.text(expr.lhs)} {op} {self.text(expr.rhs)}", _SUM

    def _print_And(self, expr):
        return " and ".join(self.text(arg) for arg in expr.args), _SUM

    def _print_Or(self, expr):
        return " or ".join(self.text(arg) for arg in expr.args), _SUM

    def _print_MatrixBase(self, expr):
        if expr.cols == 1:
            return "[" + ", ".join(self.text(v) for v in expr) + "]", _ATOM
        rows = (", ".join(self.text(v) for v in expr.row(n)) for n in range(expr.rows))
        return "[" + ", ".join(f"[{row}]" for row in rows) + "]", _ATOM


def _by_roots(factors):
    """Sorts linear factors as people order them: (x - 1)(x + 1), (x - 2)(x - 3)."""
    places = [n for n, f in enumerate(factors) if f.as_base_exp()[0].is_Add]
    bases = [factors[n].as_base_exp()[0] for n in places]
    if any(len(b.free_symbols) != 1 or not b.is_polynomial() for b in bases):
        return factors
    ordered = sorted((factors[n] for n in places), key=_root_key)
    for place, factor in zip(places, ordered):
        factors[place] = factor
    return factors


def _root_key(factor):
    base = factor.as_base_exp()[0]
    constant, _ = base.as_coeff_Add()
    return (degree(base), len(base.args), abs(LC(base)), abs(constant), constant)


def ordered_terms(expr):
    """Returns the terms of a sum, the highest power first. Terms of a number have another order."""
    if expr.is_number:
        # The real part comes first. Within each part, positive terms precede negative ones.
        terms = list(expr.as_ordered_terms())
        return sorted(terms, key=lambda t: (bool(t.has(S.ImaginaryUnit)), t.could_extract_minus_sign()))
    terms = expr.as_ordered_terms()
    is_one_letter = expr.is_polynomial() and len(expr.free_symbols) < 2
    if not is_one_letter and terms[0].could_extract_minus_sign():
        first = next((t for t in terms if not t.could_extract_minus_sign()), terms[0])
        terms = [first, *(t for t in terms if t is not first)]
    return terms


def _stick(left, right):
    """Returns whether two factors need no `*` between them."""
    if left[-1].isdigit() and left.replace(".", "").isdigit():
        return not right[0].isdigit()
    return left[-1] == ")" and right[0] == "(" and left[0] == "(" and "^(" not in left


def is_elementary(expr):
    """Returns whether an expression has only functions of the notation that people know."""
    known = (TrigonometricFunction, InverseTrigonometricFunction, HyperbolicFunction, InverseHyperbolicFunction)
    return not any(
        not isinstance(
            f, (*known, log, exp, Abs, sign, floor, ceiling, re, im, conjugate, arg, factorial, binomial, erf)
        )
        for f in expr.atoms(Function)
    ) and not expr.has(Integral, Piecewise)


def text(value, is_decimal=False):
    """Returns the exact form of a value."""
    if isinstance(value, (list, tuple)):
        return ", ".join(text(v, is_decimal) for v in value)
    return _Notation(is_decimal).text(sympify(value))


def integer_text(value):
    digits = str(value)
    if len(digits) > 10_000:
        mantissa = digits.lstrip("-")
        sign = "-" if value < 0 else ""
        return f"{sign}{mantissa[0]}.{mantissa[1:12]}...e{len(mantissa) - 1} ({len(mantissa)} digits)"
    return digits


def is_finite(number):
    """Returns whether a fraction is whole, or a decimal of at most `FINITE` digits."""
    return number.q == 1 or (is_decimal_fraction(number) and _finite_digits(number) <= FINITE)


def is_decimal_fraction(number):
    """Returns whether a fraction is a finite decimal of any number of digits."""
    rest = number.q
    for prime in 2, 5:
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def _finite_digits(number):
    places = 0
    while (number.p * 10**places) % number.q and places <= 400:
        places += 1
    return len(str(abs(number.p) * 10**places // number.q))


def decimal_text(number):
    """Returns a fraction that is a finite decimal with all of its digits."""
    places = 0
    while (number.p * 10**places) % number.q:
        places += 1
    digits = str(abs(number.p) * 10**places // number.q).rjust(places + 1, "0")
    sign = "-" if number.p < 0 else ""
    if abs(number) < Rational(1, 10**6) and number != 0:
        return approximate(number, max(len(digits.lstrip("0")), 1))
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def approximate(value, places=PLACES):
    """Returns a real number rounded to `places` significant digits."""
    number = Rational(Float(value, places + 15)) if not isinstance(value, Rational) else value
    if number == 0:
        return "0"
    sign, number = ("-" if number < 0 else ""), abs(number)
    exponent = _exponent(number)
    scaled = number * Integer(10) ** (places - 1 - exponent)
    digits = int((2 * scaled.p + scaled.q) // (2 * scaled.q))
    if digits >= 10**places:
        digits, exponent = digits // 10, exponent + 1
    text = str(digits)
    if -7 < exponent < max(places, 16):
        if exponent >= places - 1:
            return sign + text + "0" * (exponent - places + 1)
        if exponent < 0:
            return sign + ("0." + "0" * (-exponent - 1) + text).rstrip("0")
        return sign + (text[: exponent + 1] + "." + text[exponent + 1 :]).rstrip("0").rstrip(".")
    mantissa = (text[0] + "." + text[1:]).rstrip("0").rstrip(".")
    return f"{sign}{mantissa}e{exponent}"


def _exponent(number):
    """Returns the power of ten of a positive fraction's first digit."""
    exponent = len(str(number.p)) - len(str(number.q))
    return exponent if number >= Integer(10) ** exponent else exponent - 1


def numeric(value, places=PLACES):
    """Returns the decimal form of a real or complex number, or None if it has none."""
    try:
        number = value.evalf(places + 5, maxn=2000)
    except (ValueError, ArithmeticError):
        return None
    re, im = number.as_real_imag()
    if not (re.is_Float or re.is_Rational) or not (im.is_Float or im.is_Rational):
        return None
    tiny = Float(10) ** -(places + 2)
    if abs(im) <= tiny * max(1, abs(re)):
        return approximate(re, places)
    part = approximate(abs(im), places)
    part = "i" if part == "1" else part + "i"
    if abs(re) <= tiny * abs(im):
        return ("-" if im < 0 else "") + part
    return f"{approximate(re, places)} {'-' if im < 0 else '+'} {part}"


def result(value, context):
    """Returns the text of an answer: the exact form of a value, a decimal, or both."""
    if isinstance(value, units.Quantity):
        return quantity(value, context)
    if isinstance(value, (list, tuple)):
        return bounded(", ".join(result(v, context) for v in value))
    value = _simple(sympify(value))
    if context.digits and value.is_number:
        return bounded(numeric(value, context.digits) or text(value))
    exact = text(value, context.is_decimal)
    is_plain_integer = value.is_Integer and not (context.is_decimal and len(exact) > 21)
    if not value.is_number or is_plain_integer or value.is_infinite or getattr(value, "is_Matrix", False):
        return bounded(exact)
    if value.is_Integer and context.is_decimal and len(exact) > 21 and len(exact.rstrip("0")) <= 15:
        return approximate(value, 15)
    if value.is_Float:
        return f"≈ {exact}"
    if value.is_Integer:
        return exact
    if value.is_Rational:
        if is_finite(value) and (context.is_decimal or len(exact) < 40):
            return exact
        if context.is_decimal and (is_decimal_fraction(value) or len(exact) > 20):
            return f"≈ {numeric(value)}"
    elif _is_gaussian(value):
        return exact
    decimal = numeric(value)
    if decimal is None:
        return bounded(exact)
    if not is_elementary(value):
        return f"≈ {decimal}"
    return f"{exact} ≈ {decimal}" if len(exact) <= _WORTH else f"≈ {decimal}"


def _simple(value):
    """Returns the shortest form of a number with powers or `i`; other values unchanged."""
    if not getattr(value, "is_number", False) or not isinstance(value, Expr) or value.is_Atom:
        return value
    if not value.has(S.ImaginaryUnit, Pow) or value.count_ops() > 100:
        return value
    forms = [value, expand(value), radsimp(value)]
    if value.has(TrigonometricFunction):
        forms.append(trigsimp(value))
    if value.has(S.ImaginaryUnit):
        forms.append(expand(value, complex=True) if value.is_algebraic else value)
    return min(forms, key=lambda v: (v.has(S.ImaginaryUnit) and not (v.is_Add or v.is_Atom or v.is_Mul), v.count_ops()))


def _is_gaussian(value):
    """Returns whether both parts of a complex number are fractions, so no decimal is needed."""
    re, im = value.as_real_imag()
    return re.is_Rational and im.is_Rational


def quantity(value, context):
    number = units.in_shown(value)
    name = units.unit_text(value.shown)
    return f"{quantity_number(number, context)} {name}"


def quantity_number(number, context):
    if context.digits:
        return numeric(number, context.digits) or text(number)
    if not number.is_number:
        return text(number, True)
    if number.is_Rational and (number.q == 1 or (is_finite(number) and _finite_digits(number) <= 15)):
        return decimal_text(number)
    if number.has(S.Pi) and len(text(number)) < 12:
        return f"{text(number)} ≈ {unit_decimal(number)}"
    return unit_decimal(number)


def unit_decimal(number):
    """Returns a number of a quantity with six digits, or more if its whole part has more."""
    size = abs(number.evalf(15))
    whole = len(str(int(size))) if size.is_number and size < 10**15 else 0
    return numeric(number, max(UNIT_PLACES, whole + 1)) or text(number)


def bounded(out):
    if len(out) > MOST_TEXT:
        raise TooLarge(f"the result has {len(out)} characters; {MOST_TEXT} are the most")
    return out
