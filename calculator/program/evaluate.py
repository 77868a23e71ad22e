"""Evaluates a tree to a SymPy object, a quantity with units, a list of these, or an `Answer`.

No part of the text is run as code: names are looked up only in the letters that the expression
defines, the constants, and the tables of functions, units and commands.
"""

from dataclasses import dataclass, field

import sympy as sp
from sympy import E, I, Integer, Rational, S, oo, pi

from . import functions, guards, integers, units
from .errors import CalculatorError, Mismatch, Unitless
from .tree import Binary, Call, Command, Items, Name, Number, Relation, Unary, Unit
from .units import Quantity

_CONSTANTS = {"pi": pi, "e": E, "i": I, "infinity": oo, "phi": sp.GoldenRatio, "tau": 2 * pi}
_RELATIONS = {"=": sp.Eq, "!=": sp.Ne, "<": sp.Lt, "<=": sp.Le, ">": sp.Gt, ">=": sp.Ge}
# Functions whose first argument may have a unit, in addition to those with `keeps_units`.
_WITH_UNITS = {"sqrt", "cbrt", "abs", "round", "floor", "ceil"}


@dataclass(frozen=True)
class Answer:
    """A result that is already text."""

    text: str


@dataclass
class Context:
    """The state of an evaluation."""

    # The values of letters.
    letters: dict = field(default_factory=dict)
    # The steps of the computation, for the caller to read.
    steps: list = field(default_factory=list)
    # Whether numbers are shown as decimals.
    is_decimal: bool = False
    digits: int = 0

    def step(self, text):
        if len(self.steps) < 20 and text not in self.steps:
            self.steps.append(text)

    def within(self, letters):
        return Context({**self.letters, **letters}, self.steps, self.is_decimal, self.digits)


def symbol(name):
    return sp.Symbol(name)


def evaluate(node, context):
    """Returns the value of a tree."""
    return _BY_KIND[type(node)](node, context)


def number(node, context, what="this"):
    """Returns the value of a tree that must be one expression without a unit."""
    value = evaluate(node, context)
    if isinstance(value, Quantity):
        raise Mismatch(f"{what} must have no unit")
    if isinstance(value, (list, Answer)) or getattr(value, "is_Matrix", False):
        raise CalculatorError(f"{what} must be one number or expression")
    if is_statement(value):
        raise CalculatorError(f"{what} must be a number, not a statement")
    return value


def is_statement(value):
    """Returns whether a value is true, false or a relation.

    A letter is none of these, although SymPy also regards letters as Booleans.
    """
    return isinstance(value, sp.logic.boolalg.Boolean) and not isinstance(value, sp.Expr)


def _number(node, context):
    context.is_decimal = context.is_decimal or node.is_decimal
    return Rational(node.value.numerator, node.value.denominator)


def _name(node, context):
    if node.name in context.letters:
        return context.letters[node.name]
    return _CONSTANTS.get(node.name) or symbol(node.name)


def _unit(node, context):
    if units.is_scale(node.name):
        raise CalculatorError(f"degrees of {node.name} need a number before them")
    return units.of(node.name)


def _unary(node, context):
    if node.op == "-" and _is_point(node.of):
        return units.point(-number(node.of.left, context), node.of.right.name)
    value = evaluate(node.of, context)
    if isinstance(value, Answer) or is_statement(value):
        raise CalculatorError("the result of such a command cannot be reckoned with")
    if node.op == "-":
        return multiply(Integer(-1), value)
    if node.op == "%":
        context.is_decimal = True
        return multiply(Rational(1, 100), value)
    if isinstance(value, (Quantity, list)) or getattr(value, "is_Matrix", False):
        raise CalculatorError("a factorial needs a whole number")
    if node.op == "!!":
        return Integer(sp.factorial2(guards.integer(value, "a factorial", 0, 25_000)))
    return functions.TABLE["factorial"].call(value)


def _is_point(node):
    is_product = isinstance(node, Binary) and node.op == "*" and isinstance(node.right, Unit)
    return is_product and units.is_scale(node.right.name)


def _binary(node, context):
    """Evaluates an operator and the chain of operators in its left operand.

    This is a loop and not a recursion, because the left operands of a long sum are deeply nested.
    """
    chain = []
    while isinstance(node, Binary) and not _is_point(node):
        chain.append(node)
        node = node.left
    if isinstance(node, Binary):
        value = units.point(number(node.left, context), node.right.name)
    else:
        value = evaluate(node, context)
    while chain:
        value = _applied(chain.pop(), value, context)
    return value


def _applied(node, left, context):
    op = node.op
    if op in "+-" and isinstance(node.right, Unary) and node.right.op == "%":
        share = evaluate(node.right, context)
        return multiply(left, 1 + share if op == "+" else 1 - share)
    if op == "mod" and isinstance(node.left, Binary) and node.left.op == "^":
        raise AssertionError("powers of a modulus are taken apart before")
    right = evaluate(node.right, context)
    for side in left, right:
        if isinstance(side, Answer) or is_statement(side):
            raise CalculatorError("the result of such a command cannot be reckoned with")
    if op == "+":
        return add(left, right, 1)
    if op == "mixed":
        return _mixed(left, right)
    if op == "-":
        return add(left, right, -1)
    if op == "*":
        return multiply(left, right)
    if op == "/":
        return divide(left, right)
    if op == "^":
        return power(left, right, context)
    for side in left, right:
        if isinstance(side, (Quantity, list)) or getattr(side, "is_Matrix", False):
            raise CalculatorError(f"{op} needs numbers")
    if op == "mod":
        return integers.modulo(left, right)
    return integers.TABLE["C" if op == "choose" else "P"][0](left, right)


def _mixed(left, right):
    """Joins two quantities side by side: `5 ft 3 in` is a sum, but `5 kg 3 m` is a product."""
    if units.dims_of(left) == units.dims_of(right):
        return units.add(left, right, 1)
    return units.multiply(left, right)


def _vector(value):
    return sp.Matrix(value) if isinstance(value, list) else value


def _checked(value):
    if value in (S.ComplexInfinity, S.NaN):
        raise CalculatorError("division by zero, or no definite value")
    return value


def add(left, right, sign):
    if isinstance(left, Quantity) or isinstance(right, Quantity):
        if left == 0 or right == 0:
            return right if left == 0 and sign > 0 else left if right == 0 else multiply(Integer(-1), right)
        if not (isinstance(left, Quantity) and isinstance(right, Quantity)):
            raise Unitless("a number with a unit and one without cannot be added or compared")
        return units.add(left, right, sign)
    left, right = _vector(left), _vector(right)
    is_matrix = [getattr(side, "is_Matrix", False) for side in (left, right)]
    if any(is_matrix) and (not all(is_matrix) or left.shape != right.shape):
        raise CalculatorError("matrices are added to matrices of the same size only")
    return left + right if any(is_matrix) else _checked(left + sign * right) if sign > 0 else _checked(left - right)


def multiply(left, right):
    if isinstance(left, Quantity) or isinstance(right, Quantity):
        if isinstance(left, list) or isinstance(right, list):
            raise CalculatorError("lists have no units")
        return units.multiply(left, right)
    left, right = _vector(left), _vector(right)
    if all(getattr(side, "is_Matrix", False) for side in (left, right)) and left.cols != right.rows:
        if left.shape == right.shape and min(left.shape) == 1:
            raise CalculatorError("two vectors have dot(a, b) and cross(a, b)")
        raise CalculatorError(f"a matrix with {left.cols} columns cannot be multiplied by one with {right.rows} rows")
    return left * right if hasattr(left * right, "is_Matrix") and (left * right).is_Matrix else _checked(left * right)


def divide(left, right):
    if isinstance(right, list) or getattr(right, "is_Matrix", False):
        raise CalculatorError("nothing can be divided by a matrix or list; multiply by its inverse")
    if units.number_of(right) == 0:
        raise CalculatorError("division by zero")
    if isinstance(left, Quantity) or isinstance(right, Quantity):
        return units.multiply(left, right, -1)
    return _vector(left) / right


def power(base, exponent, context):
    if isinstance(exponent, (Quantity, list)) or getattr(exponent, "is_Matrix", False):
        raise Mismatch("an exponent is a number without a unit")
    if isinstance(base, Quantity):
        return units.raise_to(base, exponent)
    base = _vector(base)
    if getattr(base, "is_Matrix", False):
        if base.rows != base.cols or not exponent.is_Integer or abs(exponent) > 1000:
            raise CalculatorError("a square matrix is raised to whole numbers up to 1000 only")
        if exponent < 0 and base.det() == 0:
            raise CalculatorError("the matrix has no inverse: its determinant is 0")
    return guards.power(base, exponent, context.is_decimal)


def _modular_power(node, context):
    """Evaluates `a^b mod n`, without computing `a^b` if all three are whole numbers.

    Returns None for any other tree.
    """
    if not (isinstance(node, Binary) and node.op == "mod" and isinstance(node.left, Binary) and node.left.op == "^"):
        return None
    parts = node.left.left, node.left.right, node.right
    base, exponent, modulus = (number(part, context, "mod") for part in parts)
    if not all(p.is_Integer for p in (base, exponent, modulus)) or modulus < 1 or exponent < 0:
        return integers.modulo(power(base, exponent, context), modulus)
    return Integer(pow(int(base), int(exponent), int(modulus)))


def _any_binary(node, context):
    found = _modular_power(node, context)
    return _binary(node, context) if found is None else found


def _items(node, context):
    values = [evaluate(item, context) for item in node.items]
    if values and all(isinstance(v, list) for v in values):
        if len({len(v) for v in values}) != 1:
            raise CalculatorError("the rows of a matrix must have the same length")
        return sp.Matrix(values)
    return values


def _call(node, context):
    found = functions.find(node.name)
    assert found is not None, node.name
    args = [evaluate(arg, context) for arg in node.args]
    if not found.takes_list or found.has_index:
        if not found.least <= len(args) <= found.most:
            raise CalculatorError(_arity(found))
    elif not args:
        raise CalculatorError(_arity(found))
    if found.keeps_units:
        context.is_decimal = True
        from . import forms

        forms.tell_spread(found.name, args, context)
        return found.call(*args)
    if found.name in _WITH_UNITS and isinstance(args[0], Quantity):
        return _of_quantity(found, args)
    return _checked_call(found, args, context)


def _checked_call(found, args, context):
    for arg in args:
        if isinstance(arg, Quantity):
            raise Mismatch(f"{found.name} takes no number with a unit")
        if isinstance(arg, Answer) or is_statement(arg):
            raise CalculatorError(f"{found.name} takes numbers")
    takes_list = found.takes_list
    if not takes_list:
        args = [_vector(arg) for arg in args]
        is_for_matrix = found.name in _OF_MATRIX
        if not is_for_matrix and any(getattr(arg, "is_Matrix", False) for arg in args):
            raise CalculatorError(f"{found.name} takes no matrix or list")
    if found.name == "log" and len(args) == 1 and not context.letters.get("log"):
        context.step("log(x) is the logarithm to base 10; ln(x) is the natural one")
    if found.name in ("asin", "acos", "atan"):
        context.step(f"{found.name} gives radians")
    value = found.call(*args)
    return value if isinstance(value, list) else _checked(value)


_OF_MATRIX = frozenset(
    "det eigenvectors trace transpose rank rref eigenvalues charpoly inverse dot cross abs norm".split()
)


def _of_quantity(found, args):
    """Applies a function to the number of a quantity in the unit in which it is shown."""
    quantity = args[0]
    if found.name in ("sqrt", "cbrt"):
        return units.raise_to(quantity, Rational(1, 2 if found.name == "sqrt" else 3))
    of_unit = quantity.value / units.in_shown(quantity) if quantity.value != 0 else S.One
    value = found.call(units.in_shown(quantity), *args[1:]) * of_unit
    return Quantity(value, quantity.dims, quantity.shown)


def _arity(found):
    many = f"{found.least}" if found.least == found.most else f"{found.least} to {found.most}"
    return f"{found.name} takes {many} argument{'' if many == '1' else 's'}"


def _relation(node, context):
    left, right = evaluate(node.left, context), evaluate(node.right, context)
    if any(getattr(side, "free_symbols", None) for side in (left, right)):
        return evaluate(Command("solve", (node,)), context)
    if isinstance(left, Quantity) or isinstance(right, Quantity):
        difference = add(left, right, -1)
        return _RELATIONS[node.op](units.number_of(difference), 0)
    left, right = _vector(left), _vector(right)
    try:
        return _RELATIONS[node.op](left, right)
    except TypeError:
        raise CalculatorError("these cannot be compared") from None


def _command(node, context):
    from .commands import COMMANDS

    if node.name not in COMMANDS:
        raise CalculatorError(f"'{node.name}' cannot stand here")
    return COMMANDS[node.name](node, context)


_BY_KIND = {
    Number: _number,
    Name: _name,
    Unit: _unit,
    Unary: _unary,
    Binary: _any_binary,
    Call: _call,
    Items: _items,
    Relation: _relation,
    Command: _command,
}
