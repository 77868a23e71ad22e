"""The closed table of functions. No other function can be called."""

from dataclasses import dataclass
from typing import Callable

import sympy as sp
from sympy import Integer, Rational, S

from . import integers as nt
from . import samples
from .errors import CalculatorError
from .guards import integer, power


@dataclass(frozen=True)
class Function:
    name: str
    call: Callable
    least: int = 1
    most: int = 1
    # Whether it can precede its operand without brackets.
    is_word: bool = True
    # Whether an operand without brackets is a whole product: `sin 2x`.
    is_wide: bool = False
    # Whether its arguments are one list: `mean of 1, 2, 3`.
    takes_list: bool = False
    # Whether a number before it is an argument: `90th percentile of`.
    has_index: bool = False
    # Whether arguments keep their units.
    keeps_units: bool = False


def _log(x, base=None):
    if x == 0:
        raise CalculatorError("the logarithm of 0 is not defined")
    if base is None:
        return _exact_log(x, Integer(10))
    if base in (0, 1):
        raise CalculatorError(f"there is no logarithm to base {base}")
    return _exact_log(x, base)


def _exact_log(x, base):
    value = sp.log(x, base)
    # SymPy simplifies log(1000)/log(10) to 3 by itself, but not log(1/8)/log(2).
    if x.is_Rational and base.is_Rational and x > 0 and base > 0 and not value.is_Rational:
        guess = round(float(value.evalf(20)))
        if abs(guess) < 5000 and base**guess == x:
            return Integer(guess)
    return value


def _ln(x):
    if x == 0:
        raise CalculatorError("the logarithm of 0 is not defined")
    return sp.log(x)


def _root(x, n=S(2)):
    if n == 0:
        raise CalculatorError("there is no 0th root")
    if n.is_Integer and n % 2 and x.is_number and x.is_negative:
        return -((-x) ** (1 / n))
    return x ** (1 / n)


def _abs(x):
    return x.norm() if getattr(x, "is_Matrix", False) else sp.Abs(x)


def _round(x, places=S.Zero):
    places = integer(places, "round", -1000, 1000)
    if not x.is_number or not x.is_real:
        raise CalculatorError("round needs a real number")
    # Halves are rounded away from zero, as people round them.
    scaled = sp.Abs(x) * Integer(10) ** places
    return sp.sign(x) * sp.floor(scaled + Rational(1, 2)) / Integer(10) ** places


def _factorial(n):
    if n.is_number and n.is_Integer:
        return Integer(sp.factorial(integer(n, "a factorial", 0, 25_000)))
    if n.is_number and abs(n.evalf(15)) > 10**6:
        raise CalculatorError("a factorial of a number that is not whole takes numbers up to 10^6")
    return sp.gamma(n + 1)


def _gamma(x):
    if x.is_Integer:
        integer(x, "gamma", -(10**9), 25_000)
    return sp.gamma(x)


def _quotient_functions():
    """Returns the functions of one number that SymPy has under the same name."""
    names = (
        "sin cos tan cot sec csc asin acos atan acot asec acsc sinh cosh tanh coth sech csch asinh acosh atanh acoth"
    )
    table = {name: Function(name, getattr(sp, name), is_wide=True) for name in names.split()}
    for name in "sin cos tan cot sec csc sinh cosh tanh".split():
        table["arc" + name] = Function("a" + name, getattr(sp, "a" + name), is_wide=True)
    for name in "floor ceiling sign re im erf erfc zeta".split():
        table[name] = Function(name, getattr(sp, name))
    return table


def _matrix(name, act, square=True):
    def call(matrix):
        if not getattr(matrix, "is_Matrix", False):
            raise CalculatorError(f"{name} needs a matrix, as [[1, 2], [3, 4]]")
        if square and matrix.rows != matrix.cols:
            raise CalculatorError(f"{name} needs a square matrix; this one has {matrix.rows} rows of {matrix.cols}")
        return act(matrix)

    return Function(name, call)


def _inverse(of):
    if getattr(of, "is_Matrix", False):
        if of.rows != of.cols:
            raise CalculatorError("inverse needs a square matrix")
        if of.det() == 0:
            raise CalculatorError("the matrix has no inverse: its determinant is 0")
        return of.inv()
    return 1 / of


def _vectors(name, act, size=None):
    def call(left, right):
        is_fine = getattr(left, "is_Matrix", False) and getattr(right, "is_Matrix", False)
        if not is_fine or left.shape != right.shape or min(left.shape) != 1 or (size and max(left.shape) != size):
            raise CalculatorError(f"{name} needs two vectors of the same length" + (f", {size}" if size else ""))
        return act(left, right)

    return Function(name, call, 2, 2, keeps_units=False)


def _eigenvalues(matrix):
    found = []
    for value, times in matrix.eigenvals().items():
        found += [sp.nsimplify(value) if value.is_Rational else value] * times
    if not all(v.is_number for v in found):
        return found
    return sorted(found, key=lambda v: (not v.is_real, *v.evalf(15).as_real_imag()))


def _eigenvectors(matrix):
    """Returns linearly independent eigenvectors, in the order of `eigenvalues`."""
    found = [(value, vector) for value, _, vectors in matrix.eigenvects() for vector in vectors]
    if all(value.is_number for value, _ in found):
        found.sort(key=lambda f: (not f[0].is_real, *f[0].evalf(15).as_real_imag()))
    return [vector.applyfunc(sp.radsimp) for _, vector in found]


def _table():
    table = _quotient_functions()
    table.update({
        "sqrt": Function("sqrt", sp.sqrt),
        "cbrt": Function("cbrt", lambda x: _root(x, Integer(3))),
        "root": Function("root", _root, 1, 2, has_index=True),
        "exp": Function("exp", lambda x: power(sp.E, x), is_wide=True),
        "ln": Function("ln", _ln, is_wide=True),
        "log": Function("log", _log, 1, 2, is_wide=True),
        "lg": Function("lg", _log, is_wide=True),
        "log10": Function("log10", _log, is_wide=True),
        "log2": Function("log2", lambda x: _log(x, Integer(2)), is_wide=True),
        "square": Function("square", lambda x: power(x, Integer(2))),
        "cube": Function("cube", lambda x: power(x, Integer(3))),
        "reciprocal": Function("reciprocal", lambda x: power(x, Integer(-1))),
        "hypot": Function("hypot", lambda a, b: sp.sqrt(a**2 + b**2), 2, 2, is_word=False),
        "degrees": Function("degrees", lambda x: x * 180 / sp.pi, is_word=False),
        "radians": Function("radians", lambda x: x * sp.pi / 180, is_word=False),
        "identity": Function("identity", lambda n: sp.eye(integer(n, "identity", 1, 20)), is_word=False),
        "eigenvectors": _matrix("eigenvectors", _eigenvectors),
        "abs": Function("abs", _abs),
        "norm": Function("norm", _abs),
        "conj": Function("conj", sp.conjugate),
        "conjugate": Function("conjugate", sp.conjugate),
        "arg": Function("arg", sp.arg),
        "atan2": Function("atan2", sp.atan2, 2, 2),
        "ceil": Function("ceil", sp.ceiling),
        "trunc": Function("trunc", lambda x: sp.sign(x) * sp.floor(sp.Abs(x))),
        "frac": Function("frac", sp.frac),
        "round": Function("round", _round, 1, 2),
        "factorial": Function("factorial", _factorial),
        "gamma": Function("gamma", _gamma),
        "beta": Function("beta", lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b), 2, 2, is_word=False),
        "det": _matrix("det", lambda m: m.det()),
        "determinant": _matrix("det", lambda m: m.det()),
        "trace": _matrix("trace", lambda m: m.trace()),
        "transpose": _matrix("transpose", lambda m: m.T, False),
        "rank": _matrix("rank", lambda m: Integer(m.rank()), False),
        "rref": _matrix("rref", lambda m: m.rref()[0], False),
        "eigenvalues": _matrix("eigenvalues", _eigenvalues),
        "charpoly": _matrix("charpoly", lambda m: m.charpoly(sp.Symbol("x")).as_expr()),
        "inverse": Function("inverse", _inverse),
        "inv": Function("inverse", _inverse),
        "dot": _vectors("dot", lambda a, b: a.dot(b)),
        "cross": _vectors("cross", lambda a, b: a.cross(b), 3),
    })  # fmt: skip
    for name, alias in {"ceiling": "ceil", "magnitude": "abs", "modulus": "abs", "signum": "sign", "eigenvals": "eigenvalues",
                        "logarithm": "log"}.items():  # fmt: skip
        table[name] = table[alias]
    for name, (call, least, most, is_list) in nt.TABLE.items():
        indexed = name in ("prime", "fibonacci", "catalan")
        single = len(name) > 1
        table[name] = Function(name, call, least, most, single, takes_list=is_list, has_index=indexed)
    for name, call in samples.TABLE.items():
        table[name] = Function(name, call, 1, 1000, takes_list=True, has_index=name == "percentile", keeps_units=True)
    return table


TABLE = _table()


def find(name):
    """Returns the function of that name, or None. Names of several letters may be in capitals.

    The name `log_3` contains the base.
    """
    found = TABLE.get(name)
    if found is None and name[:4] == "log_" and name[4:].isdigit():
        base = Integer(name[4:])
        return Function("log" + name[4:], lambda x: _log(x, base), is_wide=True)
    if found is None and len(name) > 1:
        found = TABLE.get(name.lower())
    return found


def names():
    return TABLE.keys() - {"C", "P"}
