// `Intl.Collator` and `Intl.Segmenter`.
(function (native, host) {
'use strict';

const { intl } = host;

// --- order -------------------------------------------------------------------------------------------

const collators = new WeakMap();

function collatorState(locales, options) {
  const requested = intl.canonicalList(locales);
  const given = intl.coerced(options);
  const get = (name, values, fallback) => intl.option(given, name, 'string', values, fallback, 'Intl.Collator');
  const usage = get('usage', ['sort', 'search'], 'sort');
  get('localeMatcher', intl.MATCHER, 'best fit');
  const co = intl.typeOption(given, 'collation', 'Intl.Collator');
  const numeric = intl.option(given, 'numeric', 'boolean');
  const caseFirst = get('caseFirst', ['upper', 'lower', 'false'], undefined);
  const asked = { co, kn: numeric === undefined ? undefined : String(numeric), kf: caseFirst };
  const state = intl.resolveLocale(requested, asked, ['co', 'kn', 'kf'], (key, locale) => {
    if (key === 'co') return [undefined, ...collationsOf(locale)];
    return key === 'kn' ? ['false', 'true'] : ['false', 'lower', 'upper'];
  });
  // Danish writes capital letters first.
  const first = state.dataLocale.split('-')[0] === 'da' && usage === 'sort' && asked.kf === undefined && !/-kf-/.test(state.locale) ? 'upper' : state.keys.kf;
  const sensitivity = get('sensitivity', ['base', 'accent', 'case', 'variant'], 'variant');
  const ignorePunctuation = intl.option(given, 'ignorePunctuation', 'boolean', undefined, false);
  // Regions without rules of their own have those of the language.
  const { collators } = intl.index();
  const { locale } = state;
  if (locale === state.dataLocale) for (let at = locale; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('-')))) if (collators.includes(at)) { state.locale = at; break; }
  const made = {
    ...state, usage, sensitivity, ignorePunctuation, numeric: state.keys.kn === 'true', caseFirst: first, collation: usage === 'search' ? undefined : state.keys.co,
  };
  const isSearch = usage === 'search';
  const base = isSearch && !intl.index().searches.includes(state.dataLocale.split('-')[0]) ? 'und' : state.dataLocale;
  made.handle = native.collator(base, isSearch ? 'search' : made.collation ?? '', sensitivity, ignorePunctuation, made.numeric, first);
  return made;
}

const COLLATIONS = { de: ['phonebk'], es: ['trad'], ja: ['unihan'], ko: ['searchjl', 'unihan'], sv: ['trad'], fi: ['trad'], ar: ['compat'], zh: ['pinyin', 'stroke', 'unihan', 'zhuyin'], ta: [], hi: [], ln: [] };
const collationsOf = (locale) => [...COLLATIONS[locale.split('-')[0]] ?? [], 'emoji', 'eor'];

class Collator {
  constructor(locales, options) {
    collators.set(this, collatorState(locales, options));
  }
  get compare() {
    const state = intl.stateOf(collators, this, 'compare', 'Collator');
    return state.bound ??= intl.nameless((a, b) => compare(state, a, b));
  }
  resolvedOptions() {
    const { locale, usage, sensitivity, ignorePunctuation, collation, numeric, caseFirst } = intl.stateOf(collators, this, 'resolvedOptions', 'Collator');
    return { locale, usage, sensitivity, ignorePunctuation, collation: collation ?? 'default', numeric, caseFirst };
  }
}
const compare = (state, a, b) => native.collate(state.handle, String(a), String(b));
intl.Collator = intl.callable('Collator', Collator);

// The order without options is used often.
const usual = new Map();
intl.localeCompare = (text, other, locales, options) => {
  if (options !== undefined || (locales !== undefined && typeof locales !== 'string')) return compare(collatorState(locales, options), text, other);
  const key = locales ?? '';
  if (!usual.has(key)) usual.set(key, collatorState(locales, undefined));
  return compare(usual.get(key), text, other);
};

// --- boundaries ----------------------------------------------------------------------------------------

// The rules of UAX 29 as ICU compiles them: a state machine over categories of code points
// (`rbbidata.h`), and a trie from code points to categories (`ucptrie.h`).
class BreakRules {
  constructor(text) {
    const bytes = new Uint8Array(native.encode(text, 'base64'));
    const view = new DataView(bytes.buffer);
    const u32 = (i) => view.getUint32(4 * i, true);
    const [table, trie] = [u32(4), u32(8)];
    // The head of a table has numbers of 32 bits.
    const head = (i) => view.getUint32(table + 4 * i, true);
    Object.assign(this, { view, categories: u32(3), rowLength: head(1), dictionary: head(2), flags: head(4), rows: table + 20 });
    this.isNarrow = (this.flags & 4) !== 0;
    this.statusTable = u32(12);
    this.readTrie(trie);
  }

  readTrie(at) {
    const { view } = this;
    const options = view.getUint16(at + 4, true);
    const indexLength = view.getUint16(at + 6, true);
    const data = at + 16 + 2 * indexLength;
    Object.assign(this, {
      index: at + 16, data, isFast: (options >> 6 & 3) === 0, width: options & 7, highStart: view.getUint16(at + 14, true) << 9,
      dataLength: (options & 0xf000) << 4 | view.getUint16(at + 8, true),
    });
  }

  // Returns the category of a code point.
  category(point) {
    const { view, index, data, width, dataLength, highStart } = this;
    const unit = (i) => view.getUint16(index + 2 * i, true);
    let at;
    if (point <= (this.isFast ? 0xffff : 0xfff)) {
      at = unit(point >> 6) + (point & 0x3f);
    } else if (point >= highStart) {
      at = dataLength - 2;
    } else {
      let first = point >> 14;
      first += this.isFast ? 1020 : 64;
      let third = unit(unit(first) + (point >> 9 & 0x1f));
      const low = point >> 4 & 0x1f;
      let block;
      if ((third & 0x8000) === 0) {
        block = unit(third + low);
      } else {
        third = (third & 0x7fff) + (low & ~7) + (low >> 3);
        const i = low & 7;
        block = unit(third) << 2 + 2 * i & 0x30000 | unit(third + 1 + i);
      }
      at = block + (point & 0xf);
    }
    return width === 2 ? view.getUint8(data + at) : view.getUint16(data + 2 * at, true);
  }

  // Returns the end of the segment that begins at `start`, and its status.
  next(text, start) {
    const { view, rows, rowLength, isNarrow } = this;
    const row = (state) => rows + state * rowLength;
    const cell = (state, i) => isNarrow ? view.getUint8(row(state) + i) : view.getUint16(row(state) + 2 * i, true);
    const lookaheads = [];
    let [state, at, end, status] = [1, start, start, 0];
    let mode = this.flags & 2 ? 'start' : 'run';
    for (;;) {
      let category;
      let size = 0;
      if (mode === 'start') {
        category = 2;
      } else if (at >= text.length) {
        if (mode === 'end') break;
        mode = 'end';
        category = 1;
      } else {
        const point = text.codePointAt(at);
        size = point > 0xffff ? 2 : 1;
        category = this.category(point);
      }
      state = cell(state, 3 + category);
      const accepting = cell(state, 0);
      if (accepting === 1) {
        if (mode !== 'start') end = at + size;
        status = cell(state, 2);
      } else if (accepting > 1 && lookaheads[accepting] !== undefined) {
        return { end: lookaheads[accepting], status: cell(state, 2) };
      }
      const lookahead = cell(state, 1);
      if (lookahead > 1) lookaheads[lookahead] = at + size;
      if (state === 0) break;
      if (mode === 'run') at += size;
      else if (mode === 'start') mode = 'run';
      else break;
    }
    if (end === start) end = start + (text.codePointAt(start) > 0xffff ? 2 : 1);
    return { end, status: this.status(status) };
  }

  // Returns the largest number of a row of the table of statuses.
  status(row) {
    const at = this.statusTable + 4 * row;
    const count = this.view.getInt32(at, true);
    return count === 0 ? 0 : this.view.getInt32(at + 4 * count, true);
  }
}

const rules = new Map();
function rulesOf(granularity) {
  if (!rules.has(granularity)) rules.set(granularity, new BreakRules(native.intlSource(`root/${{ grapheme: 'char', word: 'word', sentence: 'sent' }[granularity]}`)));
  return rules.get(granularity);
}

const segmenters = new WeakMap();
const segmented = new WeakMap();

class Segmenter {
  constructor(locales, options) {
    const requested = intl.canonicalList(locales);
    const given = intl.optionsObject(options);
    intl.option(given, 'localeMatcher', 'string', intl.MATCHER, 'best fit', 'Intl.Segmenter');
    const granularity = intl.option(given, 'granularity', 'string', ['grapheme', 'word', 'sentence'], 'grapheme', 'Intl.Segmenter');
    segmenters.set(this, { ...intl.resolveLocale(requested, {}, [], () => []), granularity });
  }
  segment(input) {
    const { granularity } = intl.stateOf(segmenters, this, 'segment', 'Segmenter');
    const segments = Object.create(Segments);
    segmented.set(segments, { text: String(input), granularity });
    return segments;
  }
  resolvedOptions() {
    const { locale, granularity } = intl.stateOf(segmenters, this, 'resolvedOptions', 'Segmenter');
    return { locale, granularity };
  }
}
Object.defineProperty(Segmenter, 'length', { __proto__: null, value: 0, configurable: true });
intl.Segmenter = intl.defineService('Segmenter', Segmenter);

// Scripts whose words have no spaces between them; ICU finds those words in dictionaries.
const DICTIONARY = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3\u{20000}-\u{3ffff}]/u;

function segmentAt(text, granularity, start) {
  const { end, status } = rulesOf(granularity).next(text, start);
  const segment = text.slice(start, end);
  const data = { segment, index: start, input: text };
  if (granularity === 'word') data.isWordLike = status >= 100 || (status === 0 && DICTIONARY.test(segment));
  return data;
}

const iterators = new WeakMap();
const SegmentIterator = Object.create(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())));
Object.defineProperties(SegmentIterator, {
  next: { __proto__: null, configurable: true, writable: true, enumerable: false, value: { next() {
    const state = intl.stateOf(iterators, this, 'next', 'Segmenter');
    if (state.at >= state.text.length) return { value: undefined, done: true };
    const value = segmentAt(state.text, state.granularity, state.at);
    state.at += value.segment.length;
    return { value, done: false };
  } }.next },
  [Symbol.toStringTag]: { __proto__: null, configurable: true, value: 'Segmenter String Iterator' },
});

const Segments = {
  containing(index) {
    const { text, granularity } = intl.stateOf(segmented, this, 'containing', 'Segments');
    const at = Math.trunc(Number(index)) || 0;
    if (at < 0 || at >= text.length) return undefined;
    for (let start = 0; ;) {
      const data = segmentAt(text, granularity, start);
      start += data.segment.length;
      if (at < start) return data;
    }
  },
  [Symbol.iterator]() {
    const { text, granularity } = intl.stateOf(segmented, this, '[Symbol.iterator]', 'Segments');
    const iterator = Object.create(SegmentIterator);
    iterators.set(iterator, { text, granularity, at: 0 });
    return iterator;
  },
};
for (const key of Reflect.ownKeys(Segments)) Object.defineProperty(Segments, key, { __proto__: null, enumerable: false });
})
