// `Intl.ListFormat`, `Intl.RelativeTimeFormat`, `Intl.DisplayNames`, `Intl.DurationFormat`.
(function (native, host) {
'use strict';

const { intl } = host;

// --- lists -------------------------------------------------------------------------------------------

const lists = new WeakMap();

function strings(values) {
  const out = [];
  if (values === undefined) return out;
  for (const value of values) {
    if (typeof value !== 'string') throw new TypeError('Iterable yielded ' + String(value) + ' which is not a string');
    out.push(value);
  }
  return out;
}

// Spanish writes `e` before the sound i and `u` before the sound o; Hebrew has a hyphen between its
// prefix and other scripts. ICU knows these rules, CLDR's data do not.
function adapted(pattern, locale, next) {
  const language = locale.split('-')[0];
  if (language === 'es') {
    if (pattern.includes(' y ') && /^(?:i|hi(?![ae])|y(?![a-z]))/i.test(next)) return pattern.replace(' y ', ' e ');
    if (pattern.includes(' o ') && /^(?:o|ho|8|11(?:[^0-9]|$|[0-9]{3}))/i.test(next)) return pattern.replace(' o ', ' u ');
  }
  if (language === 'he' && /\u05d5\{1\}/.test(pattern) && !/^\p{Script=Hebrew}/u.test(next)) return pattern.replace('\u05d5{1}', '\u05d5-{1}');
  return pattern;
}

// Returns the parts of a list of values, by the four patterns of CLDR.
function listParts(patterns, locale, values) {
  const elements = values.map((value) => [{ type: 'element', value }]);
  const join = (pattern, a, b, next) => adapted(pattern, locale, next).split(/(\{[01]\})/).flatMap((piece) => {
    if (piece === '{0}') return a;
    if (piece === '{1}') return b;
    return piece === '' ? [] : [{ type: 'literal', value: piece }];
  });
  if (elements.length === 0) return [];
  if (elements.length === 1) return elements[0];
  if (elements.length === 2) return join(patterns[2], elements[0], elements[1], values[1]);
  let parts = join(patterns.start, elements[0], elements[1], values[1]);
  for (let i = 2; i < elements.length - 1; i++) parts = join(patterns.middle, parts, elements[i], values[i]);
  return join(patterns.end, parts, elements.at(-1), values.at(-1));
}

function listPatterns(locale, type, style) {
  const kind = { conjunction: 'standard', disjunction: 'or', unit: 'unit' }[type];
  const data = intl.dataOf(locale, 'l');
  return data[style === 'long' ? kind : `${kind}-${style}`] ?? data[kind];
}

class ListFormat {
  constructor(locales, options) {
    const requested = intl.canonicalList(locales);
    const given = intl.optionsObject(options);
    const get = (name, values, fallback) => intl.option(given, name, 'string', values, fallback, 'Intl.ListFormat');
    get('localeMatcher', intl.MATCHER, 'best fit');
    const type = get('type', ['conjunction', 'disjunction', 'unit'], 'conjunction');
    const style = get('style', ['long', 'short', 'narrow'], 'long');
    const state = intl.resolveLocale(requested, {}, [], () => []);
    lists.set(this, { ...state, type, style, patterns: listPatterns(state.dataLocale, type, style) });
  }
  format(list) { return intl.textOf(partsOf(this, list, 'format')); }
  formatToParts(list) { return partsOf(this, list, 'formatToParts'); }
  resolvedOptions() {
    const { locale, type, style } = intl.stateOf(lists, this, 'resolvedOptions', 'ListFormat');
    return { locale, type, style };
  }
}
function partsOf(receiver, list, method) {
  const { patterns, dataLocale } = intl.stateOf(lists, receiver, method, 'ListFormat');
  return listParts(patterns, dataLocale, strings(list));
}

// --- relative times ----------------------------------------------------------------------------------------

const relatives = new WeakMap();
const UNITS = ['second', 'minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'];

function relativeParts(state, value, unit) {
  const number = Number(value);
  let name = String(unit);
  if (UNITS.includes(name.slice(0, -1)) && name.endsWith('s')) name = name.slice(0, -1);
  if (!UNITS.includes(name)) throw new RangeError(`Invalid unit argument for ${state.method}() '${unit}'`);
  if (!Number.isFinite(number)) throw new RangeError(`Invalid time value`);
  const field = intl.dataOf(state.dataLocale, 'r')[state.style === 'long' ? name : `${name}-${state.style}`];
  if (state.numeric === 'auto') {
    const key = Object.is(number, -0) ? '0' : String(number);
    const text = field.relative?.[key];
    if (text !== undefined) return [{ type: 'literal', value: text }];
  }
  const isPast = number < 0 || Object.is(number, -0);
  const forms = field.relativeTime[isPast ? 'past' : 'future'];
  const { parts, plural } = { parts: state.number.parts(Math.abs(number)), plural: state.number.plural(Math.abs(number)) };
  const pattern = forms[plural] ?? forms.other;
  return pattern.split(/(\{0\})/).flatMap((piece) => {
    if (piece === '{0}') return parts.map((part) => ({ ...part, unit: name }));
    return piece === '' ? [] : [{ type: 'literal', value: piece }];
  });
}

class RelativeTimeFormat {
  constructor(locales, options) {
    const requested = intl.canonicalList(locales);
    const given = intl.coerced(options);
    const get = (name, values, fallback) => intl.option(given, name, 'string', values, fallback, 'Intl.RelativeTimeFormat');
    get('localeMatcher', intl.MATCHER, 'best fit');
    const nu = intl.typeOption(given, 'numberingSystem', 'Intl.RelativeTimeFormat');
    const state = intl.resolveLocale(requested, { nu }, ['nu'], (key, locale) => intl.systemsOf(locale));
    const style = get('style', ['long', 'short', 'narrow'], 'long');
    const numeric = get('numeric', ['always', 'auto'], 'always');
    const number = intl.numberFormat(state.dataLocale, { numberingSystem: state.keys.nu });
    relatives.set(this, { ...state, style, numeric, number });
  }
  format(value, unit) {
    const state = intl.stateOf(relatives, this, 'format', 'RelativeTimeFormat');
    return intl.textOf(relativeParts({ ...state, method: 'Intl.RelativeTimeFormat.prototype.format' }, value, unit));
  }
  formatToParts(value, unit) {
    const state = intl.stateOf(relatives, this, 'formatToParts', 'RelativeTimeFormat');
    return relativeParts({ ...state, method: 'Intl.RelativeTimeFormat.prototype.formatToParts' }, value, unit);
  }
  resolvedOptions() {
    const { locale, style, numeric, keys } = intl.stateOf(relatives, this, 'resolvedOptions', 'RelativeTimeFormat');
    return { locale, style, numeric, numberingSystem: keys.nu };
  }
}

// --- names ---------------------------------------------------------------------------------------------------

const names = new WeakMap();
const KINDS = ['language', 'region', 'script', 'currency', 'calendar', 'dateTimeField'];
const FIELDS = { era: 'era', year: 'year', quarter: 'quarter', month: 'month', weekOfYear: 'week', weekday: 'weekday', day: 'day', dayPeriod: 'dayperiod', hour: 'hour', minute: 'minute', second: 'second', timeZoneName: 'zone' };

function languageName(state, tag) {
  const { languages, languagesShort, scripts, regions, regionsShort, pattern } = intl.dataOf(state.dataLocale, 'k');
  const isShort = state.style !== 'long';
  const lookup = (key) => (isShort ? languagesShort?.[key] : undefined) ?? languages[key];
  let [rest, name] = [[], undefined];
  const { language, script, region, variants } = tag;
  const hasBoth = script !== undefined && region !== undefined;
  const dialects = hasBoth ? [[language, script, region]] : [[language, script], [language, region]];
  const choices = [...state.languageDisplay === 'standard' ? [] : dialects, [language]];
  for (const choice of choices) {
    if (choice.includes(undefined)) continue;
    name = lookup(choice.join('_'));
    if (name === undefined) continue;
    if (script !== undefined && !choice.includes(script)) rest.push(scripts[script] ?? script);
    if (region !== undefined && !choice.includes(region)) rest.push((isShort ? regionsShort?.[region] : undefined) ?? regions[region] ?? region);
    break;
  }
  if (name === undefined) {
    if (state.fallback === 'none') return undefined;
    name = language;
    rest = [script && (scripts[script] ?? script), region && (regions[region] ?? region)].filter(Boolean);
  }
  rest.push(...variants.map((variant) => variant.toUpperCase()));
  if (rest.length === 0) return name;
  const joined = rest.reduce((a, b) => pattern.separator.replace('{0}', () => a).replace('{1}', () => b));
  const inner = (text) => text.replaceAll('(', '[').replaceAll(')', ']');
  return pattern.pattern.replace(/\{([01])\}/g, (_, i) => i === '0' ? name : inner(joined));
}

function displayName(state, code) {
  const text = String(code);
  const invalid = () => { throw new RangeError(`Invalid argument to Intl.DisplayNames.prototype.of`); };
  const data = () => intl.dataOf(state.dataLocale, 'k');
  const isShort = state.style !== 'long';
  switch (state.type) {
    case 'language': {
      const tag = intl.parseTag(text) ?? invalid();
      if (tag.keywords.size > 0 || tag.others.size > 0 || tag.unicode || tag.privateUse !== undefined) invalid();
      return languageName(state, intl.canonicalTag(text)) ?? (state.fallback === 'code' ? intl.tagText(intl.canonicalTag(text)) : undefined);
    }
    case 'region': {
      if (!/^(?:[A-Za-z]{2}|[0-9]{3})$/.test(text)) invalid();
      const key = text.toUpperCase();
      return (isShort ? data().regionsShort?.[key] : undefined) ?? data().regions[key] ?? (state.fallback === 'code' ? key : undefined);
    }
    case 'script': {
      if (!/^[A-Za-z]{4}$/.test(text)) invalid();
      const key = text[0].toUpperCase() + text.slice(1).toLowerCase();
      return data().scripts[key] ?? (state.fallback === 'code' ? key : undefined);
    }
    case 'currency': {
      if (!/^[A-Za-z]{3}$/.test(text)) invalid();
      const key = text.toUpperCase();
      const money = intl.dataOf(state.dataLocale, 'c');
      const fallback = state.fallback === 'code' ? key : undefined;
      return money.names[key]?.[1] ?? fallback;
    }
    case 'calendar': {
      if (!/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(text)) invalid();
      const key = text.toLowerCase();
      const old = { gregory: 'gregorian', ethioaa: 'ethiopic-amete-alem' }[key] ?? key;
      return data().calendars?.[old] ?? (state.fallback === 'code' ? key : undefined);
    }
    default: {
      const field = FIELDS[text] ?? invalid();
      const all = intl.dataOf(state.dataLocale, 'r');
      return all[isShort ? `${field}-${state.style}` : field]?.dn ?? all[field]?.dn;
    }
  }
}

class DisplayNames {
  constructor(locales, options) {
    const requested = intl.canonicalList(locales);
    if (options === undefined) throw new TypeError('Cannot convert undefined or null to object');
    const given = intl.optionsObject(options);
    const get = (name, values, fallback) => intl.option(given, name, 'string', values, fallback, 'Intl.DisplayNames');
    get('localeMatcher', intl.MATCHER, 'best fit');
    const style = get('style', ['narrow', 'short', 'long'], 'long');
    const type = get('type', KINDS, undefined);
    if (type === undefined) throw new TypeError('Required option "type" must not be undefined');
    const fallback = get('fallback', ['code', 'none'], 'code');
    const languageDisplay = get('languageDisplay', ['dialect', 'standard'], 'dialect');
    names.set(this, { ...intl.resolveLocale(requested, {}, [], () => []), style, type, fallback, languageDisplay });
  }
  of(code) { return displayName(intl.stateOf(names, this, 'of', 'DisplayNames'), code); }
  resolvedOptions() {
    const { locale, style, type, fallback, languageDisplay } = intl.stateOf(names, this, 'resolvedOptions', 'DisplayNames');
    return type === 'language' ? { locale, style, type, fallback, languageDisplay } : { locale, style, type, fallback };
  }
}
Object.defineProperty(DisplayNames, 'length', { __proto__: null, value: 2, configurable: true });

// --- durations -------------------------------------------------------------------------------------------------

const durations = new WeakMap();
const DURATION = ['years', 'months', 'weeks', 'days', 'hours', 'minutes', 'seconds', 'milliseconds', 'microseconds', 'nanoseconds'];
const WORDS = ['long', 'short', 'narrow'];

// Returns the style and display of each unit (GetDurationUnitOptions).
function durationUnits(given, base) {
  const units = {};
  let previous = '';
  for (const unit of DURATION) {
    const isFraction = DURATION.indexOf(unit) > 6;
    const isClock = DURATION.indexOf(unit) > 3;
    const values = isFraction ? [...WORDS, 'numeric'] : isClock ? [...WORDS, 'numeric', '2-digit'] : WORDS;
    let style = intl.option(given, unit, 'string', values, undefined, 'Intl.DurationFormat');
    let display = 'always';
    const isNumeric = (text) => text === 'fractional' || text === 'numeric' || text === '2-digit';
    if (style === undefined) {
      if (base === 'digital') {
        if (!['hours', 'minutes', 'seconds'].includes(unit)) display = 'auto';
        style = isClock ? 'numeric' : 'short';
      } else if (isNumeric(previous)) {
        if (unit !== 'minutes' && unit !== 'seconds') display = 'auto';
        style = 'numeric';
      } else {
        display = 'auto';
        style = base;
      }
    }
    if (isFraction && style === 'numeric') {
      style = 'fractional';
      display = 'auto';
    }
    display = intl.option(given, `${unit}Display`, 'string', ['auto', 'always'], display, 'Intl.DurationFormat');
    if (display === 'always' && style === 'fractional') throw new RangeError(`Value always out of range for Intl.DurationFormat options property ${unit}Display`);
    if (previous === 'fractional' && style !== 'fractional') throw new RangeError(`Value ${style} out of range for Intl.DurationFormat options property ${unit}`);
    if ((previous === 'numeric' || previous === '2-digit') && !isNumeric(style)) throw new RangeError(`Value ${style} out of range for Intl.DurationFormat options property ${unit}`);
    if ((previous === 'numeric' || previous === '2-digit') && (unit === 'minutes' || unit === 'seconds')) style = '2-digit';
    units[unit] = { style, display };
    previous = style;
  }
  return units;
}

function durationRecord(value) {
  if (typeof value !== 'object' || value === null) throw new (typeof value === 'string' ? RangeError : TypeError)('Invalid duration value');
  const record = {};
  let isEmpty = true;
  for (const unit of DURATION) {
    const number = value[unit];
    if (number === undefined) {
      record[unit] = 0;
      continue;
    }
    isEmpty = false;
    record[unit] = Number(number);
    if (!Number.isInteger(record[unit])) throw new RangeError('Invalid duration value');
  }
  if (isEmpty) throw new TypeError('Invalid duration value');
  const signs = new Set(DURATION.map((unit) => Math.sign(record[unit])).filter((sign) => sign !== 0));
  if (signs.size > 1) throw new RangeError('Invalid duration value');
  return record;
}

function durationParts(state, value) {
  const record = durationRecord(value);
  const { units, dataLocale, keys, style } = state;
  const groups = [];
  let isSignShown = false;
  const isNegative = DURATION.some((unit) => record[unit] < 0);
  let clock;
  for (let i = 0; i < DURATION.length; i++) {
    const unit = DURATION[i];
    const { style: own, display } = units[unit];
    const singular = unit.slice(0, -1);
    let amount = record[unit];
    const options = { numberingSystem: keys.nu };
    let isLast = false;
    if (i >= 6 && units[DURATION[i + 1]]?.style === 'fractional') {
      // The smaller units are a fraction of this one.
      const scale = 3 * (9 - i);
      const total = DURATION.slice(i).reduce((sum, name, j) => sum + BigInt(record[name]) * 10n ** BigInt(scale - 3 * j), 0n);
      const positive = total < 0n ? -total : total;
      amount = `${total < 0n ? '-' : ''}${String(positive).padStart(scale + 1, '0').replace(new RegExp(`(.{${scale}})$`), '.$1')}`;
      if (/^-?0\.0*$/.test(amount)) amount = isNegative ? '-0' : 0;
      const { fractionalDigits: digits } = state;
      Object.assign(options, { minimumFractionDigits: digits ?? 0, maximumFractionDigits: digits ?? 9, roundingMode: 'trunc' });
      isLast = true;
    }
    const isNumeric = own === 'numeric' || own === '2-digit';
    const isZero = Number(amount) === 0;
    const isNeeded = unit === 'minutes' && clock !== undefined && (units.seconds.display === 'always' || record.seconds !== 0 || record.milliseconds !== 0 || record.microseconds !== 0 || record.nanoseconds !== 0);
    if (!isZero || display === 'always' || isNeeded) {
      if (isSignShown) options.signDisplay = 'never';
      else {
        isSignShown = true;
        if (isNegative && isZero) amount = -0;
      }
      if (own === '2-digit') options.minimumIntegerDigits = 2;
      if (isNumeric) options.useGrouping = false;
      else Object.assign(options, { style: 'unit', unit: singular, unitDisplay: own });
      const parts = intl.numberFormat(dataLocale, options).parts(amount).map((part) => ({ ...part, unit: singular }));
      if (isNumeric && clock !== undefined) {
        clock.push({ type: 'literal', value: state.separator }, ...parts);
      } else {
        groups.push(parts);
        clock = isNumeric ? parts : clock;
      }
    }
    if (isLast) break;
  }
  const listStyle = style === 'digital' ? 'short' : style;
  const joined = listParts(listPatterns(dataLocale, 'unit', listStyle), dataLocale, groups.map((parts) => intl.textOf(parts)));
  let next = 0;
  return joined.flatMap((part) => part.type === 'element' ? groups[next++] : [part]);
}

class DurationFormat {
  constructor(locales, options) {
    const requested = intl.canonicalList(locales);
    const given = intl.optionsObject(options);
    intl.option(given, 'localeMatcher', 'string', intl.MATCHER, 'best fit', 'Intl.DurationFormat');
    const nu = intl.typeOption(given, 'numberingSystem', 'Intl.DurationFormat');
    const state = intl.resolveLocale(requested, { nu }, ['nu'], (key, locale) => intl.systemsOf(locale));
    state.style = intl.option(given, 'style', 'string', [...WORDS, 'digital'], 'short', 'Intl.DurationFormat');
    state.units = durationUnits(given, state.style);
    state.fractionalDigits = intl.numberOption(given.fractionalDigits, 0, 9, undefined, 'fractionalDigits');
    const { symbols } = intl.numberData(state.dataLocale, state.keys.nu);
    state.separator = symbols.timeSeparator ?? ':';
    durations.set(this, state);
  }
  format(duration) { return intl.textOf(durationParts(intl.stateOf(durations, this, 'format', 'DurationFormat'), duration)); }
  formatToParts(duration) { return durationParts(intl.stateOf(durations, this, 'formatToParts', 'DurationFormat'), duration); }
  resolvedOptions() {
    const { locale, keys, style, units, fractionalDigits } = intl.stateOf(durations, this, 'resolvedOptions', 'DurationFormat');
    const out = { locale, numberingSystem: keys.nu, style };
    for (const unit of DURATION) {
      out[unit] = units[unit].style === 'fractional' ? 'numeric' : units[unit].style;
      out[`${unit}Display`] = units[unit].display;
    }
    if (fractionalDigits !== undefined) out.fractionalDigits = fractionalDigits;
    return out;
  }
}

for (const [name, Service] of Object.entries({ ListFormat, RelativeTimeFormat, DisplayNames, DurationFormat })) {
  if (name !== 'DisplayNames') Object.defineProperty(Service, 'length', { __proto__: null, value: 0, configurable: true });
  intl[name] = intl.defineService(name, Service);
}
})
