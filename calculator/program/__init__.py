"""The calculator. It takes one expression as text, and returns its result and steps as text.

| module | what |
|---|---|
| `typed`, `lexer` | turn text, as people type it, into tokens |
| `words` | the tables of phrases, fillers and keywords |
| `parser`, `phrases` | turn tokens into a `tree` of operators, functions and commands |
| `evaluate` | turns a tree into a value; the only module that looks names up |
| `functions`, `integers`, `samples` | the closed tables of functions |
| `units` | the closed table of units |
| `algebra`, `calculus`, `equations`, `forms` | the commands (`commands`) |
| `guards` | refuses computations whose results would be too large |
| `show` | turns values into text |

# Invariants
- No text is run as Python: there is no eval, no exec, and no getattr with a name from the text.
- An expression cannot affect a later one: the only state is SymPy's caches of pure functions.
- Input and output are text, and both are refused if they are too long.
"""

import gc
import re
import sys
import warnings

from . import evaluate, show
from .errors import CalculatorError, Unitless
from .parser import parse

# Python refuses to convert long integers to text by default. Here `guards` bounds their size.
sys.set_int_max_str_digits(200_000)
warnings.filterwarnings("ignore")

_ALONE = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")


def answer(text):
    """Returns the answer to an expression: a dict with `result` and `steps`, or with `error`."""
    try:
        result, steps = _answered(text)
        return {"result": result, "steps": steps}
    except CalculatorError as e:
        return {"error": str(e)}
    except RecursionError:
        return {"error": "the expression is nested too deeply"}
    except (MemoryError, OverflowError):
        return {"error": "the numbers become too large"}
    except ZeroDivisionError:
        return {"error": "division by zero"}
    except NotImplementedError:
        return {"error": "no way is known to work this out"}
    except Exception as e:
        # SymPy raises many kinds of exceptions. None of them may end the calculator.
        return {"error": f"this cannot be worked out ({type(e).__name__})"}


def _answered(text):
    tree, with_units = parse(text)
    try:
        return _valued(tree)
    except Unitless:
        # `4m^2 - 9` makes no sense if m is the metre, but it does if m is an unknown.
        if not with_units or not _ALONE.search(text) or " in " in text or " to " in text:
            raise
        try:
            return _valued(parse(text, False)[0])
        except CalculatorError:
            pass
        raise


def _valued(tree):
    context = evaluate.Context()
    value = evaluate.evaluate(tree, context)
    text = value.text if isinstance(value, evaluate.Answer) else show.result(value, context)
    return show.bounded(text), context.steps


def warm_up():
    """Evaluates a few expressions, so that SymPy imports its modules and fills its tables."""
    for text in _FIRST:
        answer(text)
    # The objects that exist now are excluded from garbage collection. A collection would write to
    # all their pages, and each call needs memory of its own for the pages that it writes to.
    gc.collect()
    gc.freeze()


_FIRST = ("solve x^2 - 5x + 6 = 0", "integral of x*sin(x)", "limit of sin(x)/x as x -> 0", "5 km in miles", "sqrt(2)")
