"""Splits text into tokens: numbers, names and signs."""

import re
from fractions import Fraction
from typing import NamedTuple

from .errors import CalculatorError, TooLarge
from .typed import plain

MOST_TEXT = 1000
# The maximum exponent of ten of a number.
MOST_EXPONENT = 10_000


class Token(NamedTuple):
    # number, name, sign or end
    kind: str
    text: str
    at: int
    # Whether white space precedes it.
    spaced: bool = False
    value: object = None


_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "θ": "theta", "λ": "lambda",
    "μ": "mu", "ρ": "rho", "σ": "sigma", "τ": "tau", "φ": "phi", "ω": "omega",
}  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<based>0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+)(?![0-9a-zA-Z])
      | (?P<number>(?:\d[\d_]*(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<name>°[CFK]?|[A-Za-z_αβγδεθλμρστφω][A-Za-z_αβγδεθλμρστφω]*(?:_\d+|\d+)?)
      | (?P<sign>\*\*|->|<=|>=|==|!=|<>|!!|\.\.|[-+*/^%!()\[\]{}=<>,;:|√∛'])
      | (?P<space>\s+)""",
    re.VERBOSE,
)
_SAME = {"**": "^", "==": "=", "<>": "!=", "{": "[", "}": "]"}


def _grouped(text):
    """Removes the commas that group the digits of numbers.

    ``1,234`` is one number, but in a list (in brackets after a name, in square brackets, or after
    words such as ``mean of``) it is two, unless the list has other commas, all followed by spaces.
    """
    stack, spans = [[-1, True]], []
    takes_list = re.match(r"\s*(?!solve|what|convert)[a-z ]*\b(of|gcd|lcm|mean|median|std|sum|max|min)\b", text, re.I)
    for at, sign in enumerate(text):
        if sign in "([{":
            before = text[:at].rstrip()
            is_list = sign != "(" or (bool(before) and (before[-1].isalnum() or before[-1] == "_"))
            stack.append([at, not is_list])
        elif sign in ")]}" and len(stack) > 1:
            begun, is_plain = stack.pop()
            spans.append((begun, at, is_plain))
    spans.append((-1, len(text), not takes_list))
    own = {}
    for at, sign in enumerate(text):
        if sign == ",":
            inner = max((s for s in spans if s[0] < at < s[1]), key=lambda s: s[0], default=spans[-1])
            own.setdefault(inner, []).append(at)
    drop = set()
    for (_, _, is_plain), commas in own.items():
        groups = [at for at in commas if re.match(r",\d{3}(?!\d)", text[at:]) and _is_group(text, at)]
        others = [at for at in commas if at not in groups]
        if is_plain or (others and all(text[at + 1 : at + 2].isspace() for at in others)):
            drop.update(groups)
    return "".join(sign for at, sign in enumerate(text) if at not in drop)


def _is_group(text, at):
    before = re.search(r"(?<![\d.])\d{1,3}(,\d{3})*$", text[:at])
    return before is not None and not before[0].startswith("0")


def tokens(text):
    """Returns the tokens of a text. The last one marks its end."""
    if len(text) > MOST_TEXT:
        raise TooLarge(f"the expression has {len(text)} characters; {MOST_TEXT} are the most")
    text = _grouped(plain(text)).rstrip(" ?.;")
    found, at, spaced = [], 0, False
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalculatorError(f"'{text[at]}' at character {at + 1} is no sign of the notation")
        kind, part, begun = match.lastgroup, match[0], at
        at = match.end()
        if kind == "space":
            spaced = True
            continue
        if kind == "based":
            found.append(Token("number", part, begun, spaced, (Fraction(int(part, 0)), False)))
        elif kind == "number":
            found.append(Token("number", part, begun, spaced, _number(part)))
        elif kind == "name":
            found.append(Token("name", _GREEK.get(part, part), begun, spaced))
        else:
            found.append(Token("sign", _SAME.get(part, part), begun, spaced))
        spaced = False
    found.append(Token("end", "", len(text), spaced))
    return found


def _number(part):
    digits, _, exponent = part.replace("_", "").lower().partition("e")
    if exponent and (len(exponent) > 6 or abs(int(exponent)) > MOST_EXPONENT):
        raise TooLarge(f"{part} is beyond 10^{MOST_EXPONENT}")
    value = Fraction(digits + "0" if digits.endswith(".") else digits)
    if exponent:
        value *= Fraction(10) ** int(exponent)
    return value, "." in digits or bool(exponent)
