"""C's number types and their sizes; no shared libraries, which WASI does not have.

Packages ask for `sizeof(c_long)` or name a type without ever calling C. That
works. Everything that would load a library or touch memory by address raises
OSError with the reason, and what has no meaning without it (Structure, POINTER)
is absent, as in any module that lacks a name.
"""

import struct as _struct

__version__ = "1.1.0"

_REASON = "WebAssembly guests cannot load shared libraries"

DEFAULT_MODE = RTLD_LOCAL = 0
RTLD_GLOBAL = 0x100


class ArgumentError(Exception):
    """Never raised here: there is nothing to call."""


class _SimpleCData:
    """A value of a C type, with C's wrapping of integers."""

    _type_ = ""

    def __init__(self, value=None):
        self.value = self._default() if value is None else value

    @classmethod
    def _default(cls):
        return {"?": False, "c": b"\0", "u": "\0"}.get(
            cls._type_, 0.0 if cls._type_ in "fd" else 0
        )

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        code = self._type_
        if code in "bBhHiIlLqQ":
            if not isinstance(value, int):
                raise TypeError(f"an integer is required, not {type(value).__name__}")
            bits = 8 * sizeof(type(self))
            value &= (1 << bits) - 1
            if code.islower() and value >> (bits - 1):
                value -= 1 << bits
        elif code == "u":
            if not isinstance(value, str) or len(value) != 1:
                raise TypeError("unicode string expected instead of "
                                f"{type(value).__name__} instance")
        elif code == "P":
            if value is not None and not isinstance(value, int):
                raise TypeError("cannot be converted to pointer")
            value = value or None
        else:
            value = _struct.unpack(f"<{code}", _struct.pack(f"<{code}", value))[0]
        self._value = value

    def __repr__(self):
        return f"{type(self).__name__}({self.value!r})"

    def __bool__(self):
        return bool(self.value)


def _type(name, code):
    return type(name, (_SimpleCData,), {"_type_": code, "__module__": __name__})


c_bool = _type("c_bool", "?")
c_char = _type("c_char", "c")
c_wchar = _type("c_wchar", "u")
c_byte = _type("c_byte", "b")
c_ubyte = _type("c_ubyte", "B")
c_short = _type("c_short", "h")
c_ushort = _type("c_ushort", "H")
c_int = _type("c_int", "i")
c_uint = _type("c_uint", "I")
c_long = _type("c_long", "l")
c_ulong = _type("c_ulong", "L")
c_longlong = _type("c_longlong", "q")
c_ulonglong = _type("c_ulonglong", "Q")
c_float = _type("c_float", "f")
c_double = _type("c_double", "d")
c_void_p = _type("c_void_p", "P")
c_int8, c_uint8, c_int16, c_uint16 = c_byte, c_ubyte, c_short, c_ushort
c_int32, c_uint32, c_int64, c_uint64 = c_int, c_uint, c_longlong, c_ulonglong
c_size_t, c_ssize_t, c_time_t = c_ulong, c_long, c_longlong


def sizeof(thing):
    """The size in bytes of a type or of a value of one."""
    kind = thing if isinstance(thing, type) else type(thing)
    if not issubclass(kind, _SimpleCData) or kind is _SimpleCData:
        raise TypeError("this type has no size")
    return 4 if kind._type_ == "u" else _struct.calcsize(kind._type_)


alignment = sizeof


class CDLL:
    """Says why there is no library to load."""

    def __init__(self, name=None, *arguments, **options):
        raise OSError(f"{name}: {_REASON}")


class PyDLL(CDLL):
    """The same."""


class LibraryLoader:
    """Attributes and items are libraries: there are none."""

    def __init__(self, kind):
        self._kind = kind

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._kind(name)

    def __getitem__(self, name):
        return self._kind(name)

    def LoadLibrary(self, name):
        return self._kind(name)


cdll = LibraryLoader(CDLL)
pydll = LibraryLoader(PyDLL)


def get_errno():
    """Always 0: no call of C can set it."""
    return 0


def set_errno(value):
    """Accepted and forgotten."""
    return 0
