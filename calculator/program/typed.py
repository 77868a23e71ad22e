"""Converts mathematics as people and models type it to the signs of the notation.

This covers signs of Unicode, and the few TeX commands that models write.
"""

import re

_SIGNS = {
    "×": "*", "·": "*", "⋅": "*", "∙": "*", "✕": "*", "∗": "*", "÷": "/", "∕": "/", "⁄": "/",
    "−": "-", "–": "-", "—": "-", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "…": "..",
    "π": " pi ", "∞": " infinity ", "√": " √", "∛": " ∛", "∫": " integral ", "∑": " sum ", "∏": " product ",
    "∂": "d", "℃": "°C", "℉": "°F", "µ": "μ", "\u2126": "ohm", "\u03a9": "ohm", "½": "(1/2)", "¼": "(1/4)",
    "¾": "(3/4)", "⅓": "(1/3)", "⅔": "(2/3)", "⅛": "(1/8)",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ",
}  # fmt: skip
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_RAISED_RUN = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")

_BRACES = r"\{([^{}]*)\}"
_TEX = [
    (re.compile(r"\\[dt]?frac\s*" + _BRACES + r"\s*" + _BRACES), r"((\1)/(\2))"),
    (re.compile(r"\\sqrt\s*\[(\d+)\]\s*" + _BRACES), r"root((\2), \1)"),
    (re.compile(r"\\sqrt\s*" + _BRACES), r"sqrt(\1)"),
    (re.compile(r"\\binom\s*" + _BRACES + r"\s*" + _BRACES), r"C(\1, \2)"),
    (re.compile(r"\^\s*" + _BRACES), r"^(\1)"),
]
_TEX_WORDS = {"cdot": "*", "times": "*", "div": "/", "to": "->", "rightarrow": "->", "infty": " infinity ", "int": " integral ",
              "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ne": "!=", "neq": "!=", "left": "", "right": "",
              "quad": " ", "ldots": "..", "prod": " product "}  # fmt: skip
_BOUND = r"\s*(?:\{([^{}]*)\}|\(([^()]*)\)|(-?\w+))"
_LIMIT = re.compile(r"\blim(?:it)?_?\s*[({]\s*([A-Za-z])\s*->\s*([^(){}]+)[)}]")
_RANGE = re.compile(r"\b(integral|int|integrate|sum|product)\s*_" + _BOUND + r"\s*\^" + _BOUND)


def plain(text):
    """Returns a text in the signs of the notation."""
    text = _RAISED_RUN.sub(lambda run: f"^({run[0].translate(_RAISED)})", text)
    for sign, other in _SIGNS.items():
        text = text.replace(sign, other)
    if "\\" in text:
        text = _without_tex(text)
    text = _LIMIT.sub(r"lim as \1->\2 of ", text)
    return _RANGE.sub(_with_range, text)


def _without_tex(text):
    text = re.sub(r"\\[,;!: ]", " ", text)
    # The braces of an upper bound become brackets; those of a lower bound stay.
    text = re.sub(r"(\\(?:int|sum|prod)\s*_\s*(?:\{[^{}]*\}|\w))\s*\^\s*\{([^{}]*)\}", r"\1^(\2)", text)
    before = None
    while before != text:
        before = text
        for pattern, meaning in _TEX:
            text = pattern.sub(meaning, text)
    return re.sub(r"\\([A-Za-z]+)", lambda m: _TEX_WORDS.get(m[1], f" {m[1]}"), text)


def _with_range(match):
    word, *bounds = match.groups()
    low, high = (next(filter(None, bounds[n : n + 3]), "") for n in (0, 3))
    return f"{word} from {low} to {high} of "
