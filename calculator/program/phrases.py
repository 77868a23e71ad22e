"""Parses commands, calls of functions, and the text after an expression.

Text such as `in miles` or `when x = 2` may follow an expression. The function of a command is
called after the command's word was consumed, and parses the rest.
"""

from fractions import Fraction

from . import functions, words
from .errors import CalculatorError
from .lexer import Token
from .tree import Binary, Call, Command, Items, Name, Number, Relation, Unary

_ONE = Token("number", "1", 0, True, (Fraction(1), False))


def is_symbol(name):
    """Returns whether a name is a letter or the name of a Greek one, maybe with a number."""
    stem = name.rstrip("0123456789").rstrip("_")
    return len(stem) == 1 or stem in _GREEK


_GREEK = frozenset("alpha beta gamma delta epsilon theta lambda mu rho sigma omega".split())


def statement(p):
    """Parses a statement, which is the whole text."""
    if p.is_word("is") and p.tokens[-2].text.lower() in ("prime", "even", "odd"):
        p.next()
        what = p.tokens.pop(-2).text.lower()
        if p.tokens[-2].text in ("a", "an"):
            p.tokens.pop(-2)
        return Call("is" + what, (p.expression(),))
    if p.take("whatpercent"):
        whole = p.expression()
        p.expect("is")
        return Command("percentof", (p.expression(), whole))
    if p.is_word("increase", "decrease") and not p.peek().text == "(":
        op = "+" if p.next().text.lower() == "increase" else "-"
        of = p.expression()
        p.expect("by")
        return Binary(op, of, _percent(p.expression()))
    node = p.relation()
    if isinstance(node, (Relation, Command)) and p.is_sign(",", ";") or (_is_equation(node) and p.is_word("and")):
        return Command("solve", (node, *_more_relations(p)), {"for": _unknowns(p)})
    if _is_equation(node) and p.is_word("for"):
        return Command("solve", (node,), {"for": _unknowns(p)})
    return tails(p, node)


def _is_equation(node):
    return isinstance(node, Relation)


def _percent(node):
    return node if isinstance(node, Unary) and node.op == "%" else Unary("%", node)


def _more_relations(p):
    found = []
    while p.take(",", ";", "and"):
        p.take("and")
        found.append(p.relation())
    return found


def tails(p, node):
    """Parses the text after an expression, and returns the tree of both."""
    while p.token.kind == "name":
        if p.take("percentof"):
            node = Command("percentof", (node, p.expression()))
        elif p.take("off"):
            node = Binary("-", p.expression(), _percent(node))
        elif p.is_word("in", "to", "into", "as", "base"):
            node = _converted(p, node)
        elif p.take("when", "where", "for", "at", "if", "given", "with"):
            node = Command("when", (node,), {"where": bindings(p)})
        else:
            break
    return node


def bindings(p):
    """Parses values of letters such as `x = 2, y = 3`, and returns pairs of name and tree."""
    found = []
    while True:
        if p.token.kind != "name" or not is_symbol(p.token.text) or p.peek().text != "=":
            raise CalculatorError("what letters stand for is said as `x = 2, y = 3`")
        name = p.next().text
        p.next()
        outer, p.with_units = p.with_units, True
        found.append((name, p.expression()))
        p.with_units = outer
        if not p.take(",", ";", "and"):
            return tuple(found)


def _converted(p, node):
    if not p.is_word("base"):
        p.next()
    form = words.FORMS.get(p.token.text.lower()) if p.token.kind == "name" else None
    if p.is_sign("%"):
        form = "percent"
    if form is not None:
        p.next()
        options = {"form": form}
        if form == "base":
            options["base"] = p.expression(31)
        p.take("form", "number", "notation", "numeral", "numerals")
        return Command("form", (node,), options)
    if p.token.kind == "number" and p.peek().text.lower() in ("digits", "places"):
        count = p.next().value[0]
        return Command("form", (node,), {"form": p.next().text.lower(), "count": count})
    if p.is_word("digits"):
        raise p.unexpected("how many digits is missing")
    p.with_units = True
    target = p.tokens[p.at :]
    node = Command("convert", (node, p.expression()))
    named = [t.text for t in target if t.at < p.token.at or p.token.kind == "end"]
    node.options["words"] = _joined(named)
    return node


def _joined(texts):
    """Returns the words of a unit as people write it: `m/s`, `kg m^2`."""
    out = ""
    for text in filter(None, texts):
        is_open = not out or out[-1] in "/^(" or text in ("/", "^", ")")
        out += text if is_open else f" {text}"
    return out


def argument(p):
    """Parses an argument of a function, which may also be `x -> 0` or `k = 1..10`."""
    node = p.relation()
    if p.is_sign("->"):
        return _approach(p, node)
    if p.take(".."):
        return Command("range", (node, p.expression()))
    return node


def arguments(p):
    p.expect("(")
    found = []
    while not p.is_sign(")"):
        found.append(argument(p))
        if not p.take(",", ";"):
            break
    p.expect(")")
    return tuple(found)


def _has_commas(p):
    """Returns whether the brackets that begin here contain several arguments."""
    depth = 0
    for token in p.tokens[p.at :]:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if depth == 0:
            return False
        if depth == 1 and token.text in (",", ";") and token.kind == "sign":
            return True
    return False


def call(p, token, found):
    """Parses a call of a function after its name."""
    name, at, power = found.name, token.at, None
    if p.is_sign("^"):
        p.next()
        power = p.expression(51)
    base = p.expression(51) if found.name == "log" and p.take("base") else None
    index = None
    if found.has_index and p.token.kind == "number" and p.peek().text.lower() == "of":
        index = p.expression(51)
    if p.is_sign("(") and (index is None) and base is None:
        args = arguments(p)
    else:
        args = _bare_arguments(p, found)
    if base is not None or (found.name == "log" and p.take("base")):
        args = (*args, base if base is not None else p.expression(51))
    if index is not None:
        args = (Items(args), index) if found.takes_list else (*args, index)
    if power == Unary("-", Number(Fraction(1))) and "a" + name in functions.names():
        return Call("a" + name, args, at)
    if name == "inverse" and len(args) == 1 and isinstance(args[0], Binary) and args[0].op == "mod":
        return Call("modinv", (args[0].left, args[0].right), at)
    node = Call(name, args, at)
    return node if power is None else Binary("^", node, power)


def _bare_arguments(p, found):
    """Parses arguments without brackets: a list, or one operand."""
    has_of = p.take("of", "between") is not None
    if found.takes_list:
        args = [argument(p)]
        while p.take(",", "and"):
            p.take("and")
            args.append(argument(p))
        return tuple(args)
    if has_of and found.name == "inverse":
        return (p.expression(30),)
    node = p.expression(31)
    while found.is_wide and not has_of and p.infix() == "" and not p.is_sign("[") and not _begins_call(p):
        node = Binary("*", node, p.expression(31))
    return (node,)


def _begins_call(p):
    return p.token.kind == "name" and (functions.find(p.token.text) is not None or is_command(p, p.token.text.lower()))


def is_command(p, low):
    """Returns whether the word just consumed begins a command."""
    if low == "d":
        return _derivative_sign(p) is not None
    return low in _COMMANDS or _order(low) > 1


def command(p, low):
    p.enter()
    if low == "d":
        node = _by_sign(p)
    else:
        name, read = _COMMANDS.get(low) or _COMMANDS["derivative"]
        if p.is_sign("(") and _has_commas(p) and low not in ("roots", "zeros", "root"):
            node = Command(name, arguments(p), {"called": True, "order": _order(low)})
        else:
            p.take("of")
            node = read(p, low)
    p.leave()
    return node


def _order(low):
    """Returns the order in a name such as `derivative3` (a third derivative), otherwise 1."""
    rest = low.removeprefix("derivative")
    return int(rest) if rest != low and rest.isdigit() and len(rest) < 4 else 1


def _derivative_sign(p):
    """Looks for the rest of `d/dx` or `d^2/dx^2` after the `d`.

    Returns the number of its tokens, the letter and the order, or None.
    """
    texts = [p.peek(n).text for n in range(6)]
    if texts[0] == "/" and len(texts[1]) > 1 and texts[1][0] == "d" and is_symbol(texts[1][1:]):
        return 2, texts[1][1:], 1
    is_power = texts[0] == "^" and texts[2] == "/" and texts[3][:1] == "d" and texts[4] == "^"
    if is_power and texts[1] == texts[5] and texts[1].isdigit() and is_symbol(texts[3][1:] or "?"):
        return 6, texts[3][1:], int(texts[1])
    # `d^(2)/dx^(2)`: superscript digits become brackets.
    texts = [p.peek(n).text for n in range(10)]
    if texts[0:2] == ["^", "("] and texts[3:5] == [")", "/"] and texts[5][:1] == "d" and texts[6:8] == ["^", "("]:
        if texts[2] == texts[8] and texts[2].isdigit() and texts[9] == ")":
            return 10, texts[5][1:], int(texts[2])
    return None


def _by_sign(p):
    count, by, order = _derivative_sign(p)
    for _ in range(count):
        p.next()
    p.take("of")
    return _derivative_rest(p, p.expression(), {"by": by, "order": order})


def _derivative(p, low):
    return _derivative_rest(p, p.expression(), {"order": _order(low)})


def _derivative_rest(p, of, options):
    if p.take("wrt"):
        options["by"] = _letter(p)
    if p.take("at", "when", "for", "where"):
        options["at"] = p.relation()
    return Command("derivative", (of,), options)


def _letter(p):
    if p.token.kind != "name" or not is_symbol(p.token.text):
        raise p.unexpected("a letter is missing")
    return p.next().text


def _integral(p, _low):
    by = _take_differential(p)
    options, of = {}, None
    while True:
        if p.take("from", "between"):
            options["from"] = _bound(p, options)
            p.expect("to", "and")
            options["to"] = _bound(p, options)
            p.take("of")
        elif p.take("wrt", "for"):
            by = _letter(p)
        elif of is None:
            of = p.expression()
        else:
            break
    return Command("integral", (of,), {**options, "by": by or options.get("by")})


def _bound(p, options):
    """Parses a bound. If it is of the form `x = 0`, sets the letter in `options`."""
    node = _before_of(p, p.relation)
    if isinstance(node, Relation) and node.op == "=" and isinstance(node.left, Name):
        options["by"] = node.left.name
        return node.right
    return node


def _before_of(p, read):
    """Calls `read` so that it stops before an `of`, which belongs to the command."""
    outer, p.is_bound = p.is_bound, True
    node = read()
    p.is_bound = outer
    return node


def _take_differential(p):
    """Removes the `dx` from the tokens that follow. Returns its letter, or None."""
    depth = 0
    for at in range(p.at, len(p.tokens)):
        text = p.tokens[at].text
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if depth < 0:
            return None
        is_one = p.tokens[at].kind == "name" and text[0] == "d" and len(text) > 1 and is_symbol(text[1:])
        if is_one and not (p.tokens[at - 1].text == "/" and p.tokens[at - 2].text == "d"):
            before = p.tokens[at - 1]
            is_operand = at == p.at or (before.kind == "sign" and before.text not in (")", "]", "!"))
            p.tokens[at : at + 1] = [_ONE] if is_operand else []
            return text[1:]
    return None


def _approach(p, letter, is_first=False):
    p.expect("->")
    if not isinstance(letter, Name):
        raise p.unexpected("what approaches must be a letter")
    side = None
    behind = p.peek(2)
    is_end = behind.kind == "end" or behind.text in (")", ",", "of") or behind.text in ("fromright", "fromleft")
    if p.peek().kind == "sign" and p.peek().text in "+-" and is_end:
        to, side = p.prefix(), p.next().text
    else:
        # In `lim x->0 sin(x)/x` nothing separates the place from the function, so the place is
        # only the first operand.
        is_apart = not is_first or any(t.text in ("of", ",") for t in p.tokens[p.at :])
        to = _before_of(p, lambda: p.expression(0 if is_apart else 31))
    if p.is_word("fromright", "fromleft"):
        side = "+" if p.next().text == "fromright" else "-"
    return Command("approach", (letter, to), {"side": side})


def _limit(p, _low):
    is_first = p.take("as", "when", "for") is not None or p.peek().text == "->"
    if is_first:
        approach = _approach(p, p.prefix(), True)
        p.take("of", ",")
        return Command("limit", (p.expression(), approach))
    of = p.expression()
    p.take("as", "when", "for", ",", "at")
    if p.token.kind == "end":
        raise p.unexpected("a limit needs `as x -> …`")
    return Command("limit", (of, _approach(p, p.prefix())))


def _solve(p, _low):
    while p.take("system", "equation", "equations", "inequality", ":", "of"):
        pass
    named = _unknowns(p)
    p.take(":", ",")
    first = p.relation()
    found = [first, *_more_relations(p)]
    if len(found) == 1 and isinstance(first, Items):
        found = list(first.items)
    return Command("solve", tuple(found), {"for": named or _unknowns(p)})


def _unknowns(p):
    if not p.take("for", "wrt"):
        return ()
    found = [_letter(p)]
    while p.take(",", "and"):
        p.take("and")
        found.append(_letter(p))
    return tuple(found)


def _operand(name):
    def read(p, _low):
        return Command(name, (p.expression(),), {"by": _letter(p) if p.take("wrt") else None})

    return read


def _sum(p, low):
    """Parses a sum or product over a letter or of a list."""
    options = {}
    if p.take("from", "for"):
        options = _range(p)
        p.expect("of")
        return Command(low, (p.expression(),), options)
    if p.is_word("numbers", "integers") and p.next():
        options = {"letter": "k", **_range(p)} if p.take("from") else {}
        return Command(low, (Name("k"),), options)
    items = [argument(p)]
    while p.take(",", "and"):
        p.take("and")
        items.append(argument(p))
    if len(items) == 1 and p.take("to"):
        options = {"letter": "k", "from": items[0], "to": p.expression()}
        return Command(low, (Name("k"),), options)
    if len(items) == 1 and p.take("for", "from", "as", "where"):
        return Command(low, tuple(items), _range(p))
    return Call(low, tuple(items))


def _range(p):
    """Parses a range such as `k = 1 to 10`, `k from 1 to 10` or `1 to 10`."""
    options = {}
    if p.token.kind == "name" and p.peek().text.lower() in ("from", "="):
        options["letter"] = _letter(p)
        p.next()
    options["from"] = _before_of(p, p.expression)
    p.expect("to", "..")
    options["to"] = _before_of(p, p.expression)
    return options


def _series(p, _low):
    of, options = p.expression(), {}
    while p.token.kind == "name":
        if p.take("at", "around", "about", "when"):
            options["at"] = p.relation()
        elif p.take("to", "order", "with", "of"):
            p.take("order", "degree")
            options["order"] = p.expression(51)
            p.take("terms", "order")
        else:
            break
    return Command("series", (of,), options)


def _percent_change(p, _low):
    p.take("from")
    before = p.expression()
    p.expect("to")
    return Command("percentchange", (before, p.expression()))


_COMMANDS = {
    **{name: ("derivative", _derivative) for name in "derivative derivative2 derivative3 differentiate diff derive".split()},
    **{name: ("integral", _integral) for name in "integral integrate antiderivative int".split()},
    **{name: ("limit", _limit) for name in "limit lim".split()},
    **{name: ("solve", _solve) for name in "solve roots zeros".split()},
    **{name: (name, _operand(name)) for name in "simplify expand apart together completesquare".split()},
    **{name: ("factor", _operand("factor")) for name in "factor factorise factorize".split()},
    "cancel": ("simplify", _operand("simplify")),
    "discriminant": ("discriminant", _operand("discriminant")),
    "degree": ("degree", _operand("degree")),
    "sum": ("sum", _sum),
    "product": ("product", _sum),
    "series": ("series", _series),
    "taylor": ("series", _series),
    "maclaurin": ("series", _series),
    "percentchange": ("percentchange", _percent_change),
}  # fmt: skip
