// `Intl.DateTimeFormat`, for the Gregorian calendar.
(function (native, host) {
'use strict';

const { intl } = host;
const SERVICE = 'Intl.DateTimeFormat';

// --- options -------------------------------------------------------------------------------------------

const TEXT = ['narrow', 'short', 'long'];
const DIGITS = ['2-digit', 'numeric'];
// The properties of options, their values, and the letters for each value in a skeleton.
const PROPERTIES = [
  ['weekday', TEXT, { narrow: 'EEEEE', short: 'EEE', long: 'EEEE' }],
  ['era', TEXT, { narrow: 'GGGGG', short: 'G', long: 'GGGG' }],
  ['year', DIGITS, { '2-digit': 'yy', 'numeric': 'y' }],
  ['month', [...DIGITS, ...TEXT], { '2-digit': 'MM', 'numeric': 'M', 'narrow': 'MMMMM', 'short': 'MMM', 'long': 'MMMM' }],
  ['day', DIGITS, { '2-digit': 'dd', 'numeric': 'd' }],
  ['dayPeriod', TEXT, { narrow: 'BBBBB', short: 'B', long: 'BBBB' }],
  ['hour', DIGITS, { '2-digit': 'jj', 'numeric': 'j' }],
  ['minute', DIGITS, { '2-digit': 'mm', 'numeric': 'm' }],
  ['second', DIGITS, { '2-digit': 'ss', 'numeric': 's' }],
  ['fractionalSecondDigits', [1, 2, 3], { 1: 'S', 2: 'SS', 3: 'SSS' }],
  ['timeZoneName', ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'],
    { short: 'z', long: 'zzzz', shortOffset: 'O', longOffset: 'OOOO', shortGeneric: 'v', longGeneric: 'vvvv' }],
];
const DATE = ['weekday', 'year', 'month', 'day'];
const TIME = ['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits'];
const STYLES = ['full', 'long', 'medium', 'short'];
const CYCLES = { h11: 'K', h12: 'h', h23: 'H', h24: 'k' };
// Calendars of CLDR that are missing here.
const OTHER_CALENDARS = ['buddhist', 'chinese', 'coptic', 'dangi', 'ethioaa', 'ethiopic', 'hebrew', 'indian', 'islamic', 'islamic-civil', 'islamic-rgsa', 'islamic-tbla', 'islamic-umalqura', 'iso8601', 'japanese', 'persian', 'roc'];

const states = new WeakMap();

function initialise(locales, options, required, defaults) {
  const requested = intl.canonicalList(locales);
  const given = intl.coerced(options);
  const get = (name, values, fallback) => intl.option(given, name, 'string', values, fallback, SERVICE);
  get('localeMatcher', intl.MATCHER, 'best fit');
  const calendar = intl.typeOption(given, 'calendar', SERVICE);
  const nu = intl.typeOption(given, 'numberingSystem', SERVICE);
  const hour12 = intl.option(given, 'hour12', 'boolean');
  let hourCycle = get('hourCycle', Object.keys(CYCLES), undefined);
  if (hour12 !== undefined) hourCycle = null;
  const asked = calendar ?? intl.parseTag(requested[0] ?? 'en').keywords.get('ca');
  if (OTHER_CALENDARS.includes(asked)) throw new RangeError(`Calendar ${asked} is not available in this sandbox`);
  const state = intl.resolveLocale(requested, { nu, hc: hourCycle, ca: calendar }, ['ca', 'hc', 'nu'], (key, locale) => {
    if (key === 'nu') return intl.systemsOf(locale);
    return key === 'hc' ? [undefined, ...Object.keys(CYCLES)] : ['gregory'];
  });
  state.system = state.keys.nu;
  state.calendar = 'gregory';
  Object.assign(state, intl.numberData(state.dataLocale, state.system));
  state.names = intl.dataOf(state.dataLocale, 'd');
  const zone = given.timeZone;
  state.zone = zone === undefined ? intl.localZone() : intl.canonicalZone(String(zone));
  if (state.zone === undefined) throw new RangeError(`Invalid time zone specified: ${zone}`);
  const wanted = {};
  let hasExplicit = false;
  for (const [name, values] of PROPERTIES) {
    const value = name === 'fractionalSecondDigits' ? intl.numberOption(given[name], 1, 3, undefined, name) : get(name, values, undefined);
    if (value === undefined) continue;
    wanted[name] = value;
    hasExplicit = true;
  }
  get('formatMatcher', ['basic', 'best fit'], 'best fit');
  const dateStyle = get('dateStyle', STYLES, undefined);
  const timeStyle = get('timeStyle', STYLES, undefined);
  Object.assign(state, { dateStyle, timeStyle });
  const usual = intl.hourCycleOf(state.dataLocale);
  const is12 = (cycle) => cycle === 'h11' || cycle === 'h12';
  let cycle = hourCycle ?? state.keys.hc ?? usual;
  if (hour12 === true) cycle = is12(usual) ? usual : 'h12';
  if (hour12 === false) cycle = is12(usual) ? 'h23' : usual;
  // A keyword of the tag that an option overrides is not shown.
  if (hour12 !== undefined && state.keys.hc !== undefined) state.locale = state.locale.replace(/-hc-h\d\d/, '').replace(/-u$/, '');
  state.generator = intl.PatternGenerator.of(state.dataLocale);
  if (dateStyle !== undefined || timeStyle !== undefined) {
    if (hasExplicit) {
      const name = Object.keys(wanted)[0];
      throw new TypeError(`Can't set option ${name} when ${dateStyle === undefined ? 'timeStyle' : 'dateStyle'} is used`);
    }
    if (required === 'date' && timeStyle !== undefined) throw new TypeError('Invalid option : timeStyle');
    if (required === 'time' && dateStyle !== undefined) throw new TypeError('Invalid option : dateStyle');
    state.pattern = stylePattern(state, dateStyle, timeStyle, cycle);
  } else {
    addDefaults(wanted, required, defaults);
    const skeleton = PROPERTIES.map(([name, , letters]) => wanted[name] === undefined ? '' : letters[wanted[name]]).join('').replaceAll('j', CYCLES[cycle]);
    state.pattern = withCycle(state.generator.best(skeleton), cycle);
  }
  const items = intl.parsePattern(state.pattern);
  if (items.some(({ letter }) => letter !== undefined && 'hHKk'.includes(letter))) state.cycle = cycle;
  return state;
}

function addDefaults(wanted, required, defaults) {
  const has = (names) => names.some((name) => wanted[name] !== undefined);
  let isNeeded = true;
  if ((required === 'date' || required === 'any') && has(DATE)) isNeeded = false;
  if ((required === 'time' || required === 'any') && has(TIME)) isNeeded = false;
  if (!isNeeded) return;
  if (defaults === 'date' || defaults === 'all') Object.assign(wanted, { year: 'numeric', month: 'numeric', day: 'numeric' });
  if (defaults === 'time' || defaults === 'all') Object.assign(wanted, { hour: 'numeric', minute: 'numeric', second: 'numeric' });
}

// Replaces the letters for hours of a pattern by that of an hour cycle.
function withCycle(pattern, cycle) {
  return intl.patternText(intl.parsePattern(pattern).map((item) => item.letter !== undefined && 'hHKk'.includes(item.letter) ? { letter: CYCLES[cycle], length: item.length } : item));
}

function stylePattern(state, dateStyle, timeStyle, cycle) {
  const { DateTimePatterns: patterns } = state.names;
  const date = dateStyle === undefined ? undefined : patterns[4 + STYLES.indexOf(dateStyle)];
  if (timeStyle === undefined) return date;
  const time = patterns[STYLES.indexOf(timeStyle)];
  const pattern = date === undefined ? time : intl.glued(state.names, STYLES.indexOf(dateStyle), date, time);
  const own = intl.parsePattern(time).find(({ letter }) => letter !== undefined && 'hHKk'.includes(letter)).letter;
  if (own === CYCLES[cycle]) return pattern;
  // Another clock may need another pattern.
  const skeleton = intl.skeletonOf(pattern).replace(/[abB]/g, '').replace(/[hHKk]+/, (hours) => CYCLES[cycle].repeat(hours.length));
  return withCycle(state.generator.best(skeleton), cycle);
}

// --- fields of a time ------------------------------------------------------------------------------------

function fieldsAt(state, time) {
  const date = new Date(time + intl.offsetAt(state.zone, time));
  return {
    time, year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate(), weekday: date.getUTCDay(), hour: date.getUTCHours(),
    minute: date.getUTCMinutes(), second: date.getUTCSeconds(), millisecond: date.getUTCMilliseconds(),
  };
}

const WIDTHS = { 3: 'abbreviated', 4: 'wide', 5: 'narrow', 6: 'short' };
function nameOf(table, context, length, at) {
  const width = WIDTHS[Math.max(3, length)];
  const other = context === 'format' ? 'stand-alone' : 'format';
  return (table[context]?.[width] ?? table[other]?.[width] ?? table.format.wide)[at];
}

// Returns the name of the part of a day, by the rules of the locale.
function dayPeriod(state, { hour, minute, second }, length, pattern) {
  const { periods } = intl.partOf('root/plurals');
  const rules = periods.rules[intl.byLocale(periods.locales, state.dataLocale)] ?? {};
  const names = state.names.dayPeriod.format;
  const width = { 4: 'wide', 5: 'narrow' }[length] ?? 'abbreviated';
  const text = (name) => names[width]?.[name] ?? names.abbreviated?.[name] ?? names.wide?.[name];
  const isExact = (!pattern.includes('m') || minute === 0) && (!pattern.includes('s') || second === 0);
  if (isExact && hour === 12 && rules.noon !== undefined && text('noon') !== undefined) return text('noon');
  const number = (clock) => Number(clock.slice(0, 2));
  for (const name in rules) {
    const { from, before } = rules[name];
    if (from === undefined) continue;
    const [start, end] = [number(from), number(before)];
    const isInside = start < end ? hour >= start && hour < end : hour >= start || hour < end;
    if (isInside && text(name) !== undefined) return text(name);
  }
  return marker(state, hour, length);
}

function marker(state, hour, length) {
  const { AmPmMarkers: wide, AmPmMarkersAbbr: short = wide, AmPmMarkersNarrow: narrow = wide } = state.names;
  return (length === 4 ? wide : length === 5 ? narrow : short)[hour < 12 ? 0 : 1];
}

const TYPES = {
  G: 'era', y: 'year', u: 'year', r: 'relatedYear', M: 'month', L: 'month', d: 'day', E: 'weekday', c: 'weekday', e: 'weekday', a: 'dayPeriod', b: 'dayPeriod',
  B: 'dayPeriod', h: 'hour', H: 'hour', K: 'hour', k: 'hour', m: 'minute', s: 'second', S: 'fractionalSecond', z: 'timeZoneName', v: 'timeZoneName', O: 'timeZoneName',
};

function fieldText(state, fields, { letter, length }, pattern) {
  const number = (value, least = length) => state.digits(String(value).padStart(least, '0'));
  const { year, month, day, weekday, hour, minute, second, millisecond, time } = fields;
  switch (letter) {
    case 'G': {
      const { eras } = state.names;
      return (length === 4 ? eras.wide : length === 5 ? eras.narrow : eras.abbreviated)[year > 0 ? 1 : 0];
    }
    case 'y': {
      const shown = year > 0 ? year : 1 - year;
      return length === 2 ? number(shown % 100) : number(shown);
    }
    case 'u': return number(year);
    case 'Q': return number(Math.floor(month / 3) + 1);
    case 'M': return length < 3 ? number(month + 1) : nameOf(state.names.monthNames, 'format', length, month);
    case 'L': return length < 3 ? number(month + 1) : nameOf(state.names.monthNames, 'stand-alone', length, month);
    case 'd': return number(day);
    case 'E': return nameOf(state.names.dayNames, 'format', length, weekday);
    case 'e': return length < 3 ? number(weekday + 1) : nameOf(state.names.dayNames, 'format', length, weekday);
    case 'c': return length < 3 ? number(weekday + 1) : nameOf(state.names.dayNames, 'stand-alone', length, weekday);
    case 'a': case 'b': return marker(state, hour, length);
    case 'B': return dayPeriod(state, fields, length, pattern);
    case 'h': return number(hour % 12 || 12);
    case 'K': return number(hour % 12);
    case 'H': return number(hour);
    case 'k': return number(hour || 24);
    case 'm': return number(minute);
    case 's': return number(second);
    case 'S': return state.digits(String(millisecond).padStart(3, '0').padEnd(length, '0').slice(0, length));
    default: return intl.zoneText(state, time, letter, length);
  }
}

function partsOf(state, fields, pattern = state.pattern) {
  return intl.parsePattern(pattern).map((item) => item.letter === undefined
    ? { type: 'literal', value: item.text }
    : { type: TYPES[item.letter] ?? 'literal', value: fieldText(state, fields, item, pattern) });
}

function timeOf(value) {
  const time = value === undefined ? Date.now() : Number(value);
  if (!(Math.abs(time) <= 8.64e15)) throw new RangeError('Invalid time value');
  return Math.trunc(time) + 0;
}

// --- ranges ------------------------------------------------------------------------------------------------

// The fields that can differ, the largest first, and the letters by which patterns of ranges are
// listed.
const LEVELS = [
  ['G', ({ year }) => year > 0], ['y', ({ year }) => year], ['M', ({ month }) => month], ['d', ({ day }) => day],
  ['a', ({ hour }) => hour < 12], ['h', ({ hour }) => hour], ['m', ({ minute }) => minute], ['s', ({ second }) => second], ['S', ({ millisecond }) => millisecond],
];

// Returns the distance of two skeletons as ICU's DateIntervalInfo measures it; infinite if they have
// different fields.
function rangeDistance(wanted, fields) {
  let distance = 0;
  for (let i = 0; i < 16; i++) {
    const [a, b] = [wanted[i], fields[i]];
    if (a === undefined && b === undefined) continue;
    if (a === undefined || b === undefined) return Infinity;
    if (/[Lce]/.test(a.letter)) return Infinity;
    if (i === intl.dateFields.ZONE) continue;
    if (i === intl.dateFields.DAY_PERIOD && (a.letter === 'B') !== (b.letter === 'B')) return Infinity;
    if (a.length !== b.length) distance += a.isNumeric === b.isNumeric ? Math.abs(a.length - b.length) : 0x100;
  }
  return distance;
}

// Returns the patterns of ranges in the skeleton that is nearest to another one.
function rangeTable(state, skeleton) {
  const wanted = intl.fieldsOf(skeleton);
  let [best, least] = [undefined, Infinity];
  for (const [key, table] of Object.entries(state.names.intervalFormats)) {
    if (typeof table !== 'object') continue;
    const fields = intl.fieldsOf(key);
    const distance = rangeDistance(wanted, fields);
    if (distance < least) [best, least] = [{ table, fields }, distance];
  }
  return best;
}

// Returns the pattern of a range in a skeleton whose largest difference is `level`.
function rangePattern(state, skeleton, level) {
  const wanted = intl.fieldsOf(skeleton);
  const hour = /[hK]/.test(skeleton) ? 'h' : 'H';
  const keys = level === 'h' ? [hour] : level === 'a' ? hour === 'h' ? ['a', 'B'] : ['H'] : [level];
  const best = rangeTable(state, skeleton);
  const pattern = keys.map((key) => best?.table[key]).find((found) => found !== undefined);
  if (pattern === undefined) return undefined;
  // Names get the width that was asked for, and zones the letter.
  const zone = wanted[intl.dateFields.ZONE];
  return intl.patternText(intl.parsePattern(pattern).map((item) => {
    if (item.letter === undefined) return item;
    const { field } = intl.dateFields.widthOf(item.letter, item.length);
    if (field === intl.dateFields.ZONE) return { letter: zone.letter, length: zone.letter === 'z' ? zone.length : item.length };
    const [asked, own] = [wanted[field], best.fields[field]];
    if (asked === undefined || own === undefined || item.length !== own.length) return item;
    return { letter: item.letter, length: Math.max(item.length, asked.length) };
  }));
}

// The level of each field, by which a pattern is checked for fields that are small enough to show a
// difference.
const DEPTH = { G: 0, y: 1, u: 1, M: 2, L: 2, Q: 2, d: 3, E: 3, c: 3, e: 3, a: 4, B: 4, b: 4, h: 5, H: 5, K: 5, k: 5, m: 6, s: 7, S: 8 };

function formatRange(state, start, end) {
  const [a, b] = [fieldsAt(state, timeOf(start)), fieldsAt(state, timeOf(end))];
  // Ranges have numbers without leading zeros, and ICU knows none with offsets.
  const whole = intl.skeletonOf(state.pattern);
  const skeleton = whole.replace(/(?<!M)MM(?!M)/, 'M').replace(/dd/, 'd').replace(/([hHKkms])\1/g, '$1').replace(/O+/, '');
  const depth = LEVELS.findIndex(([, of]) => of(a) !== of(b));
  const deepest = Math.max(-1, ...intl.parsePattern(state.pattern).map(({ letter }) => DEPTH[letter] ?? -1));
  const [dateSkeleton, timeSkeleton] = split(skeleton);
  if (depth < 0 || depth > deepest) return partsOf(state, a).map((part) => ({ ...part, source: 'shared' }));
  const [level] = LEVELS[depth];
  const cycled = (pattern) => state.cycle === undefined ? pattern : withCycle(pattern, state.cycle);
  const both = (wanted) => {
    const pattern = cycled(state.generator.best(wanted, true));
    return fallbackRange(state, partsOf(state, a, pattern), partsOf(state, b, pattern));
  };
  // Larger fields that differ are shown, too.
  const missing = ['y', 'M', 'd'].filter((letter, i) => depth <= i + 1 && !dateSkeleton.includes(letter)).join('');
  const era = depth === 0 && !dateSkeleton.includes('G') ? 'G' : '';
  let pattern;
  if (dateSkeleton !== '' && timeSkeleton !== '') {
    // With a date and a time, only the time can be a range within a pattern.
    if (depth <= 3) return both(`${era}${missing}${whole}`);
    const [wholeDate, wholeTime] = split(whole);
    const date = state.generator.best(wholeDate, true);
    const glue = state.names.DateTimePatterns[8];
    const time = rangePattern(state, timeSkeleton, level);
    if (time === undefined) {
      const times = both(wholeTime);
      const shown = { 0: times, 1: partsOf(state, a, date).map((part) => ({ ...part, source: 'shared' })) };
      return glue.split(/\{([01])\}/).flatMap((piece, i) => i % 2 === 1 ? shown[piece] : piece === '' ? [] : [{ type: 'literal', value: piece.replaceAll('\'', ''), source: 'shared' }]);
    }
    pattern = glue.replace(/\{([01])\}/g, (_, i) => i === '0' ? time : date);
  } else if (dateSkeleton !== '') {
    if (rangeTable(state, skeleton) !== undefined) pattern = rangePattern(state, skeleton, level) ?? rangePattern(state, `${missing}${skeleton}`, level);
  } else if (depth > 3) {
    pattern = rangePattern(state, skeleton, level);
  } else {
    // Times of different days are shown with their dates.
    return both(`${era}yMd${whole.replace(/O+/, '')}`);
  }
  if (pattern === undefined) return both(whole);
  return splitRange(state, a, b, cycled(pattern));
}

function split(skeleton) {
  const items = intl.parsePattern(skeleton);
  const isDate = ({ letter }) => intl.dateFields.DATE & 1 << intl.dateFields.widthOf(letter, 1).field;
  const text = (list) => list.map(({ letter, length }) => letter.repeat(length)).join('');
  return [text(items.filter(isDate)), text(items.filter((item) => !isDate(item)))];
}

function fallbackRange(state, from, to) {
  const [head, middle, tail] = (state.names.intervalFormats.fallback ?? '{0} \u2013 {1}').split(/\{[01]\}/);
  const mark = (parts, source) => parts.map((part) => ({ ...part, source }));
  const literal = (value) => value === '' ? [] : [{ type: 'literal', value, source: 'shared' }];
  return [...literal(head), ...mark(from, 'startRange'), ...literal(middle), ...mark(to, 'endRange'), ...literal(tail)];
}

// Formats a pattern in which fields occur twice. What lies between repeated fields belongs to their
// end of the range, and all else to both.
function splitRange(state, a, b, pattern) {
  const items = intl.parsePattern(pattern);
  const kind = ({ letter }) => intl.dateFields.widthOf(letter, 1).field;
  const seen = new Set();
  const turn = items.findIndex((item) => {
    if (item.letter === undefined) return false;
    if (seen.has(kind(item))) return true;
    seen.add(kind(item));
    return false;
  });
  if (turn < 0) return partsOf(state, a, pattern).map((part) => ({ ...part, source: 'shared' }));
  const count = (item, from, to) => items.slice(from, to).some((other) => other.letter !== undefined && kind(other) === kind(item));
  const span = (from, to, isOther) => {
    const all = items.map((item, i) => i).filter((i) => i >= from && i < to && items[i].letter !== undefined && isOther(items[i]));
    return [all[0], all.at(-1)];
  };
  const first = span(0, turn, (item) => count(item, turn, items.length));
  const second = span(turn, items.length, (item) => count(item, 0, turn));
  return items.map((item, i) => {
    const fields = i < turn ? a : b;
    const value = item.letter === undefined ? item.text : fieldText(state, fields, item, pattern);
    const source = i >= first[0] && i <= first[1] ? 'startRange' : i >= second[0] && i <= second[1] ? 'endRange' : 'shared';
    return { type: item.letter === undefined ? 'literal' : TYPES[item.letter], value, source };
  });
}

// --- the constructor -----------------------------------------------------------------------------------------

// Returns the text of parts with plain spaces instead of narrow ones, which V8 avoids in texts.
const plainText = (parts) => intl.textOf(parts).replaceAll('\u202f', ' ');

class DateTimeFormat {
  constructor(locales, options) {
    states.set(this, initialise(locales, options, 'any', 'date'));
  }
  get format() {
    const state = intl.stateOf(states, this, 'format', 'DateTimeFormat');
    return state.bound ??= intl.nameless((date) => plainText(partsOf(state, fieldsAt(state, timeOf(date)))));
  }
  formatToParts(date) {
    const state = intl.stateOf(states, this, 'formatToParts', 'DateTimeFormat');
    return partsOf(state, fieldsAt(state, timeOf(date)));
  }
  formatRange(start, end) {
    const parts = range(intl.stateOf(states, this, 'formatRange', 'DateTimeFormat'), start, end);
    return parts.every(({ source }) => source === 'shared') ? plainText(parts) : intl.textOf(parts);
  }
  formatRangeToParts(start, end) {
    return range(intl.stateOf(states, this, 'formatRangeToParts', 'DateTimeFormat'), start, end);
  }
  resolvedOptions() {
    const state = intl.stateOf(states, this, 'resolvedOptions', 'DateTimeFormat');
    const out = { locale: state.locale, calendar: state.calendar, numberingSystem: state.system, timeZone: state.zone };
    if (state.cycle !== undefined) {
      out.hourCycle = state.cycle;
      out.hour12 = state.cycle === 'h11' || state.cycle === 'h12';
    }
    const { dateStyle, timeStyle } = state;
    if (dateStyle === undefined && timeStyle === undefined) {
      // As V8 does, this searches the whole text of the pattern, literals included.
      const pattern = state.pattern.replace(/[hHKk]/g, 'j');
      for (const [name, , letters] of PROPERTIES) {
        if (name === 'fractionalSecondDigits') {
          const count = /S+/.exec(pattern)?.[0].length;
          if (count !== undefined) out[name] = count;
          continue;
        }
        const choices = Object.entries(letters).sort(([, a], [, b]) => b.length - a.length);
        const forms = ([, text]) => [text, text.replaceAll('E', 'c'), text.replaceAll('M', 'L'), text.replaceAll('B', 'b')];
        const match = choices.find((choice) => forms(choice).some((text) => pattern.includes(text)));
        if (match !== undefined) out[name] = match[0];
      }
    }
    if (dateStyle !== undefined) out.dateStyle = dateStyle;
    if (timeStyle !== undefined) out.timeStyle = timeStyle;
    return out;
  }
}
function range(state, start, end) {
  if (start === undefined || end === undefined) throw new TypeError('startDate or endDate cannot be undefined');
  return formatRange(state, start, end);
}

intl.DateTimeFormat = intl.callable('DateTimeFormat', DateTimeFormat);
// Formats a date for the methods of Date. Formats without options are used often.
const usual = new Map();
intl.formatDate = (date, locales, options, required, defaults) => {
  const isUsual = options === undefined && (locales === undefined || typeof locales === 'string');
  const key = isUsual ? `${locales} ${required} ${defaults} ${host.process?.env?.TZ}` : undefined;
  let state = usual.get(key);
  if (state === undefined) {
    state = initialise(locales, options, required, defaults);
    if (isUsual) usual.set(key, state);
  }
  return plainText(partsOf(state, fieldsAt(state, date)));
};
})
