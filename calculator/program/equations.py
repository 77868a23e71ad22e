"""The commands that solve equations, systems of equations, and inequalities."""

from fractions import Fraction

import sympy as sp
from sympy import Eq, S

from . import show
from .errors import CalculatorError
from .evaluate import Answer, evaluate, number, symbol
from .tree import Command, Number, Relation

_MOST_SOLUTIONS = 50
# The number of digits to which numerical roots are computed.
_PLACES = 30
_ZERO = Number(Fraction(0))


def _solve(node, context):
    named = node.options.get("for", ())
    relations = list(node.of)
    if node.options.get("called"):
        while relations and not isinstance(relations[-1], Relation) and len(relations) > 1:
            named = (relations.pop().name, *named)
    letters = context.within({name: symbol(name) for name in named})
    parts = []
    for relation in relations:
        parts += relation.of if isinstance(relation, Command) and relation.name == "all" else [relation]
    if not all(isinstance(p, Relation) for p in parts):
        parts = [p if isinstance(p, Relation) else Relation("=", p, _ZERO) for p in parts]
    sides = [(p.op, number(p.left, letters, "a side"), number(p.right, letters, "a side")) for p in parts]
    return solved(sides, named, context)


def solved(sides, named, context):
    """Returns the solutions of relations, each `(operator, left, right)`, in words.

    `named` are the unknowns to solve for; by default they are chosen from the letters.
    """
    letters = sorted(set().union(*(a.free_symbols | b.free_symbols for _, a, b in sides)), key=lambda s: s.name)
    unknowns = [symbol(n) for n in named]
    if not letters:
        raise CalculatorError("there is no unknown to solve for")
    if any(u not in letters for u in unknowns):
        raise CalculatorError(f"'{next(u for u in unknowns if u not in letters)}' is not in the equation")
    if any(op not in ("=",) for op, _, _ in sides):
        return Answer(_inequalities(sides, unknowns or letters))
    if len(sides) == 1:
        unknown = unknowns[0] if unknowns else _first(letters, context)
        return Answer(_one(sides[0][1], sides[0][2], unknown, context))
    return Answer(_system(sides, unknowns or letters, context))


def _first(letters, context):
    if len(letters) > 1:
        for name in "xyztn":
            if symbol(name) in letters:
                context.step(f"solved for {name}")
                return symbol(name)
        context.step(f"solved for {letters[0].name}")
    return letters[0]


def _one(left, right, unknown, context):
    name = unknown.name
    whole = sp.expand(left - right) if (left - right).is_polynomial(unknown) else left - right
    if sp.simplify(whole) == 0:
        return f"true for every {name}"
    if not whole.has(unknown):
        return "no solution"
    numerator = sp.fraction(sp.together(whole))[0]
    if numerator.is_polynomial(unknown):
        found = _of_polynomial(whole, sp.expand(numerator), unknown, context)
    else:
        found = _of_any(whole, unknown, context)
    if isinstance(found, str):
        return found
    if not found:
        return "no solution"
    return " or ".join(f"{name} {_root_text(root)}" for root in found[:_MOST_SOLUTIONS])


def _root_text(root):
    """Returns `= exact`, `= exact ≈ decimal`, or only `≈ decimal` if the exact form is too long."""
    exact = show.text(root)
    if not root.is_number or root.is_Rational:
        return f"= {exact}"
    decimal = show.numeric(root)
    if root.has(sp.Float) or len(exact) > 60 or root.has(sp.CRootOf):
        return f"≈ {decimal}"
    re, im = root.as_real_imag()
    return f"= {exact}" if re.is_Rational and im.is_Rational else f"= {exact} ≈ {decimal}"


def _of_polynomial(whole, poly, unknown, context):
    """Returns the roots of the equation `whole = 0` without multiplicity, and notes the steps.

    `poly` is the numerator of `whole`. Zeros of the denominator are not roots.
    """
    p = sp.Poly(poly, unknown)
    if p.degree() > 100:
        raise CalculatorError("equations of degree 100 and less are solved")
    under = sp.fraction(sp.together(whole))[1]
    if p.is_ground:
        return []
    _polynomial_steps(p, unknown, context)
    if _has_letters(p):
        found = sp.solve(poly, unknown)
    else:
        found = list(sp.roots(p))
        if sum(sp.roots(p).values()) < p.degree() or any(len(str(r)) > 200 for r in found):
            exact = [r for r in found if r.is_Rational]
            found = exact + [r for r in _numeric_roots(p) if not any(abs(r - e) < 1e-15 for e in exact)]
    found = [sp.radsimp(sp.simplify(r)) if r.is_number and not r.is_Float and len(str(r)) < 100 else r for r in found]
    found = [r for r in found if not _is_zero(under.subs(unknown, r))]
    return sorted(found, key=_order) if all(r.is_number for r in found) else found


def _has_letters(p):
    """Returns whether the coefficients of a polynomial contain letters."""
    return bool(p.free_symbols - set(p.gens))


def _is_zero(value):
    return value.is_zero or (value.is_number and sp.simplify(value) == 0)


def _numeric_roots(p):
    found = p.sqf_part().nroots(n=_PLACES, maxsteps=200)
    return [sp.re(r) if abs(sp.im(r)) < 1e-25 else r for r in found]


def _order(root):
    re, im = root.evalf(20).as_real_imag()
    return (bool(abs(im) > 1e-15), float(re), float(im))


def _polynomial_steps(p, unknown, context):
    expr = p.as_expr()
    context.step(f"{show.text(expr)} = 0")
    factored = sp.factor(expr)
    if p.degree() > 1 and factored != expr and (factored.is_Mul or factored.is_Pow):
        context.step(f"factored: {show.text(factored)} = 0")
    elif p.degree() == 2 and not _has_letters(p):
        a, b, c = p.all_coeffs()
        context.step(f"discriminant: {show.text(b**2 - 4 * a * c)}")


def _of_any(whole, unknown, context):
    """Returns the solutions of an equation that is not polynomial: a list, or a text."""
    if whole.has(sp.sin, sp.cos, sp.tan, sp.cot, sp.sec, sp.csc) and whole.free_symbols == {unknown}:
        found = _periodic(whole, unknown)
        if found is not None:
            return found
    if whole.has(sp.Abs):
        real = sp.Symbol(unknown.name, real=True)
        whole, unknown = whole.subs(unknown, real), real
    try:
        found = sp.solve(whole, unknown)
    except NotImplementedError:
        found = None
    if found is not None and whole.free_symbols == {unknown}:
        found = [_one_logarithm(r) if r.has(sp.log) else r for r in found]
        found = [r for r in found if r.is_number and _holds(whole, unknown, r)]
        real = [r for r in found if abs(r.evalf(20).as_real_imag()[1]) < 1e-15]
        found = real or found
        if found and not any(r.has(sp.LambertW) and len(str(r)) > 60 for r in found):
            return sorted(found, key=_order)
    elif found:
        return found
    if found == [] and whole.free_symbols == {unknown} and _has_none(whole, unknown):
        return []
    return _searched(whole, unknown, context)


def _one_logarithm(root):
    """Combines logarithms if that is shorter: `1 + ln(5)/ln(2)` becomes `ln(10)/ln(2)`."""
    over, under = sp.fraction(sp.together(root))
    shorter = sp.logcombine(over, force=over.is_positive is not None) / under
    return shorter if shorter.count_ops() < root.count_ops() else root


def _has_none(whole, unknown):
    """Returns whether SymPy can prove that there is no real solution."""
    real = sp.Symbol("x", real=True)
    try:
        return sp.solveset(whole.subs(unknown, real), real, S.Reals) is S.EmptySet
    except (NotImplementedError, ValueError, TypeError):
        return False


def _holds(whole, unknown, root):
    value = whole.subs(unknown, root).evalf(20)
    return value.is_number and value.is_finite is not False and abs(value) < 1e-9


def _periodic(whole, unknown):
    """Returns all solutions of a trigonometric equation, such as `x = pi/6 + 2pi*n`, as text.

    Returns None if SymPy does not find them in such a form.
    """
    x = sp.Symbol(unknown.name, real=True)
    found = sp.solveset(whole.subs(unknown, x), x, S.Reals)
    if found is S.EmptySet:
        return "no solution"
    parts = found.args if isinstance(found, sp.Union) else [found]
    texts = []
    for part in parts:
        if isinstance(part, sp.ImageSet) and part.base_set is S.Integers and len(part.lamda.variables) == 1:
            value = sp.expand(part.lamda.expr.subs(part.lamda.variables[0], symbol("n")))
            turn = value.coeff(symbol("n"))
            texts.append((turn, value.subs(symbol("n"), 0)))
        else:
            return None
    merged = _merged([(t, v) for t, v in texts])
    shown = " or ".join(f"{unknown.name} = {_turns(v, t)}" for t, v in merged)
    return f"{shown} (n any whole number)"


def _merged(texts):
    """Merges families of solutions that differ by half of their common period."""
    found = sorted(texts, key=lambda t: t[1].evalf(15))
    for t, v in found:
        other = next((o for o in found if o[0] == t and sp.simplify(o[1] - v - t / 2) == 0), None)
        if other is not None:
            rest = [o for o in found if o not in ((t, v), other)]
            return _merged([*rest, (t / 2, v)])
    return found


def _turns(value, turn):
    turns = f"{show.text(turn)}*n" if turn != 1 else "n"
    return turns if value == 0 else f"{show.text(value)} + {turns}"


def _searched(whole, unknown, context):
    """Searches for real roots numerically from many starting points, and notes this as a step."""
    if whole.free_symbols != {unknown}:
        raise CalculatorError("no way is known to solve this equation")
    found = []
    for start in (0.5, 1, 2, -0.5, -1, -2, 0.1, 3, 5, -5, 10, -10, 20, 50, 100):
        try:
            root = sp.nsolve(whole, unknown, start, prec=25, maxsteps=50)
        except (ValueError, ArithmeticError, TypeError, KeyError, NotImplementedError):
            continue
        is_real = getattr(root, "is_real", False) and abs(root) < 10**9
        if is_real and _holds(whole, unknown, root) and not any(abs(root - r) < 1e-9 for r in found):
            found.append(root)
    if not found:
        raise CalculatorError("no solution was found, in closed form or numerically")
    context.step("found numerically; there may be others")
    return sorted(found)


def _system(sides, unknowns, context):
    equations = [Eq(a, b) for _, a, b in sides]
    if any(e is sp.false for e in equations):
        return "no solution"
    equations = [e for e in equations if e is not sp.true]
    try:
        found = sp.solve(equations, unknowns, dict=True)
    except NotImplementedError:
        raise CalculatorError("no way is known to solve this system") from None
    if not found:
        return "no solution"
    found = sorted(found, key=lambda s: [_order(v) for v in s.values() if v.is_number])[:_MOST_SOLUTIONS]
    texts = []
    for one in found:
        texts.append(", ".join(f"{u.name} {_root_text(sp.simplify(one[u]))}" for u in unknowns if u in one))
    free = [u.name for u in unknowns if not any(u in one for one in found)]
    if free and not any(s not in unknowns for e in equations for s in e.free_symbols):
        context.step(f"{', '.join(free)} can be any number")
    return " or ".join(texts)


def _inequalities(sides, unknowns):
    if len(unknowns) != 1:
        raise CalculatorError("inequalities have one unknown")
    x = sp.Symbol(unknowns[0].name, real=True)
    ops = {"<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge, "=": sp.Eq, "!=": sp.Ne}
    found = S.Reals
    for op, left, right in sides:
        relation = ops[op](left.subs(unknowns[0], x), right.subs(unknowns[0], x))
        if relation is sp.true:
            continue
        if relation is sp.false:
            return "no solution"
        one = relation.as_set() if op in ("=", "!=") else sp.solve_univariate_inequality(relation, x, relational=False)
        found = found.intersect(one)
    return _set_text(found, x.name)


def _set_text(found, name):
    if found is S.EmptySet:
        return "no solution"
    if found == S.Reals:
        return f"true for every real {name}"
    parts = found.args if isinstance(found, sp.Union) else [found]
    texts = []
    for part in parts:
        if isinstance(part, sp.FiniteSet):
            texts += [f"{name} {_root_text(v)}" for v in part]
        elif isinstance(part, sp.Interval):
            texts.append(_interval_text(part, name))
        else:
            raise CalculatorError("the solutions have no simple form")
    return " or ".join(texts)


def _interval_text(part, name):
    low = "" if part.start is S.NegativeInfinity else f"{show.text(part.start)} {'<' if part.left_open else '<='} "
    high = "" if part.end is S.Infinity else f" {'<' if part.right_open else '<='} {show.text(part.end)}"
    if not high:
        return f"{name} {'>' if part.left_open else '>='} {show.text(part.start)}"
    return f"{low}{name}{high}"


def _all(node, context):
    """Evaluates a chain such as `0 < x < 1`: true or false for numbers, solved for a letter."""
    values = [evaluate(of, context) for of in node.of]
    if all(v in (sp.true, sp.false) for v in values):
        return sp.And(*values)
    return _solve(Command("solve", node.of), context)


COMMANDS = {"solve": _solve, "all": _all}
