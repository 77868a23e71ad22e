"""The commands that rewrite an expression, such as `simplify`, `expand` and `factor`."""

import sympy as sp
from sympy import Integer, Mul

from . import integers, show
from .errors import CalculatorError, TooLarge
from .evaluate import Answer, evaluate, number, symbol

# The maximum number of terms of an expansion.
_MOST_TERMS = 5000


def unknown_of(expr, context, by=None, what="this"):
    """Returns the letter that a command applies to, and notes a step if it had to choose.

    This is `by` if it is given, the only letter of the expression, or the first of x, y, z, t, n
    and k that occurs in it. Raises an error if there is none.
    """
    if by is not None:
        return symbol(by)
    letters = sorted(expr.free_symbols, key=lambda s: s.name)
    if len(letters) == 1:
        return letters[0]
    if not letters:
        raise CalculatorError(f"{what} needs a letter in the expression")
    for name in "xyztnk":
        if symbol(name) in letters:
            context.step(f"taken with respect to {name}")
            return symbol(name)
    names = ", ".join(s.name for s in letters)
    raise CalculatorError(f"{what} needs to be told by which letter: one of {names}")


def _only(node, context, what):
    if len(node.of) < 1:
        raise CalculatorError(f"{what} needs an expression")
    return number(node.of[0], context, what)


def _any(node, context, what):
    """Returns the argument of a command, which is an expression or a matrix."""
    value = evaluate(node.of[0], context)
    return value if getattr(value, "is_Matrix", False) else number(node.of[0], context, what)


def _simplify(node, context):
    return sp.simplify(_any(node, context, "simplify"))


def _expand(node, context):
    value = _any(node, context, "expand")
    if getattr(value, "is_Matrix", False):
        return value.applyfunc(sp.expand)
    _guard_expansion(value)
    return sp.expand(value, complex=False)


def _guard_expansion(value):
    """Refuses products and powers of sums whose expansion would have too many terms."""
    terms = 1
    for part in Mul.make_args(value):
        base, exponent = part.as_base_exp()
        if base.is_Add and exponent.is_Integer and exponent > 1:
            terms *= int(sp.binomial(min(int(exponent), 10**6) + len(base.args) - 1, len(base.args) - 1))
        elif base.is_Add:
            terms *= len(base.args)
        if terms > _MOST_TERMS:
            raise TooLarge(f"expanded, this would have more than {_MOST_TERMS} terms")


def _factor(node, context):
    value = _only(node, context, "factor")
    if value.is_Integer:
        return Answer(_prime_factors(value))
    if value.is_Rational:
        return Answer(f"{_prime_factors(Integer(value.p))} / ({_prime_factors(Integer(value.q))})")
    if value.is_number:
        raise CalculatorError("factor needs a whole number or an expression with letters")
    _guard_expansion(value)
    return sp.factor(value)


def _prime_factors(value):
    if value in (0, 1, -1):
        return str(value)
    found = integers.factored(abs(value))
    text = " * ".join(f"{p}^{n}" if n > 1 else str(p) for p, n in found)
    return ("-1 * " if value < 0 else "") + text


def _together(node, context):
    return sp.cancel(sp.together(_only(node, context, "together")))


def _apart(node, context):
    value = _only(node, context, "partial fractions")
    by = unknown_of(value, context, node.options.get("by"), "a decomposition")
    return sp.apart(value, by)


def _polynomial(node, context, what):
    value = _only(node, context, what)
    by = unknown_of(value, context, node.options.get("by"), what)
    try:
        return sp.Poly(value, by), by
    except sp.PolynomialError:
        raise CalculatorError(f"{what} needs a polynomial") from None


def _discriminant(node, context):
    poly, _ = _polynomial(node, context, "discriminant")
    return sp.discriminant(poly)


def _degree(node, context):
    poly, _ = _polynomial(node, context, "degree")
    return Integer(poly.degree())


def _complete_square(node, context):
    poly, by = _polynomial(node, context, "completing the square")
    if poly.degree() != 2:
        raise CalculatorError("completing the square needs a polynomial of degree 2")
    a, b, c = poly.all_coeffs()
    shift, rest = sp.simplify(b / (2 * a)), sp.simplify(c - b**2 / (4 * a))
    square = "" if a == 1 else "-" if a == -1 else show.text(a)
    inner = show.text(by + shift)
    text = f"{square}({inner})^2" if shift != 0 else f"{square}{by.name}^2"
    if rest != 0:
        sign = "-" if rest.could_extract_minus_sign() else "+"
        text += f" {sign} {show.text(abs(rest) if rest.is_number else rest * (-1 if sign == '-' else 1))}"
    return Answer(text)


COMMANDS = {
    "simplify": _simplify,
    "expand": _expand,
    "factor": _factor,
    "together": _together,
    "apart": _apart,
    "discriminant": _discriminant,
    "degree": _degree,
    "completesquare": _complete_square,
}
