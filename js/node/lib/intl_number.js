// `Intl.NumberFormat`.
//
// A number is formatted in layers: its digits; around them the text of a compact or scientific
// notation; around that the sign with a currency or percent sign; and outermost a unit or the name
// of a currency. A layer is a list of parts before and one after what it encloses.
(function (native, host) {
'use strict';

const { intl } = host;
const SERVICE = 'Intl.NumberFormat';

// --- patterns --------------------------------------------------------------------------------------

// Parses the affix of a pattern to tokens: `-`, `+`, `%`, `¤` or a literal `{ text }`.
function affix(text) {
  const tokens = [];
  let literal = '';
  const flush = () => {
    if (literal !== '') tokens.push({ text: literal });
    literal = '';
  };
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '\'') {
      const end = text.indexOf('\'', i + 1);
      literal += end === i + 1 ? '\'' : text.slice(i + 1, end);
      i = end;
    } else if ('-+%‰¤'.includes(text[i])) {
      flush();
      tokens.push(text[i]);
    } else {
      literal += text[i];
    }
  }
  flush();
  return tokens;
}

const patterns = new Map();
// Parses a pattern such as `#,##0.00 ¤;(¤#)`.
function parsePattern(text) {
  if (patterns.has(text)) return patterns.get(text);
  const [positive, negative] = text.split(';');
  const split = (side) => {
    const { 1: before, 2: number, 3: after } = /^((?:'[^']*'|[^#0,.'])*)([#0,.]*(?:E0+)?)(.*)$/s.exec(side);
    return { prefix: affix(before), suffix: affix(after), number };
  };
  const main = split(positive);
  const groups = main.number.split('.')[0].split(',');
  const primary = groups.length > 1 ? groups.at(-1).length : 0;
  const made = { main, negative: negative === undefined ? undefined : split(negative), primary, secondary: groups.length > 2 ? groups.at(-2).length : primary };
  patterns.set(text, made);
  return made;
}

// --- digits ------------------------------------------------------------------------------------------

function digitsOf(system) {
  const digits = [...intl.index().systems[system] ?? '0123456789'];
  return system === 'latn' ? (text) => text : (text) => text.replace(/[0-9]/g, (digit) => digits[digit]);
}

function grouped(state, whole) {
  const { primary, secondary, minimum } = state;
  if (state.useGrouping === false || primary === 0 || whole.length < primary + minimum) return [whole];
  const groups = [whole.slice(-primary)];
  for (let end = whole.length - primary; end > 0; end -= secondary) groups.unshift(whole.slice(Math.max(0, end - secondary), end));
  return groups;
}

function numberParts(state, { whole, fraction }) {
  const { digits, symbols } = state;
  const isMoney = state.style === 'currency';
  const parts = [];
  grouped(state, whole).forEach((group, i) => {
    if (i > 0) parts.push({ type: 'group', value: isMoney ? symbols.currencyGroup ?? symbols.group : symbols.group });
    parts.push({ type: 'integer', value: digits(group) });
  });
  if (fraction !== '') {
    parts.push({ type: 'decimal', value: isMoney ? symbols.currencyDecimal ?? symbols.decimal : symbols.decimal }, { type: 'fraction', value: digits(fraction) });
  }
  return parts;
}

// --- compact and scientific notation -------------------------------------------------------------------

// Returns the table of compact patterns.
function compactTable(state) {
  const { data, latin, compactDisplay, style, currencyDisplay } = state;
  const kind = style === 'currency' && currencyDisplay !== 'name' ? 'currencyFormat' : 'decimalFormat';
  const widths = compactDisplay === 'long' ? ['patternsLong', 'patternsShort'] : ['patternsShort'];
  for (const width of widths) for (const of of [data, latin]) if (of[width]?.[kind] !== undefined) return of[width][kind];
  return {};
}

function compactEntry(state, size) {
  const table = compactTable(state);
  const most = Math.max(...Object.keys(table).filter((key) => /^10*$/.test(key)).map((key) => key.length - 1));
  const at = Math.min(size, most);
  return at < 3 ? undefined : { forms: table[`1${'0'.repeat(at)}`], size: at };
}

// Returns the power of ten by which a compact number is divided.
function compactShift(state, size) {
  const entry = compactEntry(state, size);
  const pattern = entry?.forms?.other;
  if (pattern === undefined || pattern === '0') return 0;
  return entry.size + 1 - /0+/.exec(pattern.replace(/'[^']*'/g, ''))[0].length;
}

// Scales a decimal by its notation and rounds it. Returns its digits and the power of ten.
function scaled(state, decimal) {
  const { notation } = state;
  const shiftOf = (size) => {
    if (notation === 'compact') return compactShift(state, size);
    return notation === 'engineering' ? Math.floor(size / 3) * 3 : size;
  };
  if (notation === 'standard') return { rounded: intl.roundDecimal(decimal, state.rules), power: 0, size: 0 };
  if (decimal.digits === 0n) return { rounded: intl.roundDecimal(decimal, state.rules), power: 0, size: 0 };
  let size = intl.magnitude(decimal);
  for (;;) {
    const power = shiftOf(size);
    const rounded = intl.roundDecimal({ ...decimal, exponent: decimal.exponent - power }, state.rules);
    const reached = rounded.value.digits === 0n ? size : intl.magnitude(rounded.value) + power;
    if (reached <= size || shiftOf(reached) === power) return { rounded, power, size: Math.max(size, reached) };
    size = reached;
  }
}

// --- signs ---------------------------------------------------------------------------------------------

function signOf(state, isNegative, isZero) {
  switch (state.signDisplay) {
    case 'auto': return isNegative ? '-' : '';
    case 'always': return isNegative ? '-' : '+';
    case 'exceptZero': return isZero ? '' : isNegative ? '-' : '+';
    case 'negative': return isNegative && !isZero ? '-' : '';
    default: return '';
  }
}

// Returns the parts for tokens of an affix.
function affixParts(state, tokens, currency, literal = 'literal') {
  const { symbols } = state;
  const out = [];
  for (const token of tokens) {
    if (token === '-') out.push({ type: 'minusSign', value: symbols.minusSign });
    else if (token === '+') out.push({ type: 'plusSign', value: symbols.plusSign });
    else if (token === '~') out.push({ type: 'approximatelySign', value: symbols.approximatelySign });
    else if (token === '%') out.push({ type: 'percentSign', value: symbols.percentSign });
    else if (token === '¤') out.push({ type: 'currency', value: currency });
    else if (literal === 'compact') {
      // The text of a compact notation is a part of its own, without the space around it.
      const { 1: before, 2: middle, 3: after } = /^(\s*)(.*?)(\s*)$/s.exec(token.text);
      if (before !== '') out.push({ type: 'literal', value: before });
      if (middle !== '') out.push({ type: 'compact', value: middle });
      if (after !== '') out.push({ type: 'literal', value: after });
    } else {
      out.push({ type: 'literal', value: token.text });
    }
  }
  return out;
}

const isLetter = (text) => /[^\p{S}\p{Z}]/u.test(text);
// Adds the space that CLDR requires between the letters of a currency and digits.
function spaced(before, inner, after) {
  const last = before.at(-1);
  const first = after[0];
  const isDigit = (text) => /\p{Nd}/u.test(text ?? '');
  const texts = inner.map((part) => part.value).join('');
  if (last?.type === 'currency' && isLetter([...last.value].at(-1) ?? ' ') && isDigit([...texts][0])) before.push({ type: 'literal', value: '\xa0' });
  if (first?.type === 'currency' && isLetter([...first.value][0] ?? ' ') && isDigit([...texts].at(-1))) after.unshift({ type: 'literal', value: '\xa0' });
}

// Returns the layer with the sign and the currency or percent sign.
function signLayer(state, text, sign, inner, isApproximate, literal) {
  const pattern = parsePattern(text);
  let { prefix, suffix } = pattern.main;
  const signs = [...isApproximate ? ['~'] : [], ...sign === '' ? [] : [sign]];
  const { negative } = pattern;
  const hasMinus = negative !== undefined && (negative.prefix.includes('-') || negative.suffix.includes('-'));
  if (negative !== undefined && (sign === '-' || (signs.length > 0 && hasMinus))) {
    // In a pattern for negative numbers other signs stand where the minus does.
    const replaced = (tokens) => tokens.flatMap((token) => token === '-' ? signs : [token]);
    [prefix, suffix] = [replaced(negative.prefix), replaced(negative.suffix)];
  } else {
    prefix = [...signs, ...prefix];
  }
  const before = affixParts(state, prefix, state.symbol, literal);
  const after = affixParts(state, suffix, state.symbol, literal);
  spaced(before, inner, after);
  return { before, after };
}

// Returns a layer for a pattern such as `{0} km`.
function unitLayer(pattern, type) {
  const [before, after] = pattern.split('{0}');
  const parts = (text) => {
    const { 1: head, 2: middle, 3: tail } = /^(\s*)(.*?)(\s*)$/s.exec(text ?? '');
    const out = [];
    if (head !== '') out.push({ type: 'literal', value: head });
    if (middle !== '') out.push({ type, value: middle });
    if (tail !== '') out.push({ type: 'literal', value: tail });
    return out;
  };
  // Some forms for one stand without the number.
  return { before: parts(before), after: parts(after), isAlone: after === undefined };
}

// --- units -----------------------------------------------------------------------------------------------

function unitPattern(state, plural) {
  const table = intl.dataOf(state.dataLocale, 'u')[state.unitDisplay];
  const form = (unit, of) => table[unit]?.[of] ?? table[unit]?.other;
  const whole = form(state.unit, plural);
  if (whole !== undefined) return whole;
  const [first, second] = state.unit.split('-per-');
  const numerator = form(first, plural);
  const { per } = table[second];
  if (per !== undefined) return per.replace('{0}', () => numerator);
  return table.per.replace('{0}', () => numerator).replace('{1}', () => form(second, 'one').replace('{0}', '').trim());
}

// --- formatting --------------------------------------------------------------------------------------------

// Formats a decimal. Returns its digits and its layers from the inside to the outside.
function formatLayers(state, decimal, isApproximate = false) {
  const { symbols, style, notation } = state;
  let inner;
  let rounded;
  let power = 0;
  let size = 0;
  if (decimal.special !== undefined) {
    inner = [{ type: decimal.special, value: decimal.special === 'nan' ? symbols.nan : symbols.infinity }];
    rounded = { whole: '0', fraction: '' };
  } else {
    const value = style === 'percent' ? { ...decimal, exponent: decimal.exponent + 2 } : decimal;
    ({ rounded, power, size } = scaled(state, value));
    inner = numberParts(state, rounded);
  }
  const isZero = decimal.special === undefined && rounded.value.digits === 0n;
  const sign = signOf(state, decimal.negative, isZero || decimal.special === 'nan');
  const values = intl.operands(rounded, notation === 'compact' ? power : 0);
  const plainPlural = decimal.special === undefined ? intl.pluralOf(state.dataLocale, { ...values, c: 0, e: 0 }) : 'other';
  const plural = decimal.special === undefined ? intl.pluralOf(state.dataLocale, notation === 'compact' && power > 0 ? fullOperands(values, power) : values) : 'other';
  const layers = [];
  let { pattern } = state;
  let literal = 'literal';
  if (notation === 'compact' && power > 0) {
    const { forms } = compactEntry(state, size);
    const isOne = rounded.whole === '1' && rounded.fraction === '';
    const text = (isOne ? forms[1] : undefined) ?? forms[plainPlural] ?? forms.other;
    // Some words for one thousand stand without the number.
    if (!text.includes('0')) inner = [];
    if (style === 'currency' && state.currencyDisplay !== 'name') {
      pattern = text.replace(/0+/, '0');
      literal = 'compact';
    } else {
      const { main } = parsePattern(text);
      layers.push({ before: affixParts(state, main.prefix, '', 'compact'), after: affixParts(state, main.suffix, '', 'compact') });
    }
  } else if ((notation === 'scientific' || notation === 'engineering') && decimal.special === undefined) {
    const after = [{ type: 'exponentSeparator', value: symbols.exponential }];
    if (power < 0) after.push({ type: 'exponentMinusSign', value: symbols.minusSign });
    after.push({ type: 'exponentInteger', value: state.digits(String(Math.abs(power))) });
    layers.push({ before: [], after });
  } else {
    layers.push({ before: [], after: [] });
  }
  if (layers.length === 0) layers.push({ before: [], after: [] });
  const [{ before, after }] = layers;
  const outer = signLayer(state, pattern, sign, [...before, ...inner, ...after], isApproximate, literal);
  layers.push(outer);
  if (notation === 'compact') {
    // The text of a compact number belongs to the layer of the sign.
    layers[0] = { before: [], after: [] };
    layers[1] = { before: [...outer.before, ...before], after: [...after, ...outer.after] };
  }
  return { inner, layers, plural, text: rounded };
}

// Returns the operands of a compact number as a whole.
const fullOperands = (values, power) => ({ ...values, n: values.n * 10 ** power, i: Math.trunc(values.n * 10 ** power), v: 0, w: 0, f: 0, t: 0, c: power, e: power });

// Returns the outermost layer.
function outerLayer(state, plural) {
  if (state.style === 'unit') return unitLayer(unitPattern(state, plural), 'unit');
  if (state.style === 'currency' && state.currencyDisplay === 'name') {
    const money = intl.dataOf(state.dataLocale, 'c');
    const names = money.plurals?.[state.currency];
    const name = names?.[plural] ?? names?.other ?? money.names[state.currency]?.[1] ?? state.currency;
    const pattern = money.patterns[plural] ?? money.patterns.other;
    return unitLayer(pattern.replace('{1}', () => name), 'currency');
  }
  return { before: [], after: [] };
}

function formatDecimal(state, decimal, isApproximate) {
  const { inner, layers, plural } = formatLayers(state, decimal, isApproximate);
  let parts = inner;
  for (const { before, after, isAlone } of [...layers, outerLayer(state, plural)]) parts = [...before, ...isAlone ? [] : parts, ...after];
  return joined(parts);
}

// Joins neighbouring literals. Marks of the direction of writing are literals, too.
function joined(all) {
  const out = [];
  const parts = all.flatMap((part) => {
    if (!/[\u061c\u200e\u200f]/.test(part.value)) return [part];
    const { 1: before, 2: middle, 3: after } = /^([\s\u061c\u200e\u200f]*)(.*?)([\s\u061c\u200e\u200f]*)$/s.exec(part.value);
    return [{ ...part, type: 'literal', value: before }, { ...part, value: middle }, { ...part, type: 'literal', value: after }].filter(({ value }) => value !== '');
  });
  for (const part of parts) {
    const last = out.at(-1);
    if (last?.type === 'literal' && part.type === 'literal' && last.source === part.source) last.value += part.value;
    else out.push({ ...part });
  }
  return out;
}

const textOf = (parts) => parts.map((part) => part.value).join('');

// Formats a range. The layer of the sign appears once if both ends have the same one and it is longer
// than a character, as in ICU.
function formatRange(state, from, to) {
  if (from.special === 'nan' || to.special === 'nan') throw new RangeError('Invalid number value');
  const [a, b] = [formatLayers(state, from), formatLayers(state, to)];
  const plainText = ({ inner, layers }) => textOf([...layers.flatMap((l) => l.before), ...inner, ...layers.flatMap((l) => l.after)]);
  if (plainText(a) === plainText(b)) return formatDecimal(state, from, true).map((part) => ({ ...part, source: 'shared' }));
  const same = (x, y) => textOf([...x.before, { value: '\0' }, ...x.after]) === textOf([...y.before, { value: '\0' }, ...y.after]);
  const plural = intl.pluralOfRange(state.dataLocale, a.plural, b.plural);
  const outer = outerLayer(state, plural);
  const size = ({ before, after }) => [...textOf(before), ...textOf(after)].length;
  const [innermost, middle] = a.layers;
  const isShared = same(middle, b.layers[1]) && size(middle) > 1;
  const side = (one, source) => {
    let parts = [...one.layers[0].before, ...one.inner, ...one.layers[0].after];
    if (!isShared) parts = [...one.layers[1].before, ...parts, ...one.layers[1].after];
    return parts.map((part) => ({ ...part, source }));
  };
  const [start, end] = [side(a, 'startRange'), side(b, 'endRange')];
  const isRepeated = size(innermost) > 0 || (!isShared && size(middle) > 0);
  let [head, separator, tail] = (state.data.miscPatterns?.range ?? state.latin.miscPatterns.range).split(/\{[01]\}/);
  if (isRepeated && !/\s/.test(separator)) separator = ` ${separator} `;
  const shared = (value) => value === '' ? [] : [{ type: 'literal', value, source: 'shared' }];
  const mark = (parts) => parts.map((part) => ({ ...part, source: 'shared' }));
  let parts = [...shared(head), ...start, ...shared(separator), ...end, ...shared(tail)];
  if (isShared) parts = [...mark(middle.before), ...parts, ...mark(middle.after)];
  return joined([...mark(outer.before), ...parts, ...mark(outer.after)]);
}

// --- the constructor -----------------------------------------------------------------------------------------

const states = new WeakMap();

// Returns the numbering systems of a locale, its own first.
function systemsOf(locale) {
  const { default: usual } = intl.dataOf(locale, 'n');
  return [usual, ...Object.keys(intl.index().systems).filter((name) => name !== usual)];
}

// Returns the digits, symbols and patterns of a locale in a numbering system.
function numberData(locale, system) {
  const all = intl.dataOf(locale, 'n');
  const data = all[system] ?? all.latn;
  const symbols = { ...all.latn.symbols, ...data.symbols };
  return { data, latin: all.latn, symbols, digits: digitsOf(system), minimum: Number(all.minimumGroupingDigits ?? 1) };
}

function currencySymbol(state) {
  const { currency, currencyDisplay, dataLocale } = state;
  if (currencyDisplay === 'code') return currency;
  const { names, narrow } = intl.dataOf(dataLocale, 'c');
  return (currencyDisplay === 'narrowSymbol' ? narrow?.[currency] : undefined) ?? names[currency]?.[0] ?? currency;
}

function isUnit(unit) {
  const { units } = intl.index();
  const { length, 0: first, 1: second } = unit.split('-per-');
  return units.includes(first) && (length === 1 || (length === 2 && units.includes(second)));
}

function initialise(locales, options) {
  const requested = intl.canonicalList(locales);
  const given = intl.coerced(options);
  const { option } = intl;
  const get = (name, values, fallback) => option(given, name, 'string', values, fallback, SERVICE);
  get('localeMatcher', intl.MATCHER, 'best fit');
  const nu = intl.typeOption(given, 'numberingSystem', SERVICE);
  const state = intl.resolveLocale(requested, { nu }, ['nu'], (key, locale) => systemsOf(locale));
  state.system = state.keys.nu;
  state.style = get('style', ['decimal', 'percent', 'currency', 'unit'], 'decimal');
  const currency = get('currency');
  if (currency === undefined) {
    if (state.style === 'currency') throw new TypeError('Currency code is required with currency style.');
  } else if (!/^[A-Za-z]{3}$/.test(currency)) {
    throw new RangeError(`Invalid currency code : ${currency}`);
  }
  const currencyDisplay = get('currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol');
  const currencySign = get('currencySign', ['standard', 'accounting'], 'standard');
  const unit = get('unit');
  if (unit === undefined) {
    if (state.style === 'unit') throw new TypeError('Unit is required with unit style.');
  } else if (!isUnit(unit)) {
    throw new RangeError(`Invalid unit argument for Intl.NumberFormat() '${unit}'`);
  }
  const unitDisplay = get('unitDisplay', ['short', 'narrow', 'long'], 'short');
  if (state.style === 'currency') Object.assign(state, { currency: currency.toUpperCase(), currencyDisplay, currencySign });
  if (state.style === 'unit') Object.assign(state, { unit, unitDisplay });
  state.notation = get('notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard');
  let [least, most] = [0, state.style === 'percent' ? 0 : 3];
  if (state.style === 'currency' && state.notation === 'standard') {
    const { currencyDigits } = intl.index();
    least = most = currencyDigits[state.currency] ?? currencyDigits.DEFAULT;
  }
  state.rules = intl.digitOptions(given, least, most, state.notation, state.notation === 'compact');
  const compactDisplay = get('compactDisplay', ['short', 'long'], 'short');
  let fallback = 'auto';
  if (state.notation === 'compact') {
    state.compactDisplay = compactDisplay;
    fallback = 'min2';
  }
  const { useGrouping } = given;
  if (useGrouping === undefined) state.useGrouping = fallback;
  else if (useGrouping === true) state.useGrouping = 'always';
  else if (useGrouping === false || useGrouping === null || !useGrouping) state.useGrouping = false;
  else {
    const text = String(useGrouping);
    if (text === 'true' || text === 'false') state.useGrouping = fallback;
    else if (['min2', 'auto', 'always'].includes(text)) state.useGrouping = text;
    else throw new RangeError(`Value ${text} out of range for ${SERVICE} options property useGrouping`);
  }
  state.signDisplay = get('signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto');
  return complete(state);
}

// Adds the locale's data to the options of a format.
function complete(state) {
  Object.assign(state, numberData(state.dataLocale, state.system));
  const { latin, data } = state;
  const pattern = (name) => data.patterns?.[name] ?? latin.patterns[name];
  const standard = parsePattern(pattern('decimalFormat'));
  Object.assign(state, { primary: standard.primary, secondary: standard.secondary });
  if (state.useGrouping === 'always') state.minimum = 1;
  else if (state.useGrouping === 'min2') state.minimum = Math.max(2, state.minimum);
  state.pattern = '0';
  if (state.style === 'percent') state.pattern = pattern('percentFormat');
  if (state.style === 'currency' && state.currencyDisplay !== 'name') {
    state.pattern = pattern(state.currencySign === 'accounting' ? 'accountingFormat' : 'currencyFormat');
    state.symbol = currencySymbol(state);
    const money = parsePattern(state.pattern);
    Object.assign(state, { primary: money.primary, secondary: money.secondary });
  }
  return state;
}

class NumberFormat {
  constructor(locales, options) {
    states.set(this, initialise(locales, options));
  }
  get format() {
    const state = intl.stateOf(states, this, 'format', 'NumberFormat');
    return state.bound ??= nameless((value) => textOf(formatDecimal(state, intl.decimalOf(value))));
  }
  formatToParts(value) {
    return formatDecimal(intl.stateOf(states, this, 'formatToParts', 'NumberFormat'), intl.decimalOf(value));
  }
  formatRange(start, end) {
    const state = intl.stateOf(states, this, 'formatRange', 'NumberFormat');
    return textOf(range(state, start, end));
  }
  formatRangeToParts(start, end) {
    return range(intl.stateOf(states, this, 'formatRangeToParts', 'NumberFormat'), start, end);
  }
  resolvedOptions() {
    const state = intl.stateOf(states, this, 'resolvedOptions', 'NumberFormat');
    const out = { locale: state.locale, numberingSystem: state.system, style: state.style };
    for (const name of ['currency', 'currencyDisplay', 'currencySign', 'unit', 'unitDisplay']) if (state[name] !== undefined) out[name] = state[name];
    intl.showDigitOptions(out, state.rules);
    out.useGrouping = state.useGrouping;
    out.notation = state.notation;
    if (state.compactDisplay !== undefined) out.compactDisplay = state.compactDisplay;
    out.signDisplay = state.signDisplay;
    out.roundingIncrement = state.rules.roundingIncrement;
    out.roundingMode = state.rules.roundingMode;
    out.roundingPriority = state.rules.shownPriority;
    out.trailingZeroDisplay = state.rules.trailingZeroDisplay;
    return out;
  }
}
function range(state, start, end) {
  if (start === undefined || end === undefined) throw new TypeError('Invalid range');
  return formatRange(state, intl.decimalOf(start), intl.decimalOf(end));
}
// Returns a function without a name, as the getters `format` return.
function nameless(run) {
  return Object.defineProperty(run, 'name', { __proto__: null, value: '', configurable: true });
}

// Returns a constructor that may also be called without `new`, like those of ECMA-402's first
// edition.
function callable(name, Class) {
  const made = { [name]: function(locales, options) { return Reflect.construct(Class, [locales, options], new.target ?? made); } }[name];
  Object.defineProperty(made, 'length', { __proto__: null, value: 0, configurable: true });
  Object.defineProperty(made, 'prototype', { __proto__: null, value: Class.prototype, writable: false });
  Object.defineProperty(Class.prototype, 'constructor', { __proto__: null, value: made, writable: true, configurable: true, enumerable: false });
  return intl.defineService(name, made);
}

Object.assign(intl, {
  NumberFormat: callable('NumberFormat', NumberFormat), numberData, systemsOf, digitsOf, textOf, joined, nameless, callable,
  // Formats a number by options, for the other services.
  numberFormat(locales, options) {
    const state = initialise(locales, options);
    return { state, format: (value) => textOf(formatDecimal(state, intl.decimalOf(value))), parts: (value) => formatDecimal(state, intl.decimalOf(value)),
             plural: (value) => formatLayers(state, intl.decimalOf(value)).plural };
  },
});
})
