"""The table of all commands by name."""

from . import algebra, calculus, equations, forms

COMMANDS = {**algebra.COMMANDS, **calculus.COMMANDS, **equations.COMMANDS, **forms.COMMANDS}
