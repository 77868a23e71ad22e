"""What is said to whoever asked: each text is a whole sentence about the expression."""


class CalculatorError(Exception):
    """The expression cannot be read, makes no sense, or has no answer that can be given."""


class TooLarge(CalculatorError):
    """Its numbers would be larger than a calculator shall make."""


class Mismatch(CalculatorError):
    """Units that do not go together."""


class Unitless(Mismatch):
    """A number with a unit and one without: the letters may have been no units."""
