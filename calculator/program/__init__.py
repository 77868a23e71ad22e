"""The calculator: one expression in, its result and honest steps out.

| module | what |
|---|---|
| `typed`, `lexer` | text as people type it, to tokens |
| `words` | phrases, fillers, keywords |
| `parser`, `phrases` | tokens to a `tree`: operators, and commands with their parts |
| `evaluate` | a tree to SymPy's objects, quantities and lists; the only way from names to functions |
| `functions`, `integers`, `samples`, `units` | the closed tables: mathematics, number theory, statistics, units |
| `algebra`, `calculus`, `equations`, `forms` | the `commands` |
| `guards` | what is refused before it is computed |
| `show` | values to text |

# Invariants
- No text is ever run as Python: there is no eval, no exec, no getattr by a name of the expression.
- One expression leaves nothing behind that another one could see: there is no state but SymPy's caches of pure functions.
- Text goes in and out; what is too long is refused.
"""

import gc
import re
import sys
import warnings

from . import evaluate, show
from .errors import CalculatorError, Unitless
from .parser import parse

# Integers are shown and read in whole; sizes are bounded by `guards`.
sys.set_int_max_str_digits(200_000)
warnings.filterwarnings("ignore")

_ALONE = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")


def answer(text):
    """The answer to an expression: `result` and `steps`, or `error`."""
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
        # SymPy refuses in many ways; none of them is the calculator's end.
        return {"error": f"this cannot be worked out ({type(e).__name__})"}


def _answered(text):
    tree, with_units = parse(text)
    try:
        return _valued(tree)
    except Unitless:
        # `4m^2 - 9` makes no sense in metres, and much in m.
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
    """Imports what SymPy imports when it is first used, and fills its tables."""
    for text in _FIRST:
        answer(text)
    # What is here now stays: the collector would write to all pages of it, and each call keeps what it has written.
    gc.collect()
    gc.freeze()


_FIRST = ("solve x^2 - 5x + 6 = 0", "integral of x*sin(x)", "limit of sin(x)/x as x -> 0", "5 km in miles", "sqrt(2)")
