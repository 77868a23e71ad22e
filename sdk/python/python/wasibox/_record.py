"""Classes of named values.

They are like those of ``dataclasses``, but need neither its import nor its code generation, which
took two thirds of the time to import this package. ``dataclasses.fields``, ``asdict`` and
``replace`` work with them, because the attribute that these read is made when they are called.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, ClassVar

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda decorated: decorated


class _Field:
    """The options of a field."""

    __slots__ = ("annotation", "compare", "default", "factory", "repr")

    def __init__(self, default: Any, factory: Callable[[], Any] | None, repr: bool, compare: bool) -> None:
        self.default, self.factory = default, factory
        self.repr, self.compare = repr, compare
        self.annotation: Any = None


_MISSING: Any = object()


def field(
    *,
    default: Any = _MISSING,
    default_factory: Callable[[], Any] | None = None,
    repr: bool = True,
    compare: bool = True,
) -> Any:
    """Returns the options of a field, like ``dataclasses.field``."""
    return _Field(default, default_factory, repr, compare)


class _DataclassFields:
    """The attribute of a class that ``dataclasses`` needs, which is made when it is first read."""

    def __get__(self, instance: Record | None, owner: type[Record]) -> dict[str, Any]:
        import dataclasses

        def of(name: str) -> tuple[str, Any, Any]:
            one = owner._fields[name]
            default: Any = dataclasses.MISSING if one.default is _MISSING else one.default
            factory: Any = dataclasses.MISSING if one.factory is None else one.factory
            made: Any = dataclasses.field(
                default=default, default_factory=factory, repr=one.repr, compare=one.compare
            )
            return name, one.annotation, made

        twin: Any = dataclasses.make_dataclass(owner.__name__, [of(name) for name in owner._fields])
        fields: dict[str, Any] = twin.__dataclass_fields__
        # Replaces this descriptor.
        setattr(owner, "__dataclass_fields__", fields)
        return fields


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record:
    """The base of classes of named values, which cannot be changed.

    Objects are compared by their values, and ``repr`` shows the values.
    """

    _fields: ClassVar[dict[str, _Field]] = {}
    __dataclass_fields__ = _DataclassFields()
    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        fields = dict(cls._fields)
        for name, annotation in cls.__annotations__.items():
            default = cls.__dict__.get(name, _MISSING)
            if isinstance(default, _Field):
                fields[name] = default
                if default.default is _MISSING:
                    delattr(cls, name)
                else:
                    setattr(cls, name, default.default)
            else:
                fields[name] = _Field(default, None, True, True)
            fields[name].annotation = annotation
        cls._fields = fields
        setattr(cls, "__match_args__", tuple(fields))

    def __init__(self, *args: Any, **values: Any) -> None:
        fields, kind = self._fields, type(self).__name__
        if len(args) > len(fields):
            raise TypeError(f"{kind}() takes {len(fields)} arguments at most, {len(args)} were given")
        for name, value in zip(fields, args):
            if name in values:
                raise TypeError(f"{kind}() got multiple values for argument {name!r}")
            values[name] = value
        own = self.__dict__
        for name, one in fields.items():
            if name in values:
                own[name] = values.pop(name)
            elif one.factory is not None:
                own[name] = one.factory()
            elif one.default is not _MISSING:
                own[name] = one.default
            else:
                raise TypeError(f"{kind}() missing the argument {name!r}")
        for name in values:
            raise TypeError(f"{kind}() got an unexpected argument {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to {name!r}: a {type(self).__name__} stays as it is")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete {name!r}: a {type(self).__name__} stays as it is")

    def _compared(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name, one in self._fields.items() if one.compare)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __replace__(self, **changes: Any) -> Any:
        return type(self)(**{**self.__dict__, **changes})

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name, one in self._fields.items() if one.repr)
        return f"{type(self).__name__}({shown})"
