"""Errors, whose texts the caller gets. Each text describes what is wrong with the expression."""


class CalculatorError(Exception):
    """The expression is not valid, makes no sense, or has no answer that can be found."""


class TooLarge(CalculatorError):
    """The numbers or the text would be too large."""


class Mismatch(CalculatorError):
    """The units do not fit each other or the operation."""


class Unitless(Mismatch):
    """A number with a unit meets one without. The letters may not have been meant as units."""
