"""The nodes of the tree that the parser makes of an expression."""

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Number:
    value: Fraction
    # Whether it was written with a decimal point or an exponent.
    is_decimal: bool = False


@dataclass(frozen=True)
class Name:
    name: str
    at: int = 0


@dataclass(frozen=True)
class Unit:
    """The name of a unit, after a number or where only a unit is possible."""

    name: str
    at: int = 0


@dataclass(frozen=True)
class Binary:
    # One of + - * / ^ mod choose permute mixed; `mixed` joins 5 ft 3 in.
    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Unary:
    # One of - ! !! %.
    op: str
    of: object


@dataclass(frozen=True)
class Call:
    name: str
    args: tuple
    at: int = 0


@dataclass(frozen=True)
class Items:
    """A list in brackets. The rows of a matrix are lists in a list."""

    items: tuple


@dataclass(frozen=True)
class Relation:
    # One of = != < <= > >=.
    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Command:
    """A command such as `integrate … from … to …`: its operands `of`, and other parts by name."""

    name: str
    of: tuple
    options: dict = field(default_factory=dict)
