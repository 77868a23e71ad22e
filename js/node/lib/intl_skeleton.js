// `Intl`: the patterns of dates. A skeleton lists the wanted fields (`yMMMd`); the pattern that fits
// it best among those of the locale is chosen and adjusted as UTS 35 describes ("Matching
// Skeletons", "Missing Skeleton Fields") and ICU's DateTimePatternGenerator does.
(function (native, host) {
'use strict';

const { intl } = host;

// --- fields ------------------------------------------------------------------------------------------

const [ERA, YEAR, QUARTER, MONTH, WEEK, WEEK_OF_MONTH, WEEKDAY, DAY_OF_YEAR, DAY_IN_MONTH, DAY, DAY_PERIOD, HOUR, MINUTE, SECOND, FRACTION, ZONE] =
  Array.from({ length: 16 }, (_, i) => i);
const TIME = (1 << 16) - (1 << DAY_PERIOD);
const DATE = (1 << DAY_PERIOD) - 1;

// The distance of two widths of a field is the difference of these numbers (ICU's table).
const [NUMERIC, NARROW, SHORTER, SHORT, LONG, DELTA] = [0x100, -0x101, -0x102, -0x103, -0x104, 0x10];
// For each letter: its field, and for each minimum length the number of its width.
const LETTERS = {
  G: [ERA, [1, SHORT], [4, LONG], [5, NARROW]],
  y: [YEAR, [1, NUMERIC]], Y: [YEAR, [1, NUMERIC + DELTA]], u: [YEAR, [1, NUMERIC + 2 * DELTA]], r: [YEAR, [1, NUMERIC + 3 * DELTA]],
  U: [YEAR, [1, SHORT], [4, LONG], [5, NARROW]],
  Q: [QUARTER, [1, NUMERIC], [3, SHORT], [4, LONG], [5, NARROW]],
  q: [QUARTER, [1, NUMERIC + DELTA], [3, SHORT - DELTA], [4, LONG - DELTA], [5, NARROW - DELTA]],
  M: [MONTH, [1, NUMERIC], [3, SHORT], [4, LONG], [5, NARROW]],
  L: [MONTH, [1, NUMERIC + DELTA], [3, SHORT - DELTA], [4, LONG - DELTA], [5, NARROW - DELTA]],
  w: [WEEK, [1, NUMERIC]], W: [WEEK_OF_MONTH, [1, NUMERIC]],
  E: [WEEKDAY, [1, SHORT], [4, LONG], [5, NARROW], [6, SHORTER]],
  c: [WEEKDAY, [1, NUMERIC + 2 * DELTA], [3, SHORT - 2 * DELTA], [4, LONG - 2 * DELTA], [5, NARROW - 2 * DELTA], [6, SHORTER - 2 * DELTA]],
  e: [WEEKDAY, [1, NUMERIC + DELTA], [3, SHORT - DELTA], [4, LONG - DELTA], [5, NARROW - DELTA], [6, SHORTER - DELTA]],
  d: [DAY, [1, NUMERIC]], g: [DAY, [1, NUMERIC + DELTA]], D: [DAY_OF_YEAR, [1, NUMERIC]], F: [DAY_IN_MONTH, [1, NUMERIC]],
  a: [DAY_PERIOD, [1, SHORT], [4, LONG], [5, NARROW]],
  b: [DAY_PERIOD, [1, SHORT - DELTA], [4, LONG - DELTA], [5, NARROW - DELTA]],
  B: [DAY_PERIOD, [1, SHORT - 3 * DELTA], [4, LONG - 3 * DELTA], [5, NARROW - 3 * DELTA]],
  H: [HOUR, [1, NUMERIC + 10 * DELTA]], k: [HOUR, [1, NUMERIC + 11 * DELTA]], h: [HOUR, [1, NUMERIC]], K: [HOUR, [1, NUMERIC + DELTA]],
  m: [MINUTE, [1, NUMERIC]], s: [SECOND, [1, NUMERIC]], A: [SECOND, [1, NUMERIC + DELTA]], S: [FRACTION, [1, NUMERIC]],
  v: [ZONE, [1, SHORT - 2 * DELTA], [4, LONG - 2 * DELTA]], z: [ZONE, [1, SHORT], [4, LONG]],
  Z: [ZONE, [1, NARROW - DELTA], [4, LONG - DELTA], [5, SHORT - DELTA]], O: [ZONE, [1, SHORT - DELTA], [4, LONG - DELTA]],
  V: [ZONE, [1, SHORT - DELTA], [2, LONG - DELTA]], X: [ZONE, [1, NARROW - DELTA]], x: [ZONE, [1, NARROW - DELTA]],
};

// Returns the field of a letter and the number of its width.
function widthOf(letter, length) {
  const [field, ...widths] = LETTERS[letter];
  const [least, width] = widths.findLast(([from]) => length >= from) ?? widths[0];
  return { field, width: width > 0 ? width + length : width, isNumeric: width > 0, base: letter.repeat(width > 0 ? 1 : least) };
}

// Parses a pattern to fields `{ letter, length }` and literals `{ text }`.
const patterns = new Map();
function parsePattern(pattern) {
  if (patterns.has(pattern)) return patterns.get(pattern);
  const items = [];
  const literal = (text) => {
    if (text === '') return;
    if (items.at(-1)?.text !== undefined) items.at(-1).text += text;
    else items.push({ text });
  };
  for (let i = 0; i < pattern.length;) {
    const letter = pattern[i];
    if (letter === '\'') {
      let end = pattern.indexOf('\'', i + 1);
      if (end < 0) end = pattern.length;
      literal(end === i + 1 ? '\'' : pattern.slice(i + 1, end));
      i = end + 1;
    } else if (LETTERS[letter] !== undefined) {
      let end = i;
      while (pattern[end] === letter) end++;
      items.push({ letter, length: end - i });
      i = end;
    } else {
      literal(letter);
      i++;
    }
  }
  patterns.set(pattern, items);
  return items;
}

const quoted = (text) => /[A-Za-z']/.test(text) ? `'${text.replaceAll('\'', '\'\'')}'` : text;
const patternText = (items) => items.map(({ text, letter, length }) => text === undefined ? letter.repeat(length) : quoted(text)).join('');

// --- skeletons -----------------------------------------------------------------------------------------

// Returns the fields of a skeleton or a pattern: for each field its letter, length and width.
function fieldsOf(text) {
  const fields = [];
  for (const { letter, length } of parsePattern(text)) {
    if (letter === undefined) continue;
    const { field, width, isNumeric, base } = widthOf(letter, length);
    fields[field] = { letter, length, width, isNumeric, base };
  }
  const hour = fields[HOUR]?.letter;
  // A clock of twelve hours has AM and PM, and one of 24 has not.
  if (hour === 'h' || hour === 'K') fields[DAY_PERIOD] ??= { letter: 'a', length: 1, width: SHORT, isNumeric: false, base: '', isImplied: true };
  else if (hour !== undefined) delete fields[DAY_PERIOD];
  return fields;
}

const baseOf = (fields) => fields.map((field) => field?.base ?? '').join('');
const maskOf = (fields) => fields.reduce((mask, field, i) => field === undefined ? mask : mask | 1 << i, 0);

// The patterns of a locale, by skeleton.
const generators = new Map();
class PatternGenerator {
  constructor(locale) {
    this.data = intl.dataOf(locale, 'd');
    this.names = intl.dataOf(locale, 'r');
    const { symbols } = intl.numberData(locale, intl.dataOf(locale, 'n').default);
    this.decimal = symbols.decimal;
    this.hour = { h23: 'H', h12: 'h', h11: 'K', h24: 'k' }[intl.hourCycleOf(locale)];
    // In ICU's order: single fields, the patterns of styles, and those that the locale lists.
    const found = new Map();
    const bases = new Set();
    const add = (skeleton, pattern, isSpecified) => {
      const fields = fieldsOf(skeleton);
      const base = baseOf(fields);
      if (!isSpecified && bases.has(base)) return;
      bases.add(base);
      found.set(fields.map((field) => field === undefined ? '' : field.letter.repeat(field.length)).join(), { base, fields, pattern, isSpecified });
    };
    for (const letter of ['G', 'y', 'Q', 'M', 'w', 'W', 'E', 'd', 'D', 'F', 'a', 'H', 'm', 's', 'S', 'v']) add(letter, letter, false);
    for (const pattern of this.data.DateTimePatterns.slice(0, 8)) add(pattern, pattern, false);
    for (const [skeleton, pattern] of Object.entries(this.data.availableFormats)) {
      if (typeof pattern === 'string' && /^[A-Za-z]+$/.test(skeleton)) add(skeleton, pattern, true);
    }
    // Of equally near patterns, the first by the letter of its first field counts.
    const place = ({ base }) => /[a-z]/.test(base[0]) ? 0 : 1;
    this.patterns = [...found.values()].sort((a, b) => place(a) - place(b) || (a.base[0] < b.base[0] ? -1 : a.base[0] > b.base[0] ? 1 : 0));
  }

  static of(locale) {
    if (!generators.has(locale)) generators.set(locale, new PatternGenerator(locale));
    return generators.get(locale);
  }

  // Returns the pattern with the smallest distance from the fields in `mask`, and the fields that
  // it lacks.
  nearest(wanted, mask) {
    let best;
    let least = Infinity;
    for (const trial of this.patterns) {
      let [distance, missing, extra] = [0, 0, 0];
      for (let i = 0; i < 16; i++) {
        const own = mask & 1 << i ? wanted[i]?.width ?? 0 : 0;
        const other = trial.fields[i]?.width ?? 0;
        if (own === other) continue;
        if (own === 0) {
          distance += 0x10000;
          extra |= 1 << i;
        } else if (other === 0) {
          distance += 0x1000;
          missing |= 1 << i;
        } else {
          distance += Math.abs(own - other);
        }
      }
      if (distance < least) {
        [least, best] = [distance, { ...trial, missing, extra }];
        if (distance === 0) break;
      }
    }
    return best;
  }

  // Gives the fields of a pattern the widths that were asked for.
  adjusted({ pattern, fields, isSpecified }, wanted, { withFraction = false, keepsHour = false } = {}) {
    return patternText(parsePattern(pattern).flatMap((item) => {
      if (item.letter === undefined) return [item];
      const { field, isNumeric } = widthOf(item.letter, item.length);
      if (withFraction && field === SECOND) return [item, { text: this.decimal }, { letter: 'S', length: wanted[FRACTION].length }];
      const asked = wanted[field];
      if (asked === undefined) return [item];
      let askedLength = asked.length;
      if (asked.letter === 'E' && askedLength < 3) askedLength = 3;
      let length = askedLength;
      if (field === MINUTE || field === SECOND || (field === HOUR && keepsHour)) {
        ({ length } = item);
      } else if (isSpecified && asked.letter !== 'c' && asked.letter !== 'e') {
        const specified = fields[field]?.length ?? 0;
        if (specified === askedLength || isNumeric !== asked.isNumeric) ({ length } = item);
      }
      let { letter } = item;
      if (![HOUR, MONTH, WEEKDAY].includes(field) && (field !== YEAR || asked.letter === 'Y')) letter = asked.letter;
      if (letter === 'E' && length < 3) letter = 'e';
      if (field === HOUR) {
        if (asked.letter === this.hour) letter = this.hour;
        else if (asked.letter === 'h' && this.hour === 'K') letter = 'K';
        else if (asked.letter === 'H' && this.hour === 'k') letter = 'k';
        else if (asked.letter === 'k' && this.hour === 'H') letter = 'H';
        else if (asked.letter === 'K' && this.hour === 'h') letter = 'h';
      }
      return [{ letter, length }];
    }));
  }

  // Returns the pattern for the fields in `mask`. Fields that the nearest pattern lacks are appended.
  appended(wanted, mask, keepsHour) {
    if (mask === 0) return '';
    const first = this.nearest(wanted, mask);
    let result = this.adjusted(first, wanted, { keepsHour });
    let { missing } = first;
    const both = 1 << SECOND | 1 << FRACTION;
    while (missing !== 0) {
      if ((missing & both) === 1 << FRACTION && (mask & both) === both) {
        result = this.adjusted({ ...first, pattern: result }, wanted, { withFraction: true, keepsHour });
        missing &= ~(1 << FRACTION);
        continue;
      }
      const next = this.nearest(wanted, missing);
      const found = missing & ~next.missing;
      if (found === 0) break;
      const top = 31 - Math.clz32(found);
      const [name, key] = [
        ['era', 'Era'], ['year', 'Year'], ['quarter', 'Quarter'], ['month', 'Month'], ['week', 'Week'], ['week', 'Week'], ['weekday', 'Day-Of-Week'],
        ['day', 'Day'], ['day', 'Day'], ['day', 'Day'], ['dayperiod', 'DayPeriod'], ['hour', 'Hour'], ['minute', 'Minute'], ['second', 'Second'],
        ['second', 'FractionalSecond'], ['zone', 'Timezone']][top];
      const pattern = this.data.appendItems[key] ?? '{0} \u251c{2}: {1}\u2524';
      const values = [result, this.adjusted(next, wanted, { keepsHour }), `'${(this.names[name]?.dn ?? '').replaceAll('\'', '\'\'')}'`];
      result = pattern.replace(/\{([012])\}/g, (_, i) => values[i]);
      missing &= next.missing;
    }
    return result;
  }

  // Returns the pattern for a skeleton. Hours have the width of the locale's pattern if
  // `keepsHour` is set.
  best(skeleton, keepsHour = false) {
    const wanted = fieldsOf(skeleton);
    const found = this.nearest(wanted, -1);
    if (found.missing === 0 && found.extra === 0) return this.adjusted(found, wanted, { keepsHour });
    const mask = maskOf(wanted);
    const [date, time] = [this.appended(wanted, mask & DATE, keepsHour), this.appended(wanted, mask & TIME, keepsHour)];
    if (date === '') return time;
    if (time === '') return date;
    const month = wanted[MONTH]?.length ?? 0;
    const style = month === 4 ? wanted[WEEKDAY] === undefined ? 1 : 0 : month === 3 ? 2 : 3;
    return glued(this.data, style, date, time);
  }
}

// Joins a date and a time by the pattern for a style (0 full to 3 short).
function glued(data, style, date, time) {
  const pattern = data['DateTimePatterns%atTime']?.[style] ?? data.DateTimePatterns[9 + style];
  return pattern.replace(/\{([01])\}/g, (_, i) => i === '0' ? time : date);
}

// Returns the skeleton of a pattern.
const skeletonOf = (pattern) => {
  const letters = [];
  for (const { letter, length } of parsePattern(pattern)) if (letter !== undefined) letters[LETTERS[letter][0]] = letter.repeat(length);
  return letters.join('');
};

Object.assign(intl, { PatternGenerator, parsePattern, patternText, fieldsOf, skeletonOf, glued, dateFields: { MONTH, WEEKDAY, DAY_PERIOD, ZONE, DATE, widthOf } });
})
