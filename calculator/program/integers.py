"""Number theory and combinatorics. Arguments that would take long are refused."""

import math

import sympy as sp
from sympy import Integer, Mod, factorint

from .errors import CalculatorError, TooLarge
from .guards import digits_of, integer

# The maximum number of digits of a number that is factored, and of one whose primality is tested.
_FACTORED = 60
_TESTED = 1000


def _small(n, what, digits=_FACTORED):
    value = integer(n, what, 1)
    if digits_of(n) > digits + 1:
        raise TooLarge(f"{what} takes numbers of up to {digits} digits")
    return value


def _gcd(*args):
    return _folded("gcd", args, sp.gcd)


def _lcm(*args):
    return _folded("lcm", args, sp.lcm)


def _folded(name, args, act):
    values = list(flat(args))
    if len(values) < 2 or any(not v.is_Rational and v.is_number for v in values):
        raise CalculatorError(f"{name} needs two numbers or more")
    found = values[0]
    for value in values[1:]:
        found = act(found, value)
    return found


def flat(args):
    """Yields the arguments, with the items of lists and matrices in place of these."""
    for arg in args:
        if isinstance(arg, (list, tuple)):
            yield from flat(arg)
        elif getattr(arg, "is_Matrix", False):
            yield from arg
        else:
            yield arg


def _choose(n, k):
    if not (n.is_Integer and k.is_Integer):
        return sp.binomial(n, k)
    size = min(abs(int(k)), abs(int(n) - int(k)))
    if size > 50_000 or size * (digits_of(n) + 1) > 100_000:
        raise TooLarge("the number of combinations would have too many digits")
    return Integer(sp.binomial(n, k))


def _permute(n, k=None):
    n = integer(n, "the number of permutations", 0, 25_000)
    k = n if k is None else integer(k, "the number of permutations", 0)
    return Integer(math.perm(n, k))


def modular_inverse(a, m):
    try:
        return pow(integer(a, "an inverse"), -1, integer(m, "a modulus", 2))
    except ValueError:
        raise CalculatorError(f"{a} has no inverse modulo {m}: they have a common divisor") from None


def modulo(a, n):
    if n == 0:
        raise CalculatorError("division by zero")
    return Mod(a, n)


def _prime(n):
    n = integer(n, "the nth prime", 1, 1_000_000)
    return Integer(sp.prime(n))


def _fibonacci(n):
    return Integer(sp.fibonacci(integer(n, "fibonacci", 0, 400_000)))


def _is_prime(n):
    return sp.true if sp.isprime(_small(n, "a test for primes", _TESTED)) else sp.false


def _divisors(n):
    found = sp.divisors(_small(n, "divisors"))
    if len(found) > 1000:
        raise TooLarge(f"there are {len(found)} divisors")
    return [Integer(d) for d in found]


def _parity(odd):
    return lambda n: sp.true if integer(n, "even or odd") % 2 == odd else sp.false


def factored(n):
    """Returns the prime factors of a number with their exponents, in order."""
    value = integer(n, "factor")
    if digits_of(n) > _FACTORED + 1:
        raise TooLarge(f"numbers of up to {_FACTORED} digits are factored")
    return sorted(factorint(value).items())


# For each name: the function, its minimum and maximum number of arguments, and whether they are one
# list.
TABLE = {
    "gcd": (_gcd, 1, 1000, True),
    "lcm": (_lcm, 1, 1000, True),
    "hcf": (_gcd, 1, 1000, True),
    "C": (_choose, 2, 2, False),
    "nCr": (_choose, 2, 2, False),
    "ncr": (_choose, 2, 2, False),
    "binomial": (_choose, 2, 2, False),
    "comb": (_choose, 2, 2, False),
    "choose": (_choose, 2, 2, False),
    "P": (_permute, 2, 2, False),
    "nPr": (_permute, 2, 2, False),
    "perm": (_permute, 1, 2, False),
    "permutations": (_permute, 1, 2, False),
    "mod": (modulo, 2, 2, False),
    "modinv": (lambda a, m: Integer(modular_inverse(a, m)), 2, 2, False),
    "isprime": (_is_prime, 1, 1, False),
    "iseven": (_parity(0), 1, 1, False),
    "isodd": (_parity(1), 1, 1, False),
    "prime": (_prime, 1, 1, False),
    "nextprime": (lambda n: Integer(sp.nextprime(integer(n, "nextprime", 0, 10**60))), 1, 1, False),
    "prevprime": (lambda n: Integer(sp.prevprime(integer(n, "prevprime", 3, 10**60))), 1, 1, False),
    "fibonacci": (_fibonacci, 1, 1, False),
    "fib": (_fibonacci, 1, 1, False),
    "catalan": (lambda n: Integer(sp.catalan(integer(n, "catalan", 0, 10_000))), 1, 1, False),
    "totient": (lambda n: Integer(sp.totient(_small(n, "totient"))), 1, 1, False),
    "eulerphi": (lambda n: Integer(sp.totient(_small(n, "totient"))), 1, 1, False),
    "divisors": (_divisors, 1, 1, False),
    "factors": (_divisors, 1, 1, False),
    "numdivisors": (lambda n: Integer(sp.divisor_count(_small(n, "divisors"))), 1, 1, False),
    "sigma": (lambda n: Integer(sp.divisor_sigma(_small(n, "sigma"))), 1, 1, False),
}
