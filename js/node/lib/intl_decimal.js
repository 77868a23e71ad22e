// `Intl`: exact decimal numbers and their rounding, digits, and plural categories.
(function (native, host) {
'use strict';

const { intl } = host;

// A decimal is `{ negative, digits, exponent }`, whose value is `digits` (a BigInt) times ten to
// the exponent, or `{ negative, special }` for NaN and infinity.

const ten = (n) => 10n ** BigInt(n);

function decimalOfText(text, negative) {
  const { 1: whole, 2: fraction = '', 3: exponent = '0' } = /^(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i.exec(text);
  return { negative, digits: BigInt(`${whole}${fraction}` || '0'), exponent: Number(exponent) - fraction.length };
}

// Returns the decimal for a value, as ToIntlMathematicalValue of ECMA-402 does. A Number has the
// digits of its shortest text.
function decimalOf(value) {
  if (typeof value === 'object' && value !== null) {
    const method = value[Symbol.toPrimitive];
    value = method === undefined || method === null ? primitive(value) : method.call(value, 'number');
  }
  if (typeof value === 'bigint') return { negative: value < 0n, digits: value < 0n ? -value : value, exponent: 0 };
  if (typeof value === 'string') {
    const text = value.trim();
    const found = /^([+-]?)((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i.exec(text);
    if (found !== null) {
      const exponent = Number(/e(.*)$/i.exec(found[2])?.[1] ?? 0);
      // Numbers of thousands of digits take too long.
      if (Math.abs(exponent) < 1000) return decimalOfText(found[2], found[1] === '-');
    }
    value = Number(text);
  } else {
    value = Number(value);
  }
  if (Number.isNaN(value)) return { negative: false, special: 'nan' };
  const negative = value < 0 || Object.is(value, -0);
  if (!Number.isFinite(value)) return { negative, special: 'infinity' };
  return decimalOfText(String(Math.abs(value)), negative);
}
function primitive(object) {
  for (const name of ['valueOf', 'toString']) {
    if (typeof object[name] !== 'function') continue;
    const value = object[name]();
    if (typeof value !== 'object' || value === null) return value;
  }
  throw new TypeError('Cannot convert object to primitive value');
}

// Returns the exponent of the first digit; 0 for zero.
const magnitude = ({ digits, exponent }) => digits === 0n ? 0 : String(digits).length - 1 + exponent;

const UP = {
  ceil: (negative) => !negative, floor: (negative) => negative, expand: () => true, trunc: () => false,
  halfCeil: (negative, half) => half > 0 || (half === 0 && !negative), halfFloor: (negative, half) => half > 0 || (half === 0 && negative),
  halfExpand: (negative, half) => half >= 0, halfTrunc: (negative, half) => half > 0,
  halfEven: (negative, half, odd) => half > 0 || (half === 0 && odd),
};

// Rounds to a multiple of `increment` in the last of `fraction` decimal places.
function roundTo(decimal, fraction, mode, increment = 1) {
  const { negative, digits, exponent } = decimal;
  const shift = exponent + fraction;
  if (shift >= 0 && increment === 1) return decimal;
  const scaled = shift > 0 ? digits * ten(shift) : digits;
  const unit = BigInt(increment) * (shift < 0 ? ten(-shift) : 1n);
  let whole = scaled / unit;
  const rest = scaled % unit;
  if (rest !== 0n) {
    const twice = rest * 2n;
    const half = twice > unit ? 1 : twice < unit ? -1 : 0;
    if (UP[mode](negative, half, whole % 2n === 1n)) whole += 1n;
  }
  return { negative, digits: whole * BigInt(increment), exponent: -fraction };
}

// Returns the digits before and after the point, with at least `least` of the latter.
function plainDigits({ digits, exponent }, least) {
  let text = String(digits);
  let fraction = '';
  if (exponent >= 0) {
    text = digits === 0n ? '0' : text + '0'.repeat(exponent);
  } else {
    text = text.padStart(1 - exponent, '0');
    fraction = text.slice(exponent);
    text = text.slice(0, exponent);
  }
  let end = fraction.length;
  while (end > least && fraction[end - 1] === '0') end--;
  return { whole: text, fraction: fraction.slice(0, end).padEnd(least, '0') };
}

// Rounds a decimal by the digit options of a format. Returns the decimal and its digits.
function roundDecimal(decimal, rules) {
  const { roundingMode: mode, roundingIncrement: increment, minimumFractionDigits: leastFraction, maximumFractionDigits: mostFraction,
          minimumSignificantDigits: leastSignificant, maximumSignificantDigits: mostSignificant, roundingPriority: priority } = rules;
  const significant = () => {
    let place = mostSignificant - 1 - magnitude(decimal);
    const value = roundTo(decimal, place, mode);
    const least = Math.max(0, leastSignificant - 1 - magnitude(value));
    if (value.digits === 0n) place = mostSignificant - 1;
    return { value, place, least };
  };
  const fixed = () => ({ value: roundTo(decimal, mostFraction, mode, increment), place: mostFraction, least: leastFraction });
  let chosen;
  if (priority === 'significantDigits') chosen = significant();
  else if (priority === 'fractionDigits') chosen = fixed();
  else {
    const [a, b] = [significant(), fixed()];
    const first = priority === 'morePrecision' ? a.place >= b.place : a.place <= b.place;
    chosen = first ? a : b;
  }
  const { whole, fraction } = plainDigits(chosen.value, chosen.least);
  const isWhole = !/[1-9]/.test(fraction);
  return {
    value: chosen.value, whole: whole.padStart(rules.minimumIntegerDigits, '0'),
    fraction: rules.trailingZeroDisplay === 'stripIfInteger' && isWhole ? '' : fraction,
  };
}

// SetNumberFormatDigitOptions of ECMA-402.
function digitOptions(options, leastDefault, mostDefault, notation, compactRounding) {
  const { numberOption, option } = intl;
  const minimumIntegerDigits = numberOption(options.minimumIntegerDigits, 1, 21, 1, 'minimumIntegerDigits');
  let { minimumFractionDigits: leastFraction, maximumFractionDigits: mostFraction, minimumSignificantDigits: leastSignificant, maximumSignificantDigits: mostSignificant } = options;
  const INCREMENTS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000];
  const roundingIncrement = numberOption(options.roundingIncrement, 1, 5000, 1, 'roundingIncrement');
  if (!INCREMENTS.includes(roundingIncrement)) throw new RangeError('roundingIncrement value is out of range.');
  const roundingMode = option(options, 'roundingMode', 'string', Object.keys(UP), 'halfExpand', 'Intl.NumberFormat');
  const asked = option(options, 'roundingPriority', 'string', ['auto', 'morePrecision', 'lessPrecision'], 'auto', 'Intl.NumberFormat');
  const trailingZeroDisplay = option(options, 'trailingZeroDisplay', 'string', ['auto', 'stripIfInteger'], 'auto', 'Intl.NumberFormat');
  if (roundingIncrement !== 1) mostDefault = leastDefault;
  const rules = { minimumIntegerDigits, roundingIncrement, roundingMode, trailingZeroDisplay };
  const hasSignificant = leastSignificant !== undefined || mostSignificant !== undefined;
  const hasFraction = leastFraction !== undefined || mostFraction !== undefined;
  const needSignificant = asked !== 'auto' || hasSignificant;
  const needFraction = asked !== 'auto' || !(hasSignificant || (!hasFraction && compactRounding));
  if (needSignificant) {
    if (hasSignificant) {
      rules.minimumSignificantDigits = leastSignificant = numberOption(leastSignificant, 1, 21, 1, 'minimumSignificantDigits');
      rules.maximumSignificantDigits = numberOption(mostSignificant, leastSignificant, 21, 21, 'maximumSignificantDigits');
    } else {
      rules.minimumSignificantDigits = 1;
      rules.maximumSignificantDigits = 21;
    }
  }
  if (needFraction) {
    if (hasFraction) {
      leastFraction = numberOption(leastFraction, 0, 100, undefined, 'minimumFractionDigits');
      mostFraction = numberOption(mostFraction, 0, 100, undefined, 'maximumFractionDigits');
      if (leastFraction === undefined) leastFraction = Math.min(leastDefault, mostFraction);
      else if (mostFraction === undefined) mostFraction = Math.max(mostDefault, leastFraction);
      else if (leastFraction > mostFraction) throw new RangeError('maximumFractionDigits value is out of range.');
    } else {
      [leastFraction, mostFraction] = [leastDefault, mostDefault];
    }
    rules.minimumFractionDigits = leastFraction;
    rules.maximumFractionDigits = mostFraction;
  }
  if (!needSignificant && !needFraction) {
    Object.assign(rules, { minimumFractionDigits: 0, maximumFractionDigits: 0, minimumSignificantDigits: 1, maximumSignificantDigits: 2 });
    rules.roundingPriority = 'morePrecision';
    rules.shownPriority = 'morePrecision';
  } else if (asked !== 'auto') {
    rules.roundingPriority = rules.shownPriority = asked;
  } else {
    rules.roundingPriority = hasSignificant ? 'significantDigits' : 'fractionDigits';
    rules.shownPriority = 'auto';
  }
  if (roundingIncrement !== 1) {
    if (rules.roundingPriority !== 'fractionDigits') throw new TypeError('roundingIncrement value is invalid.');
    if (rules.minimumFractionDigits !== rules.maximumFractionDigits) throw new RangeError('roundingIncrement value is out of range.');
  }
  return rules;
}

// Adds the digit options of a format to the result of resolvedOptions.
function showDigitOptions(into, rules) {
  for (const name of ['minimumIntegerDigits', 'minimumFractionDigits', 'maximumFractionDigits', 'minimumSignificantDigits', 'maximumSignificantDigits']) {
    if (rules[name] !== undefined) into[name] = rules[name];
  }
}

// --- plural categories ---------------------------------------------------------------------------

// The rules are texts in the syntax of UTS 35, such as `n % 10 = 1 and n % 100 != 11`. Each becomes
// a list of alternatives, each of which is a list of relations.
const parsed = new Map();
function parseRule(text) {
  if (parsed.has(text)) return parsed.get(text);
  const relation = (part) => {
    const { 1: operand, 2: modulus, 3: sign, 4: list } = /^([nivwftce])(?: % (\d+))? (!?=) (.+)$/.exec(part.trim());
    const ranges = list.split(',').map((range) => range.split('..').map(Number)).map(([from, to = from]) => [from, to]);
    return { operand, modulus: modulus && Number(modulus), isNegated: sign === '!=', ranges };
  };
  const rule = text.split(' or ').map((side) => side.split(' and ').map(relation));
  parsed.set(text, rule);
  return rule;
}

// Returns the operands of a formatted number. `exponent` is that of a compact number.
function operands({ whole: all, fraction }, exponent = 0) {
  // ICU computes them from the last 18 digits.
  const whole = all.slice(-18);
  const trimmed = fraction.replace(/0+$/, '');
  return {
    n: Number(`${whole}.${fraction || '0'}`), i: Number(whole), v: fraction.length, w: trimmed.length,
    f: Number(fraction || '0'), t: Number(trimmed || '0'), c: exponent, e: exponent,
  };
}

function holds(rule, values) {
  return rule.some((side) => side.every(({ operand, modulus, isNegated, ranges }) => {
    const value = modulus === undefined ? values[operand] : values[operand] % modulus;
    return ranges.some(([from, to]) => Number.isInteger(value) && value >= from && value <= to) !== isNegated;
  }));
}

// Returns the value of a table by locale, for the locale or the nearest of its parents.
function byLocale(table, locale) {
  for (let at = locale.replaceAll('-', '_'); at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('_')))) {
    if (table[at] !== undefined) return table[at];
  }
  return table.root;
}

const ORDER = ['zero', 'one', 'two', 'few', 'many', 'other'];
function ruleSet(locale, kind) {
  const { rules, locales, locales_ordinals: ordinals } = intl.partOf('root/plurals');
  return rules[byLocale(kind === 'ordinal' ? ordinals : locales, locale)] ?? { other: '' };
}

function pluralOf(locale, values, kind = 'cardinal') {
  const set = ruleSet(locale, kind);
  for (const name of ['zero', 'one', 'two', 'few', 'many']) if (set[name] !== undefined && holds(parseRule(set[name]), values)) return name;
  return 'other';
}

function pluralOfRange(locale, from, to) {
  const { ranges: { locales, rules } } = intl.partOf('root/plurals');
  const table = rules[byLocale(locales, locale)] ?? [];
  return table.find((row) => row[0] === from && row[1] === to)?.[2] ?? to;
}

// --- Intl.PluralRules ----------------------------------------------------------------------------------

const states = new WeakMap();
class PluralRules {
  constructor(locales, options) {
    const requested = intl.canonicalList(locales);
    const given = intl.coerced(options);
    intl.option(given, 'localeMatcher', 'string', intl.MATCHER, 'best fit', 'Intl.PluralRules');
    const type = intl.option(given, 'type', 'string', ['cardinal', 'ordinal'], 'cardinal', 'Intl.PluralRules');
    const rules = digitOptions(given, 0, 3, 'standard', false);
    states.set(this, { ...intl.resolveLocale(requested, {}, [], () => []), type, rules });
  }
  select(value) {
    const { locale, type, rules } = intl.stateOf(states, this, 'select', 'PluralRules');
    return select(locale, type, rules, decimalOf(Number(value)));
  }
  selectRange(start, end) {
    const { locale, type, rules } = intl.stateOf(states, this, 'selectRange', 'PluralRules');
    if (start === undefined || end === undefined) throw new TypeError('Invalid range');
    const [from, to] = [Number(start), Number(end)];
    if (Number.isNaN(from) || Number.isNaN(to)) throw new RangeError('Invalid number value');
    return pluralOfRange(locale, select(locale, type, rules, decimalOf(from)), select(locale, type, rules, decimalOf(to)));
  }
  resolvedOptions() {
    const { locale, type, rules } = intl.stateOf(states, this, 'resolvedOptions', 'PluralRules');
    const out = { locale, type };
    showDigitOptions(out, rules);
    const set = ruleSet(locale, type);
    out.pluralCategories = ORDER.filter((name) => name === 'other' || set[name] !== undefined);
    out.roundingIncrement = rules.roundingIncrement;
    out.roundingMode = rules.roundingMode;
    out.roundingPriority = rules.shownPriority;
    out.trailingZeroDisplay = rules.trailingZeroDisplay;
    return out;
  }
}
function select(locale, type, rules, decimal) {
  if (decimal.special !== undefined) return 'other';
  return pluralOf(locale, operands(roundDecimal(decimal, rules)), type);
}
Object.defineProperty(PluralRules, 'length', { __proto__: null, value: 0, configurable: true });
intl.defineService('PluralRules', PluralRules);

Object.assign(intl, {
  PluralRules, decimalOf, magnitude, roundDecimal, digitOptions, showDigitOptions, operands, pluralOf, pluralOfRange, byLocale,
});
})
