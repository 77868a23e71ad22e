"""The commands for derivatives, integrals, limits, sums, products and series.

If SymPy finds no closed form, the result is computed numerically and marked as such, or refused. It
is never guessed.
"""

import mpmath
import sympy as sp
from sympy import Integer, S, oo

from . import show
from .algebra import unknown_of
from .errors import CalculatorError
from .evaluate import Answer, evaluate, number, symbol
from .tree import Command, Name, Relation

_SUMMED = 100_000


def _free(context, *names):
    """Returns a context in which these letters are unknowns."""
    letters = {name: symbol(name) for name in names if name}
    return context.within(letters) if letters else context


def _place(node, context):
    """Returns the letter (or None) and the value of a place such as `x = 2` or `2`."""
    if isinstance(node, Relation) and node.op == "=" and isinstance(node.left, Name):
        return node.left.name, number(node.right, context, "the place")
    return None, number(node, context, "the place")


def _derivative(node, context):
    options, by = node.options, node.options.get("by")
    order = options.get("order", 1)
    args = list(node.of)
    if options.get("called"):
        names = [a.name for a in args[1:] if isinstance(a, Name)]
        by = names[0] if names else None
        rest = [a for a in args[1:] if not isinstance(a, Name)]
        order = int(evaluate(rest[0], context)) if rest else max(1, len(names))
        if len(set(names)) > 1:
            return sp.diff(number(args[0], _free(context, *names)), *map(symbol, names))
    if not 1 <= order <= 50:
        raise CalculatorError("derivatives are of order 1 to 50")
    at_letter, at = _place(options["at"], context) if "at" in options else (None, None)
    f = number(args[0], _free(context, by, at_letter), "a derivative")
    if not f.free_symbols and by is None:
        return S.Zero
    letter = unknown_of(f, context, by or at_letter, "a derivative")
    found = _tidy(sp.diff(f, letter, order), f)
    _derivative_steps(f, letter, order, found, context)
    if at is not None:
        value = found.subs(letter, at)
        context.step(f"at {letter.name} = {show.text(at)}: {show.text(value)}")
        return value
    return found


def _tidy(found, of=None):
    """Returns a result in expanded form if it is a polynomial and `of` was expanded or is None.

    Otherwise returns the shortest of some forms. `of` is the expression that the result is of.
    """
    expanded = sp.expand(found)
    if found.is_polynomial() and (of is None or sp.expand(of) == of):
        return expanded
    if found.is_rational_function():
        return min([found, expanded, sp.factor(sp.together(found))], key=lambda e: e.count_ops())
    # A common factor is taken out only if that saves more than a sign.
    factored = sp.factor_terms(found)
    plain = min([found, expanded], key=lambda e: e.count_ops())
    return factored if factored.count_ops() < plain.count_ops() - 1 else plain


def _derivative_steps(f, letter, order, found, context):
    """Notes as steps the derivatives of the terms with their rules, or those of each order."""
    x, d = letter.name, f"d/d{letter.name}"
    if order > 1:
        done = f
        for n in range(1, min(order, 6) + 1):
            done = _tidy(sp.diff(done, letter), f)
            context.step(f"derivative {n}: {show.text(done)}")
        return
    terms = show.ordered_terms(f) if f.is_Add else [f]
    for term in terms[:10]:
        each = sp.diff(term, letter)
        context.step(f"{d} {_operand(term)} = {show.text(each)}{_rule(term, letter, x)}")


def _operand(term):
    text = show.text(term)
    return f"({text})" if " " in text else text


def _rule(term, letter, x):
    """Returns the name of the rule for a term's derivative, in brackets; '' if there is none."""
    if not term.has(letter):
        return "  (a constant)"
    constant, rest = term.as_independent(letter, as_Add=False)
    base, exponent = rest.as_base_exp()
    if base == letter and not exponent.has(letter):
        return "  (power rule)" if exponent != 1 else ""
    over, under = sp.fraction(rest)
    if under.has(letter) and over.has(letter):
        return "  (quotient rule)"
    if rest.is_Mul:
        return "  (product rule)"
    inner = rest.args[0] if isinstance(rest, sp.Function) and len(rest.args) == 1 else None
    if inner is None and isinstance(rest, sp.exp):
        inner = rest.args[0]
    if inner is None and rest.is_Pow and base.has(letter) and not exponent.has(letter):
        inner = base
    if inner is not None and inner != letter:
        return f"  (chain rule: inner derivative {show.text(sp.diff(inner, letter))})"
    return ""


def _integral(node, context):
    options, by = dict(node.options), node.options.get("by")
    if options.get("called"):
        by, options = _called_range(node.of[1:])
    is_definite = "from" in options
    f = number(node.of[0], _free(context, by), "an integral")
    letter = symbol(by) if by else unknown_of(f, context, None, "an integral") if f.free_symbols else symbol("x")
    if is_definite:
        low, high = number(options["from"], context, "a bound"), number(options["to"], context, "a bound")
        return _definite(f, letter, low, high, context)
    found = sp.integrate(f, letter)
    if found.has(sp.Integral):
        raise CalculatorError(
            "no antiderivative in closed form was found; with bounds (from a to b) it can be reckoned"
        )
    found = _real_logs(_one_case(found, context), f, letter)
    found = _tidy(found) if not found.has(sp.Piecewise) else found
    _check_antiderivative(f, found, letter, context)
    return Answer(f"{show.text(found)} + C")


def _check_antiderivative(f, found, letter, context):
    try:
        rest = sp.diff(found.replace(sp.Abs, lambda a: a), letter) - f
        if rest == 0 or sp.simplify(rest) == 0:
            context.step(f"check: d/d{letter.name} of the result is {show.text(f)}")
    except (CalculatorError, NotImplementedError, ValueError):
        pass


def _real_logs(found, f, letter):
    """Replaces `ln(u)` in an integral of `f` with `ln|u|` where `u` may be negative."""
    if f.has(sp.log) or f.has(S.ImaginaryUnit):
        return found
    real = sp.Symbol(letter.name, real=True)

    def outer(arg):
        is_positive = arg.subs(letter, real).is_positive
        return sp.log(arg) if is_positive or not arg.has(letter) else sp.log(sp.Abs(arg))

    return found.replace(sp.log, outer)


def _one_case(found, context):
    """Returns the first case of a result that depends on conditions, which become steps."""
    while isinstance(found, sp.Piecewise):
        value, condition = found.args[0]
        if condition is not sp.true:
            try:
                context.step(f"for {show.text(condition)}")
            except CalculatorError:
                context.step("for values of the letters for which this is defined")
        found = value
    return found


def _called_range(args):
    """Returns the letter and the bounds in arguments such as `x, 0, 1`, `(x, 0, 1)` or `x = 0..1`.

    The letter is None if it is not named, and there may be no bounds.
    """
    flat = []
    for arg in args:
        flat += list(getattr(arg, "items", [arg]))
    if not flat:
        return None, {}
    first = flat[0]
    if isinstance(first, Command) and first.name == "range":
        relation = first.of[0]
        if isinstance(relation, Relation) and isinstance(relation.left, Name):
            return relation.left.name, {"from": relation.right, "to": first.of[1]}
    if not isinstance(first, Name):
        if len(flat) == 2:
            return None, {"from": flat[0], "to": flat[1]}
        raise CalculatorError("a range is said as x, 0, 1 or x = 0..1")
    if len(flat) == 1:
        return first.name, {}
    if len(flat) != 3:
        raise CalculatorError("a range is said as x, 0, 1 or x = 0..1")
    return first.name, {"from": flat[1], "to": flat[2]}


def _definite(f, letter, low, high, context):
    antiderivative = None
    # If bounds contain letters, the result depends on conditions: fewer if letters are positive.
    real = {
        s: sp.Symbol(s.name, positive=True) for s in (f.free_symbols | low.free_symbols | high.free_symbols) - {letter}
    }
    back = {v: k for k, v in real.items()}
    inner = sp.Symbol(letter.name, real=True)
    found = sp.integrate(f.subs(real).subs(letter, inner), (inner, low.subs(real), high.subs(real)))
    if real and (low in (oo, -oo) or high in (oo, -oo)):
        context.step("letters other than the variable are taken to be positive")
    found = _one_case(found, context).subs(back)
    if found is S.NaN or found.has(S.ComplexInfinity) or found.has(sp.AccumBounds):
        raise CalculatorError("the integral does not converge")
    if found.has(sp.Integral):
        return _quadrature(f, letter, low, high)
    if found in (oo, -oo):
        context.step("the integral does not converge")
        return found
    if low.is_finite and high.is_finite:
        antiderivative = sp.integrate(f, letter)
    if antiderivative is not None and show.is_elementary(antiderivative):
        context.step(f"antiderivative: {show.text(_tidy(_real_logs(antiderivative, f, letter)))}")
    return sp.simplify(found)


def _quadrature(f, letter, low, high):
    """Computes numerically a definite integral that has no closed form."""
    if f.free_symbols - {letter} or low.free_symbols or high.free_symbols:
        raise CalculatorError("no closed form of this integral was found")
    act = sp.lambdify(letter, f, "mpmath")
    bounds = [mpmath.mpf(str(b.evalf(30))) if b.is_finite else mpmath.inf * (1 if b > 0 else -1) for b in (low, high)]
    with mpmath.workdps(25):
        value, error = mpmath.quad(act, bounds, error=True)
    if not mpmath.isfinite(value) or abs(error) > 1e-10 * max(1, abs(value)):
        raise CalculatorError("the integral was not found, in closed form or numerically; it may not converge")
    return sp.Float(str(value.real), 20)


def _limit(node, context):
    if node.options.get("called"):
        by, rest = node.of[1:2], node.of[2:]
        if len(rest) == 0 and isinstance(by[0], Command) and by[0].name == "approach":
            approach = by[0]
        elif len(rest) == 1 and isinstance(by[0], Name):
            approach = Command("approach", (by[0], rest[0]), {"side": None})
        else:
            raise CalculatorError("a limit is said as limit(sin(x)/x, x, 0)")
    else:
        approach = node.of[1]
    name = approach.of[0].name
    letter, to = symbol(name), number(approach.of[1], context, "a limit's place")
    f = number(node.of[0], _free(context, name), "a limit")
    side = approach.options.get("side")
    if to in (oo, -oo):
        return _defined(sp.limit(f, letter, to))
    if side is not None:
        return _defined(sp.limit(f, letter, to, side))
    left, right = sp.limit(f, letter, to, "-"), sp.limit(f, letter, to, "+")
    if left == right or sp.simplify(left - right) == 0:
        return _defined(right)
    raise CalculatorError(
        f"the limit does not exist: from the left it is {show.text(left)}, from the right {show.text(right)}"
    )


def _defined(value):
    if value is S.NaN or value.has(sp.AccumBounds) or value.has(sp.Limit):
        raise CalculatorError("the limit does not exist, or was not found")
    if value is S.ComplexInfinity:
        raise CalculatorError("the limit does not exist: it goes to infinity in both directions")
    return value


def _sum(node, context):
    return _over_range(node, context, is_sum=True)


def _product(node, context):
    return _over_range(node, context, is_sum=False)


def _over_range(node, context, is_sum):
    options, by = dict(node.options), node.options.get("letter")
    if options.get("called"):
        is_list = len(node.of) != 4 and not (len(node.of) == 2 and isinstance(node.of[1], Command))
        if is_list or not isinstance(node.of[1], (Name, Command)):
            from .tree import Call

            return evaluate(Call("sum" if is_sum else "product", node.of), context)
        by, options = _called_range(node.of[1:])
    if "from" not in options:
        raise CalculatorError("a sum needs its range: sum of k^2 for k = 1 to 10")
    f = number(node.of[0], _free(context, by), "a sum")
    letter = symbol(by) if by else unknown_of(f, context, None, "a sum")
    low, high = (number(options[end], context, "a bound") for end in ("from", "to"))
    for bound in low, high:
        if bound.is_number and not bound.is_Integer and bound not in (oo, -oo):
            raise CalculatorError("the bounds of a sum are whole numbers")
    if low.is_Integer and high.is_Integer and high - low > _SUMMED and not f.is_polynomial(letter):
        raise CalculatorError(f"sums and products of more than {_SUMMED} terms need a closed form")
    act = sp.summation if is_sum else sp.product
    found = _one_case(act(f, (letter, low, high)), context)
    if found.has(sp.Sum, sp.Product):
        found = _summed(found, context)
    if found is S.NaN or found.has(sp.AccumBounds):
        raise CalculatorError("the sum does not converge")
    if found in (oo, -oo):
        context.step("it grows without bound")
    return sp.factor(found) if found.free_symbols else sp.simplify(found)


def _summed(found, context):
    """Computes numerically a sum or product that has no closed form."""
    if found.free_symbols:
        raise CalculatorError("no closed form was found")
    value = found.evalf(20)
    if not value.is_number or value.has(sp.Sum, sp.Product):
        raise CalculatorError("the sum was not found, in closed form or numerically")
    return value


def _series(node, context):
    options = dict(node.options)
    at_letter, at = _place(options["at"], context) if "at" in options else (None, Integer(0))
    args = list(node.of)
    if options.get("called"):
        names = [a for a in args[1:] if isinstance(a, Name)]
        rest = [number(a, context) for a in args[1:] if not isinstance(a, Name)]
        at_letter = names[0].name if names else None
        at = rest[0] if rest else at
        options["order"] = args[-1] if len(rest) > 1 else None
    f = number(args[0], _free(context, at_letter), "a series")
    letter = unknown_of(f, context, at_letter, "a series")
    wanted = options.get("order")
    order = 5 if wanted is None else number(wanted, context)
    if not getattr(order, "is_Integer", True) or not 0 <= order <= 30:
        raise CalculatorError("a series is of order 0 to 30")
    if at in (oo, -oo):
        raise CalculatorError("a series is around a finite place")
    shift = sp.series(f.subs(letter, letter + at), letter, 0, int(order) + 1)
    if shift.getO() is None:
        return shift.subs(letter, letter - at)
    return Answer(_series_text(shift, letter, at, int(order) + 1))


def _series_text(series, letter, at, order):
    """Returns the text of a series: its terms in powers of `x - a`, the lowest power first."""
    name = letter.name if at == 0 else f"({show.text(letter - at)})"
    out = ""
    terms = [(term, *term.as_coeff_exponent(letter)) for term in sp.Add.make_args(sp.expand(series.removeO()))]
    for _, coefficient, power in sorted(terms, key=lambda t: t[2]):
        minus = coefficient.could_extract_minus_sign()
        size = -coefficient if minus else coefficient
        text = _series_term(size, power, name)
        out += (" - " if minus else " + ") + text if out else ("-" if minus else "") + text
    return f"{out or '0'} + O({name}^{order})"


def _series_term(size, power, name):
    if power == 0:
        return show.text(size)
    shown = name if power == 1 else f"{name}^{show.text(power) if power >= 0 else '(' + show.text(power) + ')'}"
    over, under = sp.fraction(size)
    over_text = "" if over == 1 else show.text(over, False)
    if " " in over_text:
        over_text = f"({over_text})"
    if over_text and not over_text[-1].isdigit():
        over_text += "*"
    return f"{over_text}{shown}" + ("" if under == 1 else f"/{show.text(under)}")


COMMANDS = {
    "derivative": _derivative,
    "integral": _integral,
    "limit": _limit,
    "sum": _sum,
    "product": _product,
    "series": _series,
}
