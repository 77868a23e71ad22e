"""Parses tokens into a tree by operator precedence.

Phrases such as `integrate … from … to …` are in `phrases`. Operators with a higher number bind more
tightly:

| precedence | operators |
|---|---|
| 10 | `=` `<` `<=` `>` `>=` `!=` |
| 20 | `+` `-` |
| 30 | `*` `/` `mod` `of`, and no operator: `2x`, `3(x + 1)`, `x y` |
| 35 | a sign before its operand: `-x^2` is `-(x^2)` |
| 40 | `choose`, `nCr`, `nPr` |
| 50 | `^`, which groups from the right |
| 60 | `!` `!!` `%` after their operand |

A number and the unit after it are one operand: `60 km / 2 h` is 30 km/h.
"""

import difflib
from fractions import Fraction

from . import functions, phrases, units, words
from .errors import CalculatorError
from .lexer import Token, tokens
from .tree import Binary, Call, Command, Items, Name, Number, Relation, Unary, Unit

# The maximum nesting of brackets, signs and powers.
_DEEPEST = 50
_RELATIONS = {"=", "!=", "<", "<=", ">", ">="}
_INFIX = {"+": 20, "-": 20, "*": 30, "/": 30, "mod": 30, "of": 30, "choose": 40, "nCr": 40, "nPr": 40, "ncr": 40,
          "npr": 40, "^": 50}  # fmt: skip
_SIDE_BY_SIDE = 30
_NOTHING = Token("name", "", -1)
# Letters that form products when they are written together: `xy`, `4ac`.
_LETTERS = frozenset("abcdfghjklmnopqrstuvwxyz")
_RUNS = frozenset("abc"), frozenset("xyz")
_CONSTANTS = {"pi": "pi", "e": "e", "E": "e", "i": "i", "infinity": "infinity", "inf": "infinity", "oo": "infinity",
              "phi": "phi", "tau": "tau", "Pi": "pi", "PI": "pi"}  # fmt: skip


def parse(text, with_units=None):
    """Returns the tree of a text, and whether names may be units.

    If `with_units` is None, the text decides that.
    """
    found = _phrased(tokens(text))
    if len(found) == 1:
        raise CalculatorError("there is no expression")
    if with_units is None:
        with_units = _speaks_of_units(found)
    parser = Parser(found, with_units)
    return parser.whole(), with_units


def _phrased(found):
    """Removes words without a meaning, and replaces phrases with single tokens."""
    out, at = [], 0
    found = [t for t in found if not (t.kind == "name" and t.text.lower() == "the")]
    while found[-2:-1] and found[-2].text == "=" and len(found) > 2:
        del found[-2]
    lower = [t.text.lower() for t in found]
    changed = True
    while changed:
        changed = False
        for filler in words.FILLERS:
            if tuple(lower[at : at + len(filler)]) == filler and lower[at + len(filler)] != "(":
                at, changed = at + len(filler), True
    while at < len(found):
        if _is_ordinal(found, at):
            at += 1
            continue
        for phrase, name in words.PHRASES:
            if tuple(lower[at : at + len(phrase)]) == phrase:
                kind = "name" if name[0].isalpha() else "sign"
                out.append(Token(kind, name, found[at].at, found[at].spaced))
                at += len(phrase)
                break
        else:
            out.append(found[at])
            at += 1
    _put_indices_behind(out)
    return out


def _is_ordinal(found, at):
    """Returns whether a token is the ending of an ordinal number, such as the `th` of `5th`."""
    token = found[at]
    is_behind = at > 0 and found[at - 1].kind == "number" and not token.spaced
    return is_behind and token.text in ("st", "nd", "rd", "th")


def _put_indices_behind(found):
    """Moves the number of `90 percentile of` after the name, and joins that of `4 derivative`."""
    for at in range(len(found) - 1 if found[0].text.lower() != "is" else 0):
        name = found[at + 1].text.lower()
        if found[at].kind == "number" and name == "derivative" and found[at].value[0].denominator == 1:
            found[at : at + 2] = [Token("name", f"derivative{found[at].value[0]}", found[at].at, True), _NOTHING]
        elif found[at].kind == "number" and name in words.INDEXED and found[at + 1].kind == "name":
            found[at], found[at + 1] = found[at + 1], found[at]
    found[:] = [token for token in found if token is not _NOTHING]


def _speaks_of_units(found):
    names, has_one = [], False
    for at, token in enumerate(found):
        if token.kind != "name":
            continue
        name, low = token.text, token.text.lower()
        before = found[at - 1] if at else None
        after_number = before is not None and before.kind == "number"
        if (low in words.ALGEBRA or low.startswith("derivative")) and not (after_number and low in units.NAMES):
            return False
        if (low in words.KEYWORDS and name != "in") or low in words.FORMS or low in ("mod", "squared", "cubed"):
            continue
        if found[at + 1].text == "(" and functions.find(name) is not None:
            continue
        converts = before is not None and before.text in ("in", "to", "into", "as")
        if name == "in" and found[at + 1].text.lower() in words.FORMS:
            continue
        if units.find(name) is not None and (name != "in" or after_number):
            names.append(name)
            has_one = has_one or after_number or converts
        elif name != "in" and functions.find(name) is None and low not in _CONSTANTS:
            return False
    return has_one


class Parser:
    def __init__(self, found, with_units):
        self.tokens, self.at, self.with_units, self.depth = found, 0, with_units, 0
        # `is_exponent`: numbers have no units. `is_bound`: the expression ends before `of`.
        self.is_exponent = self.is_bound = False

    @property
    def token(self):
        return self.tokens[self.at]

    def peek(self, by=1):
        return self.tokens[min(self.at + by, len(self.tokens) - 1)]

    def next(self):
        token = self.token
        self.at += token.kind != "end"
        return token

    def is_word(self, *names):
        return self.token.kind == "name" and self.token.text.lower() in names

    def is_sign(self, *signs):
        return self.token.kind == "sign" and self.token.text in signs

    def take(self, *texts):
        """Consumes the next token if it is one of these words or signs, and returns its text."""
        if self.is_word(*texts) or self.is_sign(*texts):
            return self.next().text
        return None

    def expect(self, *texts):
        if self.take(*texts) is None:
            raise self.unexpected(f"'{texts[0]}' is missing")
        return texts[0]

    def unexpected(self, what):
        token = self.token
        if token.kind == "end":
            return CalculatorError(f"{what} at the end of the expression")
        return CalculatorError(f"{what} before '{token.text}' at character {token.at + 1}")

    def whole(self):
        node = phrases.statement(self)
        if self.token.kind != "end":
            raise self.unexpected("more was not expected")
        return node

    def enter(self):
        self.depth += 1
        if self.depth > _DEEPEST:
            raise CalculatorError(f"the expression is nested more than {_DEEPEST} deep")

    def leave(self):
        self.depth -= 1

    def relation(self):
        """Parses an expression or relations. `0 < x < 1` is two relations, joined by `all`."""
        left = self.expression()
        found = []
        while self.token.kind == "sign" and self.token.text in _RELATIONS:
            op = self.next().text
            right = self.expression()
            found.append(Relation(op, left, right))
            left = right
        if not found:
            return left
        return found[0] if len(found) == 1 else Command("all", tuple(found))

    def expression(self, least=0):
        self.enter()
        left = self.prefix()
        while True:
            left, goes_on = self.postfix(left)
            if goes_on:
                continue
            op = self.infix()
            if op is None or _INFIX.get(op, _SIDE_BY_SIDE) < max(least, 1):
                break
            left = self.join(op, left)
        self.leave()
        return left

    def infix(self):
        """Returns the next operator, '' if an operand is next, or None."""
        token = self.token
        if token.kind == "sign":
            if token.text == "%" and self.begins_operand(self.peek()):
                return "mod"
            if token.text in _INFIX:
                return token.text
            return "" if token.text in ("(", "[", "√", "∛") else None
        if token.kind == "name":
            if token.text == "of" and self.is_bound:
                return None
            if token.text in _INFIX or token.text.lower() == "mod":
                return token.text if token.text in _INFIX else "mod"
            if token.text.lower() in words.KEYWORDS and not self.is_inch():
                return None
            return ""
        return "" if token.kind == "number" else None

    @staticmethod
    def begins_operand(token):
        if token.kind == "sign":
            return token.text == "("
        if token.kind == "name":
            return token.text.lower() not in words.KEYWORDS and token.text not in _INFIX
        return token.kind == "number"

    def join(self, op, left):
        if op == "":
            return self.side_by_side(left)
        self.next()
        if op == "^":
            return Binary("^", left, self.exponent())
        right = self.expression(_INFIX[op] + 1)
        op = {"of": "*", "nCr": "choose", "ncr": "choose", "nPr": "permute", "npr": "permute"}.get(op, op)
        return Binary(op, left, right)

    def exponent(self):
        outer, self.is_exponent = self.is_exponent, True
        node = self.expression(_INFIX["^"])
        self.is_exponent = outer
        return node

    def side_by_side(self, left):
        token, before = self.token, self.tokens[self.at - 1]
        if token.kind == "number" and before.kind == "number":
            raise self.unexpected("two numbers stand side by side: an operator is missing")
        right = self.expression(_SIDE_BY_SIDE + 1)
        if _is_quantity(left) and _is_quantity(right):
            return Binary("mixed", left, right)
        if token.kind == "number" and not isinstance(left, (Call, Items)):
            raise CalculatorError(f"an operator is missing before '{token.text}' at character {token.at + 1}")
        return Binary("*", left, right)

    def postfix(self, left):
        """Parses an operator after its operand, such as `!`, `%` or `squared`.

        Returns the new tree, and whether there was one.
        """
        if self.is_word("squared", "cubed"):
            power = 2 if self.next().text.lower() == "squared" else 3
            return Binary("^", left, Number(Fraction(power))), True
        if self.is_word("factorial") and isinstance(left, Number):
            self.next()
            return Unary("!", left), True
        if self.is_sign("!", "!!"):
            if isinstance(left, Unary) and left.op == "!":
                raise self.unexpected("a factorial of a factorial needs brackets,")
            return Unary(self.next().text, left), True
        if self.is_sign("%") and not self.begins_operand(self.peek()):
            self.next()
            return Unary("%", left), True
        return left, False

    def prefix(self):
        token = self.next()
        if token.kind == "number":
            return self.number(token)
        if token.kind == "sign":
            return self.sign(token)
        if token.kind == "name":
            return self.name(token)
        self.at = len(self.tokens) - 1
        raise self.unexpected("something is missing")

    def number(self, token):
        """Parses the unit after a number, if there is one."""
        node = Number(*token.value)
        if not self.with_units or self.is_exponent:
            return node
        if self.is_fraction_of_unit():
            self.next()
            node = Number(node.value / self.next().value[0])
        node_unit = self.unit_power()
        if node_unit is None:
            return node
        node = Binary("*", node, node_unit)
        while True:
            if (more := self.unit_power()) is not None:
                node = Binary("*", node, more)
            elif self.is_sign("/") and self.is_unit(self.peek()) and not self.peek(2).text == "(":
                self.next()
                node = Binary("/", node, self.unit_power())
            else:
                return node

    @staticmethod
    def is_unit(token):
        is_name = token.kind == "name" and token.text.lower() not in words.KEYWORDS
        return is_name and units.find(token.text) is not None

    def is_fraction_of_unit(self):
        """Returns whether text such as the `/4 cup` of `1/4 cup` is next."""
        below = self.peek()
        is_tight = self.is_sign("/") and not self.token.spaced and below.kind == "number" and not below.spaced
        return is_tight and below.value[0] != 0 and self.is_unit(self.peek(2))

    def is_inch(self):
        """Returns whether the next token is `in` for the inch.

        This is so after a number, unless a unit or a form to convert to follows.
        """
        if not (self.with_units and self.is_word("in") and self.at and self.tokens[self.at - 1].kind == "number"):
            return False
        after = self.peek()
        low = after.text.lower()
        is_target = after.kind == "name" and (low in words.FORMS or low not in words.KEYWORDS)
        return not is_target

    def unit_power(self):
        token = self.token
        if token.kind != "name" or (token.text.lower() in words.KEYWORDS and not self.is_inch()):
            return None
        if units.find(token.text) is None or self.peek().text == "(":
            return None
        self.next()
        node = Unit(token.text, token.at)
        if self.is_word("squared", "cubed"):
            return Binary("^", node, Number(Fraction(2 if self.next().text.lower() == "squared" else 3)))
        if self.take("^"):
            return Binary("^", node, self.exponent())
        return node

    def sign(self, token):
        if token.text == "-":
            return Unary("-", self.expression(35))
        if token.text == "+":
            return self.expression(35)
        if token.text == "(":
            inner = phrases.argument(self)
            if self.is_sign(","):
                inner = Items(tuple([inner, *self.items_after_comma()]))
            self.expect(")")
            return inner
        if token.text == "[":
            return self.items()
        if token.text in ("√", "∛"):
            return Call("sqrt" if token.text == "√" else "cbrt", (self.expression(_INFIX["^"]),), token.at)
        if token.text == "|":
            inner = self.expression()
            self.expect("|")
            return Call("abs", (inner,), token.at)
        self.at -= 1
        raise self.unexpected("a number or a name is missing")

    def items_after_comma(self):
        found = []
        while self.take(","):
            found.append(phrases.argument(self))
        return found

    def items(self):
        """Parses a list after its opening bracket. `[1, 2; 3, 4]` is a list of rows."""
        rows, row = [], []
        while not self.is_sign("]"):
            row.append(phrases.argument(self))
            if self.take(";"):
                rows.append(Items(tuple(row)))
                row = []
            elif not self.take(","):
                break
        self.expect("]")
        if rows:
            return Items(tuple([*rows, Items(tuple(row))] if row else rows))
        return Items(tuple(row))

    def name(self, token):
        name, low = token.text, token.text.lower()
        if self.with_units and units.find(name) is not None and not self.is_sign("("):
            self.at -= 1
            node = self.unit_power()
            if node is not None:
                return node
            self.at += 1
        if phrases.is_command(self, low):
            return phrases.command(self, low)
        found = functions.find(name)
        if found is not None and (found.is_word or self.is_sign("(", "^") or self.begins_operand(self.token)):
            return phrases.call(self, token, found)
        if low in words.KEYWORDS:
            self.at -= 1
            raise self.unexpected("something is missing")
        return self.variable(token)

    def variable(self, token):
        name = token.text
        if name in _CONSTANTS:
            return Name(_CONSTANTS[name], token.at)
        if phrases.is_symbol(name):
            return Name(name, token.at)
        is_run = len(name) == 2 or any(set(name) <= letters for letters in _RUNS)
        if len(name) <= 3 and is_run and set(name) <= _LETTERS:
            # Each letter becomes a token of its own, because `xy^2` is x*y^2.
            rest = [Token("name", letter, token.at, True) for letter in name[1:]]
            self.tokens[self.at : self.at] = rest
            return Name(name[0], token.at)
        raise CalculatorError(unknown(name, token.at))


def unknown(name, at):
    """Returns the message about an unknown name."""
    is_unit = units.find(name) is not None
    if is_unit:
        return f"'{name}' at character {at + 1} is a unit, which does not go together with unknowns or algebra"
    near = difflib.get_close_matches(name.lower(), functions.names() | units.NAMES | words.ALGEBRA, 1, 0.75)
    hint = f"; is '{near[0]}' meant?" if near else ""
    return f"'{name}' at character {at + 1} is no name of the notation{hint}"


def _is_unit(node):
    return isinstance(node, Unit) or (isinstance(node, Binary) and node.op == "^" and isinstance(node.left, Unit))


def _is_quantity(node):
    """Returns whether a tree is a number with a unit, or a sum such as 5 ft 3 in."""
    if isinstance(node, Binary) and node.op == "mixed":
        return True
    is_one = False
    while isinstance(node, Binary) and node.op in "*/" and _is_unit(node.right):
        node, is_one = node.left, True
    return is_one and isinstance(node, Number)
