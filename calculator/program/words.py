"""The words of the notation: phrases for names and signs, keywords, and words to skip."""

# Phrases that mean one name or sign. The longest are tried first. They do not contain `the`,
# because the parser removes it before.
_PHRASES = {
    "square root": "sqrt", "cube root": "cbrt", "absolute value": "abs", "natural logarithm": "ln",
    "natural log": "ln", "standard deviation": "std", "sample standard deviation": "std",
    "population standard deviation": "pstd", "sample variance": "variance", "population variance": "pvariance",
    "sample std": "std", "population std": "pstd", "sample stdev": "std",
    "geometric mean": "geomean", "harmonic mean": "harmean", "root mean square": "rms",
    "greatest common divisor": "gcd", "greatest common factor": "gcd", "highest common factor": "gcd",
    "least common multiple": "lcm", "lowest common multiple": "lcm", "prime factorization": "factor",
    "prime factorisation": "factor", "prime factors": "factor", "interquartile range": "iqr",
    "correlation coefficient": "correlation", "number of divisors": "numdivisors", "next prime after": "nextprime",
    "next prime": "nextprime", "previous prime": "prevprime", "prime number": "prime", "eigen values": "eigenvalues",
    "dot product": "dot", "cross product": "cross", "partial fractions": "apart",
    "partial fraction decomposition": "apart", "partial derivative": "derivative",
    "first derivative": "derivative", "second derivative": "derivative2", "third derivative": "derivative3",
    "indefinite integral": "integral", "definite integral": "integral", "taylor series": "series",
    "taylor expansion": "series", "maclaurin series": "series", "power series": "series", "series expansion": "series",
    "with respect to": "wrt", "in terms of": "wrt", "complete square": "completesquare",
    "completing square": "completesquare", "percent change": "percentchange", "percentage change": "percentchange",
    "percent increase": "percentchange", "percentage increase": "percentchange",
    "is what percent of": "percentof", "is what percentage of": "percentof", "is what % of": "percentof",
    "as percentage of": "percentof", "as percent of": "percentof", "as a percentage of": "percentof",
    "as a percent of": "percentof", "as % of": "percentof", "as a % of": "percentof",
    "divided by": "/", "over": "/", "per": "/", "times": "*", "multiplied by": "*", "plus": "+", "minus": "-",
    "to power of": "^", "to power": "^", "raised to": "^", "raised to power of": "^", "raised to power": "^",
    "increased by": "+", "decreased by": "-", "reduced by": "-", "what percent of": "whatpercent",
    "what percentage of": "whatpercent", "first quartile": "q1", "lower quartile": "q1", "third quartile": "q3",
    "upper quartile": "q3", "percent": "%", "equals": "=", "is equal to": "=", "approaches": "->", "tends to": "->", "goes to": "->",
    "less than": "<", "greater than": ">", "modulo": "mod", "from right": "fromright", "from left": "fromleft",
    "from above": "fromright", "from below": "fromleft", "significant digits": "digits",
    "significant figures": "digits", "sig figs": "digits", "decimal places": "places", "decimal digits": "places",
    "decimals": "places", "decimal place": "places", "digit": "digits", "as a": "as", "as an": "as",
    "scientific notation": "scientific", "mixed number": "mixed", "up to": "to", "rounded to": "to",
    "fluid ounces": "floz", "fluid ounce": "floz", "fl oz": "floz", "nautical miles": "nmi", "nautical mile": "nmi",
    "light years": "ly", "light year": "ly", "square meters": "m2", "square metres": "m2", "square feet": "sqft",
    "square miles": "sqmi", "square kilometers": "km2", "square kilometres": "km2", "square meter": "m2",
    "square metre": "m2", "square foot": "sqft", "square inches": "sqin", "cubic meters": "m3",
    "cubic metres": "m3", "cubic feet": "cuft", "cubic inches": "cuin", "cubic centimeters": "cm3",
    "short tons": "shortton", "short ton": "shortton", "metric tons": "tonne", "metric ton": "tonne",
    "ft / s": "ft/s",
}  # fmt: skip
PHRASES = sorted(((tuple(k.split()), v) for k, v in _PHRASES.items() if v != "ft/s"), key=lambda p: -len(p[0]))

# Words without a meaning at the beginning of an expression.
FILLERS = [
    tuple(words.split())
    for words in (
        "what is value of", "what is", "what are", "whats", "how much is", "how many is", "calculate", "compute",
        "evaluate", "find value of", "find", "determine", "please", "convert", "value of", "result of", "work out",
        "give me", "show me",
    )
]  # fmt: skip

# Words that end the expression before them.
KEYWORDS = frozenset(
    "from to in into as of for when where with wrt at and by on around about order if given base using off "
    "fromright fromleft percentof digits places or is between".split()
)

# Words of algebra and calculus. In an expression with one of them, letters are unknowns, not units.
ALGEBRA = frozenset(
    "derivative derivative2 derivative3 differentiate diff derive integral integrate antiderivative int limit lim "
    "solve roots zeros root simplify expand factor factorise factorize apart together cancel series taylor maclaurin "
    "when where discriminant degree completesquare collect nsolve linsolve".split()
)

# Words that name a form, not a unit, after `in`, `to` or `as`.
FORMS = {
    "hex": "hex", "hexadecimal": "hex", "binary": "binary", "bin": "binary", "octal": "octal", "oct": "octal",
    "decimal": "decimal", "fraction": "fraction", "percent": "percent", "percentage": "percent",
    "scientific": "scientific", "mixed": "mixed", "roman": "roman", "number": "decimal", "float": "decimal",
    "radical": "fraction", "exact": "fraction", "factors": "factors", "polar": "polar", "base": "base",
}  # fmt: skip

# Functions that take a number before their name as an argument: `90th percentile of`, `5th root`.
INDEXED = frozenset("percentile prime fibonacci root catalan".split())
