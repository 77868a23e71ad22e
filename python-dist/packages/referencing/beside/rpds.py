"""Immutable collections with the names and behaviour of rpds-py, whose own are compiled.

jsonschema and referencing keep their registries in these. An operation that gives a
changed collection copies, which costs its length where the compiled ones cost a
logarithm; registries are short.
"""

from collections import abc as _abc

__all__ = ["HashTrieMap", "HashTrieSet", "List", "Queue", "Stack"]


def _make(kind, held):
    """A collection around what it holds, which nobody else may change."""
    made = object.__new__(kind)
    object.__setattr__(made, "_held", held)
    return made


class _Final:
    """What all have in common: one slot, never written again; no subclasses but these."""

    __slots__ = ("_held",)
    __module__ = "rpds"

    def __init_subclass__(cls):
        if cls.__module__ != "rpds":
            base = cls.__mro__[1].__name__
            raise TypeError(f"type 'rpds.{base}' is not an acceptable base type")

    def __setattr__(self, name, value):
        kind = type(self).__name__
        raise AttributeError(
            f"'rpds.{kind}' object has no attribute '{name}' and no __dict__ for setting new attributes"
        )

    def __delattr__(self, name):
        kind = type(self).__name__
        raise AttributeError(f"'rpds.{kind}' object has no attribute '{name}'")

    def __iter__(self):
        return iter(self._held)

    def __len__(self):
        return len(self._held)

    def __contains__(self, item):
        return item in self._held

    def __copy__(self):
        return self


class _Set(_Final, _abc.Set):
    """A frozen set's operations, with collections of this module as results."""

    __slots__ = ()

    @classmethod
    def _from_iterable(cls, items):
        return _make(HashTrieSet, frozenset(items))

    def __repr__(self):
        return f"HashTrieSet({{{', '.join(map(repr, self._held))}}})"

    def __hash__(self):
        return hash(self._held)


class HashTrieSet(_Set):
    __slots__ = ()

    def __new__(cls, value=()):
        return _make(cls, frozenset(value))

    def __reduce__(self):
        return HashTrieSet, (list(self._held),)

    def insert(self, value):
        return _make(HashTrieSet, self._held | {value})

    def discard(self, value):
        return _make(HashTrieSet, self._held - {value})

    def remove(self, value):
        if value not in self._held:
            raise KeyError(value)
        return self.discard(value)

    def update(self, *iterables):
        return _make(HashTrieSet, self._held.union(*iterables))

    def union(self, other):
        return _make(HashTrieSet, self._held | _set_of(other))

    def intersection(self, other):
        return _make(HashTrieSet, self._held & _set_of(other))

    def difference(self, other):
        return _make(HashTrieSet, self._held - _set_of(other))

    def symmetric_difference(self, other):
        return _make(HashTrieSet, self._held ^ _set_of(other))

    def _operator(method):
        def operate(self, other):
            return method(self, other) if isinstance(other, HashTrieSet) else NotImplemented

        return operate

    __and__ = _operator(intersection)
    __or__ = _operator(union)
    __sub__ = _operator(difference)
    __xor__ = _operator(symmetric_difference)
    __rand__ = __ror__ = __rsub__ = __rxor__ = _operator(lambda self, other: NotImplemented)
    del _operator


def _set_of(other):
    if not isinstance(other, HashTrieSet):
        raise TypeError(f"'{type(other).__name__}' object is not an instance of 'HashTrieSet'")
    return other._held


class _View:
    __slots__ = ()

    def __init__(self, mapping):
        self._mapping = mapping

    def __repr__(self):
        return f"{self._name}({self._text()})"


class keys_view(_View, _abc.KeysView):
    __slots__ = ()
    _name = "keys_view"
    _from_iterable = HashTrieSet

    def _text(self):
        return f"{{{', '.join(map(repr, self))}}}"


class values_view(_View, _abc.ValuesView):
    __slots__ = ()
    _name = "values_view"

    def _text(self):
        return repr(list(self))


class items_view(_View, _abc.ItemsView):
    __slots__ = ()
    _name = "items_view"
    _from_iterable = HashTrieSet

    def _text(self):
        return repr(list(self))


class HashTrieMap(_Final):
    __slots__ = ()

    def __new__(cls, value=(), **items):
        return _make(cls, _dict_of(value) | items)

    @classmethod
    def convert(cls, value):
        return value if isinstance(value, HashTrieMap) else cls(value)

    @classmethod
    def fromkeys(cls, keys, value=None):
        return _make(cls, dict.fromkeys(keys, value))

    def __reduce__(self):
        return HashTrieMap, (dict(self._held),)

    def __repr__(self):
        return f"HashTrieMap({self._held!r})"

    def __eq__(self, other):
        return self._held == other._held if isinstance(other, HashTrieMap) else NotImplemented

    def __hash__(self):
        for key, value in self._held.items():
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"Unhashable type in HashTrieMap of key {key!r}: {value!r}"
                ) from None
        return hash(frozenset(self._held.items()))

    def __getitem__(self, key):
        return self._held[key]

    def get(self, key, default=None):
        return self._held.get(key, default)

    def keys(self):
        return keys_view(self)

    def values(self):
        return values_view(self)

    def items(self):
        return items_view(self)

    def insert(self, key, value):
        return _make(HashTrieMap, self._held | {key: value})

    def discard(self, key):
        return _make(HashTrieMap, {k: v for k, v in self._held.items() if k != key})

    def remove(self, key):
        if key not in self._held:
            raise KeyError(key)
        return self.discard(key)

    def update(self, *maps, **items):
        held = dict(self._held)
        for one in maps:
            held.update(_dict_of(one))
        return _make(HashTrieMap, held | items)


_abc.Mapping.register(HashTrieMap)


def _dict_of(value):
    """A new dictionary of a mapping or of pairs."""
    if isinstance(value, _abc.Mapping):
        return {key: value[key] for key in value}
    held = {}
    for pair in value:
        if not isinstance(pair, tuple):
            raise TypeError(f"'{type(pair).__name__}' object is not an instance of 'tuple'")
        key, held[key] = pair[0], pair[1]
    return held


class _Sequence(_Final):
    """Holds a tuple; made of one iterable, or of several elements."""

    __slots__ = ()

    def __new__(cls, *elements):
        return _make(cls, tuple(elements[0]) if len(elements) == 1 else elements)

    def __reduce__(self):
        return type(self), (list(self._held),)

    def __repr__(self):
        return f"{type(self).__name__}({list(self._held)!r})"

    def __eq__(self, other):
        return self._held == other._held if type(other) is type(self) else NotImplemented

    def __hash__(self):
        for place, element in enumerate(self._held):
            try:
                hash(element)
            except TypeError:
                kind = type(self).__name__
                raise TypeError(
                    f"Unhashable type at {place} element in {kind}: {element!r}"
                ) from None
        return hash((type(self).__name__, self._held))


class List(_Sequence):
    __slots__ = ()

    def __new__(cls, *elements):
        if len(elements) == 1 and not hasattr(elements[0], "__iter__"):
            raise TypeError(f"'{type(elements[0]).__name__}' object is not reversible")
        return super().__new__(cls, *elements)

    def __reversed__(self):
        return reversed(self._held)

    @property
    def first(self):
        if not self._held:
            raise IndexError("empty list has no first element")
        return self._held[0]

    @property
    def rest(self):
        return _make(List, self._held[1:])

    def push_front(self, value):
        return _make(List, (value, *self._held))

    def drop_first(self):
        if not self._held:
            raise IndexError("empty list has no first element")
        return self.rest


class Queue(_Sequence):
    __slots__ = ()

    def is_empty(self):
        return not self._held

    def peek(self):
        if not self._held:
            raise IndexError("peeked an empty queue")
        return self._held[0]

    def enqueue(self, value):
        return _make(Queue, (*self._held, value))

    def dequeue(self):
        if not self._held:
            raise IndexError("dequeued an empty queue")
        return _make(Queue, self._held[1:])


class Stack(_Sequence):
    """Its last element is the top, which iteration gives first."""

    __slots__ = ()

    def __iter__(self):
        return reversed(self._held)

    def peek(self):
        if not self._held:
            raise IndexError("peeked an empty stack")
        return self._held[-1]

    def push(self, value):
        return _make(Stack, (*self._held, value))

    def pop(self):
        if not self._held:
            raise IndexError("popped an empty stack")
        return _make(Stack, self._held[:-1])
