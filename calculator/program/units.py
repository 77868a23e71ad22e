"""Units with exact factors to SI and dimensions, and the arithmetic of quantities.

Factors are those of the SI brochure (9th edition), of the international yard and pound agreement of
1959, and of NIST Special Publication 811, appendix B. Gallons, pints, cups and fluid ounces are
those of the United States. A ton is 2,000 lb, a calorie is the thermochemical one (4.184 J), a Btu
is that of the International Table, and a month is a twelfth of a year of 365.25 days. For bytes, K
is 1000 and Ki is 1024.
"""

from dataclasses import dataclass

from sympy import Integer, Rational, S, pi, sympify

from .errors import CalculatorError, Mismatch

# The base units: metre, kilogram, second, ampere, kelvin, mole, candela, bit.
_BASES = "m kg s A K mol cd bit".split()
_NONE = (0,) * len(_BASES)


@dataclass(frozen=True)
class UnitOf:
    factor: object
    dims: tuple
    # For a temperature scale, its zero in degrees of the scale above absolute zero.
    offset: object = None


# Each line has names, `=`, a factor and base units. After a name, `*` allows SI prefixes and `+`
# those of bytes.
_TABLE = """
m* meter metre meters metres = 1 m
g* gram grams gramme = 1/1000 kg
s* sec secs second seconds = 1 s
A* amp amps ampere amperes = 1 A
K kelvin kelvins = 1 K
mol* mole moles = 1 mol
cd candela = 1 cd
bit+ bits = 1 bit
B+ byte bytes = 8 bit
inch inches in = 0.0254 m
ft foot feet = 0.3048 m
yd yard yards = 0.9144 m
mi mile miles = 1609.344 m
nmi = 1852 m
mil thou = 0.0000254 m
fathom fathoms = 1.8288 m
furlong furlongs = 201.168 m
angstrom angstroms = 1/10^10 m
micron microns = 1/10^6 m
au AU = 149597870700 m
ly lightyear lightyears = 9460730472580800 m
pc* parsec parsecs = 149597870700*648000/pi m
acre acres = 4046.8564224 m^2
ha hectare hectares = 10000 m^2
sqft = 0.09290304 m^2
sqin = 0.00064516 m^2
sqmi = 2589988.110336 m^2
m2 sqm = 1 m^2
km2 sqkm = 10^6 m^2
cm2 = 1/10^4 m^2
mm2 = 1/10^6 m^2
ft2 = 0.09290304 m^2
in2 = 0.00064516 m^2
m3 = 1 m^3
cm3 cc = 1/10^6 m^3
mm3 = 1/10^9 m^3
km3 = 10^9 m^3
ft3 cuft = 0.028316846592 m^3
in3 cuin = 0.000016387064 m^3
L* l* liter litre liters litres = 1/1000 m^3
gal gallon gallons = 0.003785411784 m^3
qt quart quarts = 0.000946352946 m^3
pt pint pints = 0.000473176473 m^3
cup cups = 0.0002365882365 m^3
floz = 0.0000295735295625 m^3
tbsp tablespoon tablespoons = 0.00001478676478125 m^3
tsp teaspoon teaspoons = 0.00000492892159375 m^3
bbl barrel barrels = 0.158987294928 m^3
t tonne tonnes = 1000 kg
lb lbs pound pounds lbm = 0.45359237 kg
oz ounce ounces = 0.028349523125 kg
st stone stones = 6.35029318 kg
ton tons shortton = 907.18474 kg
grain grains = 0.00006479891 kg
carat carats ct = 0.0002 kg
ozt troyounce = 0.0311034768 kg
min mins minute minutes = 60 s
h hr hrs hour hours = 3600 s
d day days = 86400 s
week weeks wk = 604800 s
fortnight fortnights = 1209600 s
month months = 2629800 s
year years yr yrs = 31557600 s
decade decades = 315576000 s
century centuries = 3155760000 s
mph = 0.44704 m s^-1
kph kmh = 5/18 m s^-1
knot knots kn kt = 463/900 m s^-1
mach = 340.29 m s^-1
N* newton newtons = 1 kg m s^-2
lbf = 4.4482216152605 kg m s^-2
dyn dyne dynes = 1/10^5 kg m s^-2
kgf = 9.80665 kg m s^-2
J* joule joules = 1 kg m^2 s^-2
Wh* = 3600 kg m^2 s^-2
cal* calorie calories = 4.184 kg m^2 s^-2
Cal = 4184 kg m^2 s^-2
eV* electronvolt electronvolts = 1.602176634/10^19 kg m^2 s^-2
BTU Btu btu = 1055.05585262 kg m^2 s^-2
therm therms = 105505585.262 kg m^2 s^-2
erg ergs = 1/10^7 kg m^2 s^-2
W* watt watts = 1 kg m^2 s^-3
hp horsepower = 745.69987158227022 kg m^2 s^-3
Pa* pascal pascals = 1 kg m^-1 s^-2
bar* bars = 100000 kg m^-1 s^-2
atm atmosphere atmospheres = 101325 kg m^-1 s^-2
psi = 44482216152605/6451600000 kg m^-1 s^-2
torr Torr = 101325/760 kg m^-1 s^-2
mmHg = 133.322387415 kg m^-1 s^-2
inHg = 3386.388640341 kg m^-1 s^-2
Hz* hertz = 1 s^-1
rpm = 1/60 s^-1
Bq* becquerel = 1 s^-1
V* volt volts = 1 kg m^2 s^-3 A^-1
ohm* ohms = 1 kg m^2 s^-3 A^-2
coulomb coulombs = 1 s A
Ah* = 3600 s A
farad farads = 1 kg^-1 m^-2 s^4 A^2
siemens = 1 kg^-1 m^-2 s^3 A^2
weber webers Wb = 1 kg m^2 s^-2 A^-1
tesla teslas = 1 kg s^-2 A^-1
henry henries = 1 kg m^2 s^-2 A^-2
gray Gy = 1 m^2 s^-2
sievert Sv = 1 m^2 s^-2
rad rads radian radians = 1
deg degs degree degrees ° = pi/180
grad grads gon = pi/200
arcmin arcminute arcminutes = pi/10800
arcsec arcsecond arcseconds = pi/648000
turn turns rev revolution revolutions = 2*pi
dozen = 12
"""
_PREFIXES = {"Y": 24, "Z": 21, "E": 18, "P": 15, "T": 12, "G": 9, "M": 6, "k": 3, "h": 2, "da": 1, "d": -1, "c": -2,
             "m": -3, "μ": -6, "u": -6, "mu": -6, "n": -9, "p": -12, "f": -15}  # fmt: skip
_LONG_PREFIXES = {"tera": 12, "giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deca": 1, "deci": -1, "centi": -2,
                  "milli": -3, "micro": -6, "nano": -9, "pico": -12, "femto": -15}  # fmt: skip
_BYTES = {"K": 10**3, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18,
          "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}  # fmt: skip
_LONG_BYTES = {"kilo": 10**3, "mega": 10**6, "giga": 10**9, "tera": 10**12, "peta": 10**15, "kibi": 2**10,
               "mebi": 2**20, "gibi": 2**30, "tebi": 2**40}  # fmt: skip


def _exact(text):
    """Parses a factor of the table: a product or quotient of decimals, powers and pi."""
    value = S.One
    for part in text.replace("/", "*/").split("*"):
        base, _, power = part.lstrip("/").partition("^")
        one = (pi if base == "pi" else Rational(base)) ** int(power or 1)
        value = value / one if part.startswith("/") else value * one
    return value


def _read():
    """Returns all units by name, with prefixes. Names in the table take precedence."""
    table, made = {}, {}
    for line in filter(None, _TABLE.splitlines()):
        names, _, meaning = line.partition(" = ")
        factor, *bases = meaning.split()
        powers = {name: int(power or 1) for name, _, power in (base.partition("^") for base in bases)}
        unit = UnitOf(_exact(factor), tuple(powers.get(base, 0) for base in _BASES))
        for name in names.split():
            table[name.rstrip("*+")] = unit
        for prefix, stem, times in _prefixed(names.split()):
            made[prefix + stem] = UnitOf(unit.factor * times, unit.dims)
    celsius = UnitOf(S.One, table["K"].dims, Rational("273.15"))
    fahrenheit = UnitOf(Rational(5, 9), table["K"].dims, Rational("459.67"))
    table.update(dict.fromkeys(["C", "°C", "celsius", "degC", "centigrade"], celsius))
    table.update(dict.fromkeys(["F", "°F", "fahrenheit", "degF"], fahrenheit))
    table["°K"] = table["K"]
    return {**made, **table}


def _prefixed(names):
    """Yields each prefix for the names of a line, with the name and the factor.

    Symbols get the short prefixes, words the long ones.
    """
    is_si, is_byte = (any(name.endswith(mark) for name in names) for mark in "*+")
    words = [name.rstrip("*+") for name in names if name.rstrip("*+").isalpha() and len(name.rstrip("*+")) > 2]
    for name in names:
        for prefix, power in _PREFIXES.items() if name.endswith("*") else ():
            yield prefix, name[:-1], Integer(10) ** power
        for prefix, times in _BYTES.items() if name.endswith("+") else ():
            yield prefix, name[:-1], times
    for word in words:
        for prefix, power in _LONG_PREFIXES.items() if is_si else ():
            yield prefix, word, Integer(10) ** power
        for prefix, times in _LONG_BYTES.items() if is_byte else ():
            yield prefix, word, times


UNITS = _read()
NAMES = frozenset(name for name in UNITS if name.islower())
_COMPOUND = {
    "mph": (("mi", 1), ("h", -1)),
    "kph": (("km", 1), ("h", -1)),
    "kmh": (("km", 1), ("h", -1)),
    **dict.fromkeys(("knot", "knots", "kn", "kt"), (("nmi", 1), ("h", -1))),
}
_SHOWN = {"C": "°C", "F": "°F", "celsius": "°C", "fahrenheit": "°F", "degC": "°C", "degF": "°F"}


def find(name):
    """Returns the unit of that name, or None. Words may be written in capitals."""
    found = UNITS.get(name)
    if found is None and len(name) > 2 and name.lower() in NAMES:
        found = UNITS[name.lower()]
    return found


@dataclass(frozen=True)
class Quantity:
    # The number in SI base units.
    value: object
    dims: tuple
    # The units in which it is shown, each a name and a power.
    shown: tuple
    # Whether it is a point on a temperature scale, not a difference.
    is_point: bool = False


def of(name):
    """Returns one of a unit. This is a plain number for a unit without a dimension (angles)."""
    unit = find(name)
    return unit.factor if unit.dims == _NONE else Quantity(unit.factor, unit.dims, ((name, S.One),))


def point(number, name):
    """Returns a temperature on a scale. Raises an error if it is below absolute zero."""
    unit = find(name)
    value = (number + unit.offset) * unit.factor
    if value.is_number and value < 0:
        raise CalculatorError(f"{number} {_SHOWN.get(name, name)} is below absolute zero")
    return Quantity(value, unit.dims, ((name, S.One),), True)


def is_scale(name):
    """Returns whether a name is a unit with its own zero (a temperature scale)."""
    unit = find(name)
    return unit is not None and unit.offset is not None


def _plain(value, dims, shown):
    if not any(dims):
        return value
    return Quantity(value, dims, tuple((name, power) for name, power in shown if power != 0))


def dims_of(value):
    return value.dims if isinstance(value, Quantity) else _NONE


def number_of(value):
    return value.value if isinstance(value, Quantity) else value


def add(left, right, sign):
    if dims_of(left) != dims_of(right):
        raise Mismatch(f"{unit_text(left.shown)} and {unit_text(right.shown)} cannot be added or compared")
    if left.is_point and right.is_point:
        if sign > 0:
            raise CalculatorError("two temperatures of a scale cannot be added; a difference is in K")
        return Quantity(left.value - right.value, left.dims, (("K", S.One),))
    value = number_of(left) + sign * number_of(right)
    return Quantity(value, left.dims, left.shown, left.is_point or right.is_point)


def multiply(left, right, power=1):
    """Returns the product of two quantities or numbers, or with the power -1 their quotient."""
    dims = tuple(a + power * b for a, b in zip(dims_of(left), dims_of(right)))
    shown = dict(_taken_apart(left) if isinstance(right, Quantity) else getattr(left, "shown", ()))
    for name, of_unit in _taken_apart(right) if isinstance(left, Quantity) else getattr(right, "shown", ()):
        same = next((n for n in shown if find(n).dims == find(name).dims), name)
        shown[same] = shown.get(same, 0) + power * of_unit
    return _plain(number_of(left) * number_of(right) ** power, dims, shown.items())


def _taken_apart(value):
    """Yields the units of a quantity, with compound ones split: `mph` times `h` is miles."""
    for name, power in getattr(value, "shown", ()):
        for part, of_unit in _COMPOUND.get(name, ((name, 1),)):
            yield part, power * of_unit


def raise_to(quantity, power):
    if not power.is_Rational:
        raise Mismatch("a quantity with a unit can be raised to a number only")
    dims = tuple(power * d for d in quantity.dims)
    shown = tuple((name, power * of_unit) for name, of_unit in quantity.shown)
    return _plain(quantity.value**power, dims, shown)


def in_shown(quantity):
    """Returns the number of a quantity in the units in which it is shown."""
    ((name, power), *more) = quantity.shown
    if quantity.is_point and not more and power == 1 and is_scale(name):
        unit = find(name)
        return quantity.value / unit.factor - unit.offset
    value = quantity.value
    for name, power in quantity.shown:
        value = value / find(name).factor ** power
    return sympify(value)


def unit_text(shown):
    """Returns units as people write them: `km/h`, `m/s^2`, `kg m^2`."""
    above = [_powered(name, power) for name, power in shown if power > 0]
    below = [_powered(name, -power) for name, power in shown if power < 0]
    if not below:
        return " ".join(above)
    if not above:
        return " ".join(_powered(name, power) for name, power in shown)
    text = " ".join(above)
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({' '.join(below)})"


def singular(name):
    """Returns the singular of a unit's name, such as `mile` for `miles`, or the name itself."""
    name = {"feet": "foot", "inches": "inch"}.get(name, name)
    return name[:-1] if name.endswith("s") and len(name) > 3 and find(name[:-1]) == find(name) else name


def _powered(name, power):
    name = _SHOWN.get(name, name)
    return name if power == 1 else f"{name}^{power}" if power.is_Integer and power > 0 else f"{name}^({power})"
