"""Refuses computations whose results would have too many digits, before they are computed."""

import math

from sympy import Float

from .errors import CalculatorError, TooLarge

# The maximum number of digits of a computed number.
MOST_DIGITS = 100_000
# The number of digits to which a power is computed whose exact value would be too long.
PLACES = 60


def digits_of(number):
    """Returns about how many digits the longer of a fraction's numerator and denominator has."""
    return max(abs(int(number.p)).bit_length(), int(number.q).bit_length()) * math.log10(2)


def power(base, exponent, is_decimal=False):
    """Returns `base ^ exponent`, or refuses it if it would be too large.

    `is_decimal` allows a rounded result if the exact one would be too long.
    """
    if (
        base.is_zero
        and exponent.is_number
        and (exponent.is_negative or exponent.is_zero is False and not exponent.is_positive)
    ):
        raise CalculatorError("division by zero")
    if getattr(base, "is_Matrix", False):
        return base**exponent
    coefficient = base if base.is_Rational else base.as_coeff_Mul()[0]
    if exponent.is_Rational and coefficient.is_Rational and abs(coefficient) != 1 and coefficient != 0:
        times = float(abs(exponent)) if abs(exponent) < 10**15 else math.inf
        digits = _log10(coefficient) * times
        if digits > MOST_DIGITS:
            growth = math.log10(abs(int(coefficient.p))) - math.log10(int(coefficient.q))
            is_near_one = abs(growth) * times < MOST_DIGITS
            if is_near_one and base.is_Rational and is_decimal:
                return Float(base, PLACES) ** Float(exponent, PLACES)
            raise TooLarge(f"the result would have about {_count(digits)} digits; {MOST_DIGITS} are the most")
    elif (
        exponent.is_number
        and base.is_number
        and not base.is_Rational
        or exponent.is_number
        and not exponent.is_Rational
    ):
        _guard_real(exponent)
    if base.is_Add and exponent.is_Integer and abs(exponent) > 10_000:
        raise TooLarge(f"a sum is raised to powers up to 10000 only, not {exponent}")
    return base**exponent


def _log10(number):
    """Returns the logarithm to base 10 of the larger of a fraction's numerator and denominator."""
    return max(math.log10(abs(int(number.p))), math.log10(int(number.q)))


def _guard_real(exponent):
    """Refuses the exponent of a power that stays symbolic, such as e^x, if it is too large."""
    size = abs(exponent.evalf(15))
    if size.is_number and size.is_finite and size > 10**9:
        raise TooLarge("the exponent is larger than 10^9")


def _count(digits):
    return f"{int(digits)}" if digits < 10**15 else "10^15 or more"


def integer(value, what, least=None, most=None):
    """Returns an argument as an int. Raises an error if it is not whole or not within bounds."""
    if not getattr(value, "is_Integer", False):
        raise CalculatorError(f"{what} needs a whole number")
    if least is not None and value < least:
        raise CalculatorError(f"{what} needs a whole number of at least {least}")
    if most is not None and value > most:
        raise TooLarge(f"{what} takes numbers up to {most}; {short(value)} is too large")
    return int(value)


def short(value):
    text = str(value) if digits_of(value) < 20 else ""
    return text or f"one of {int(digits_of(value)) + 1} digits"


def real(value, what):
    """Returns an argument. Raises an error if it is not a real number."""
    if not (getattr(value, "is_number", False) and value.is_real):
        raise CalculatorError(f"{what} needs numbers")
    return value
