"""What the parser makes of an expression: a tree of these and nothing else."""

from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Number:
    value: Fraction
    # It was written with a decimal point or an exponent.
    is_decimal: bool = False


@dataclass(frozen=True)
class Name:
    name: str
    at: int = 0


@dataclass(frozen=True)
class Unit:
    """A unit's name after a number, or where only a unit can stand."""

    name: str
    at: int = 0


@dataclass(frozen=True)
class Binary:
    # One of + - * / ^ mod choose permute; `mixed` joins 5 ft 3 in.
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
    """A list in brackets; rows are lists within it."""

    items: tuple


@dataclass(frozen=True)
class Relation:
    # One of = != < <= > >=.
    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Command:
    """A phrase: `integrate … from … to …`. What it has besides `of` goes by name."""

    name: str
    of: tuple
    options: dict = field(default_factory=dict)
