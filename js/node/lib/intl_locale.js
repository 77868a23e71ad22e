// `Intl`, first part: locale data, tags of BCP 47 and their canonical form, the negotiation of a
// locale, and `Intl.Locale`. The parts of `Intl` follow ECMA-402; their data are those of Node's
// ICU (`js/node/intl.cjs`), read from an archive when they are first needed.
(function (native, host) {
'use strict';

// --- data ------------------------------------------------------------------------------------------

// Raw texts are read from the archive, and parts are parsed once.
const parts = new Map();
function partOf(name) {
  if (parts.has(name)) return parts.get(name);
  const text = native.intlSource(name);
  const value = text === null || text === undefined ? undefined : JSON.parse(text);
  parts.set(name, value);
  return value;
}

const isTable = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);

// Returns `table` with the values of `over` in place of its own.
function overlay(table, over) {
  if (over === undefined) return table;
  if (!isTable(table) || !isTable(over)) return over;
  const out = { __proto__: null, ...table };
  for (const key in over) out[key] = overlay(table[key], over[key]);
  return out;
}

const index = () => partOf('root/index');

// Returns the name of the bundle from which a bundle inherits.
function parentOf(bundle) {
  if (bundle === 'root') return undefined;
  const cut = bundle.lastIndexOf('_');
  return index().parents[bundle] ?? (cut < 0 ? 'root' : bundle.slice(0, cut));
}

const merged = new Map();
function mergedPart(bundle, kind) {
  const id = `${bundle}/${kind}`;
  if (merged.has(id)) return merged.get(id);
  const parent = parentOf(bundle);
  const value = overlay(parent === undefined ? undefined : mergedPart(parent, kind), partOf(id));
  merged.set(id, value);
  return value;
}

// Returns a part of the data of a locale that is available.
const dataOf = (locale, kind) => mergedPart(index().targets[locale] ?? locale.replaceAll('-', '_'), kind);

// --- tags --------------------------------------------------------------------------------------------

const lower = (text) => text.toLowerCase();
const title = (text) => text[0].toUpperCase() + text.slice(1).toLowerCase();

function refuseTag() {
  throw new RangeError('Incorrect locale information provided');
}

// Parses a Unicode locale identifier (UTS 35). Returns undefined for other texts.
function parseTag(text) {
  if (!/^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/.test(text)) return undefined;
  const words = lower(text).split('-');
  let at = 0;
  const take = (form) => words[at] !== undefined && form.test(words[at]) ? words[at++] : undefined;
  const language = take(/^(?:[a-z]{2,3}|[a-z]{5,8})$/);
  if (language === undefined) return undefined;
  const script = take(/^[a-z]{4}$/);
  const region = take(/^(?:[a-z]{2}|[0-9]{3})$/);
  const variants = [];
  const takeVariants = (into) => {
    for (let one; (one = take(/^(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3})$/)) !== undefined;) {
      if (into.includes(one)) return false;
      into.push(one);
    }
    return true;
  };
  if (!takeVariants(variants)) return undefined;
  const tag = { language, script: script && title(script), region: region?.toUpperCase(), variants, attributes: [], keywords: new Map(), others: new Map(), unicode: false };
  while (at < words.length) {
    const single = words[at++];
    if (single.length !== 1) return undefined;
    if (single === 'x') {
      const rest = words.slice(at);
      if (rest.length === 0 || rest.some((word) => word.length > 8)) return undefined;
      tag.privateUse = rest;
      break;
    }
    if (single === 'u' ? tag.unicode : tag.others.has(single)) return undefined;
    const start = at;
    while (at < words.length && words[at].length >= 2) {
      if (words[at].length > 8) return undefined;
      at++;
    }
    const body = words.slice(start, at);
    if (body.length === 0) return undefined;
    if (single === 'u') {
      tag.unicode = true;
      let i = 0;
      while (i < body.length && body[i].length > 2) tag.attributes.push(body[i++]);
      while (i < body.length) {
        const key = body[i++];
        if (!/^[a-z0-9][a-z]$/.test(key)) return undefined;
        const type = [];
        while (i < body.length && body[i].length > 2) type.push(body[i++]);
        if (!tag.keywords.has(key)) tag.keywords.set(key, type.join('-'));
      }
    } else {
      if (single === 't' && !checkTransform(body)) return undefined;
      tag.others.set(single, body);
    }
  }
  return tag;
}

// Returns whether the words of an extension `t` are a language tag and fields.
function checkTransform(words) {
  let at = 0;
  if (/^(?:[a-z]{2,3}|[a-z]{5,8})$/.test(words[0])) {
    at = 1;
    if (/^[a-z]{4}$/.test(words[at] ?? '')) at++;
    if (/^(?:[a-z]{2}|[0-9]{3})$/.test(words[at] ?? '')) at++;
    const seen = [];
    while (/^(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3})$/.test(words[at] ?? '')) {
      if (seen.includes(words[at])) return false;
      seen.push(words[at++]);
    }
  }
  while (at < words.length) {
    if (!/^[a-z][0-9]$/.test(words[at++])) return false;
    const start = at;
    while (at < words.length && /^[a-z0-9]{3,8}$/.test(words[at])) at++;
    if (at === start) return false;
  }
  return true;
}

const subtags = () => partOf('root/subtags');

// Replaces deprecated subtags by those that CLDR names.
function replaceAliases(tag) {
  const { language: languages, territory: regions, script: scripts, variant: variants } = subtags().aliases;
  const base = (tag) => [tag.language, tag.script, tag.region, ...tag.variants].filter(Boolean).join('-').toLowerCase();
  // A rule for a language may require a region or a variant, too.
  const full = languages[base(tag)];
  const rule = full ?? languages[tag.language];
  for (const variant of [...tag.variants]) {
    const both = languages[`${tag.language}-${variant}`];
    if (both === undefined || full !== undefined) continue;
    tag.variants.splice(tag.variants.indexOf(variant), 1);
    const [language, ...rest] = both.split('-');
    tag.language = language;
    for (const word of rest) if (/^[A-Za-z0-9]{5,8}$/.test(word)) tag.variants.push(lower(word));
  }
  if (rule !== undefined) {
    const made = parseTag(rule);
    if (made !== undefined) {
      tag.language = made.language === 'und' ? tag.language : made.language;
      tag.script ??= made.script;
      tag.region = full === undefined ? tag.region ?? made.region : made.region ?? tag.region;
      if (full !== undefined) tag.variants = made.variants;
    }
  }
  if (tag.script !== undefined) tag.script = scripts[lower(tag.script)] ?? tag.script;
  const region = tag.region === undefined ? undefined : regions[lower(tag.region)];
  if (region !== undefined) {
    const choices = region.split(' ');
    const likely = choices.length < 2 ? undefined : maximal({ ...tag, region: undefined }).region;
    tag.region = choices.includes(likely) ? likely : choices[0];
  }
  tag.variants = tag.variants.map((variant) => variants[variant] ?? variant);
}

// Values of keywords with a newer form.
const TYPES = {
  ca: { 'islamicc': 'islamic-civil', 'ethiopic-amete-alem': 'ethioaa', 'gregorian': 'gregory' },
  ks: { primary: 'level1', tertiary: 'level3', 'identical': 'identic' },
  ms: { imperial: 'uksystem' },
  tz: { cnckg: 'cnsha', eire: 'iedub', est: 'papty', gmt0: 'gmt', uct: 'utc', zulu: 'utc' },
  kb: { yes: '' }, kc: { yes: '' }, kh: { yes: '' }, kk: { yes: '' }, kn: { yes: '' },
};

const KNOWN_LANGUAGE = /^[a-z]{2}$/;
// Two-letter languages that CLDR replaces.
const OLD = new Set(['in', 'iw', 'ji', 'jw', 'mo', 'sh', 'tl', 'bh', 'no', 'tw']);

function canonicalTag(text) {
  const tag = parseTag(text) ?? refuseTag();
  const isPlain = KNOWN_LANGUAGE.test(tag.language) && !OLD.has(tag.language) && tag.variants.length === 0 &&
    (tag.region === undefined || Object.values(index().regions).includes(tag.region)) && tag.script === undefined;
  if (!isPlain && !index().available.includes(baseName(tag))) replaceAliases(tag);
  tag.variants.sort();
  tag.attributes.sort();
  tag.keywords = new Map([...tag.keywords].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0).map(([key, type]) => {
    const value = TYPES[key]?.[type] ?? type;
    return [key, value === 'true' ? '' : value];
  }));
  const transform = tag.others.get('t');
  if (transform !== undefined) tag.others.set('t', sortedTransform(transform));
  return tag;
}

function sortedTransform(words) {
  const first = words.findIndex((word) => /^[a-z][0-9]$/.test(word));
  if (first < 0) return words;
  const fields = [];
  for (const word of words.slice(first)) {
    if (/^[a-z][0-9]$/.test(word)) fields.push([word]);
    else fields.at(-1).push(word);
  }
  return [...words.slice(0, first), ...fields.sort((a, b) => a[0] < b[0] ? -1 : 1).flat()];
}

const baseName = (tag) => [tag.language, tag.script, tag.region, ...tag.variants].filter(Boolean).join('-');

function tagText(tag) {
  const extensions = [...tag.others].map(([single, words]) => [single, ...words]);
  if (tag.attributes.length > 0 || tag.keywords.size > 0) {
    const keywords = [...tag.keywords].flatMap(([key, type]) => type === '' ? [key] : [key, type]);
    extensions.push(['u', ...tag.attributes, ...keywords]);
  }
  extensions.sort((a, b) => a[0] < b[0] ? -1 : 1);
  return [baseName(tag), ...extensions.flat(), ...(tag.privateUse === undefined ? [] : ['x', ...tag.privateUse])].join('-');
}

// Returns a tag with its likely language, script and region.
function maximal(tag) {
  const { likely } = subtags();
  const { language, script, region } = tag;
  if (language !== 'und' && script !== undefined && region !== undefined) return tag;
  const keys = [[language, script, region], [language, region], [language, script], [language], ['und', script], ['und', region]];
  for (const key of keys) {
    if (key.includes(undefined)) continue;
    const full = likely[key.join('-')];
    if (full === undefined) continue;
    const [newLanguage, newScript, newRegion] = full.split('-');
    return { ...tag, language: language === 'und' ? newLanguage : language, script: script ?? newScript, region: region ?? newRegion };
  }
  return tag;
}

function minimal(tag) {
  const full = maximal(tag);
  const same = (a, b) => a.language === b.language && a.script === b.script && a.region === b.region;
  const trials = [{ script: undefined, region: undefined }, { script: undefined }, { region: undefined }];
  for (const trial of trials) {
    const made = { ...full, ...trial };
    if (same(maximal(made), full)) return made;
  }
  return full;
}

// --- lists of locales ----------------------------------------------------------------------------------

// CanonicalizeLocaleList of ECMA-402.
function canonicalList(locales) {
  if (locales === undefined) return [];
  const list = [];
  const add = (value) => {
    if (typeof value !== 'string' && (typeof value !== 'object' || value === null)) throw new TypeError('Incorrect locale information provided');
    const text = locale.has(value) ? tagText(locale.get(value)) : tagText(canonicalTag(String(value)));
    if (!list.includes(text)) list.push(text);
  };
  if (typeof locales === 'string' || (typeof locales === 'object' && locales !== null && locale.has(locales))) {
    add(locales);
    return list;
  }
  if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
  const object = Object(locales);
  const length = Math.min(Math.max(Math.trunc(Number(object.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
  for (let i = 0; i < length; i++) if (i in object) add(object[i]);
  return list;
}

// Returns the available locale that a tag without extensions falls back to.
function bestAvailable(name) {
  const { available } = index();
  for (let at = name; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('-')))) {
    if (available.includes(at)) return at;
  }
  return undefined;
}

// Returns the tag of the environment's locale, by POSIX's variables.
function defaultLocale() {
  const env = host.process?.env ?? {};
  const value = env.LC_ALL || env.LC_MESSAGES || env.LANG || '';
  const name = value.replace(/[.@].*$/, '').replaceAll('_', '-');
  const tag = parseTag(name);
  if (tag === undefined) return 'en-US';
  return bestAvailable(baseName(canonicalTag(name))) ?? 'en-US';
}


// ResolveLocale of ECMA-402. `allowed(key, locale)` returns the permitted values of a keyword, the
// first of which is the locale's own, or a function that tests a value.
function resolveLocale(requested, options, keys, allowed) {
  let [found, tag] = [undefined, undefined];
  for (const text of requested) {
    const parsed = parseTag(text);
    const best = bestAvailable(baseName(parsed));
    if (best !== undefined) {
      [found, tag] = [best, parsed];
      break;
    }
  }
  found ??= defaultLocale();
  const result = { locale: found, dataLocale: found, keys: {} };
  const kept = new Map();
  for (const key of keys) {
    const values = allowed(key, found);
    let value = values[0] ?? null;
    const asked = tag?.keywords.get(key);
    if (asked !== undefined) {
      const wanted = asked === '' ? 'true' : asked;
      if (values.includes(wanted)) {
        value = wanted;
        kept.set(key, wanted === 'true' ? '' : wanted);
      }
    }
    const option = options[key];
    if (option !== undefined && option !== null && option !== value && values.includes(option)) {
      value = option;
      kept.delete(key);
    }
    result.keys[key] = value;
  }
  if (kept.size > 0) {
    result.locale = tagText({ ...parseTag(found), keywords: new Map([...kept].sort(([a], [b]) => a < b ? -1 : 1)) });
  }
  return result;
}

// --- options ---------------------------------------------------------------------------------------------

function optionsObject(options) {
  if (options === undefined) return { __proto__: null };
  if (options === null || (typeof options !== 'object' && typeof options !== 'function')) throw new TypeError('Incorrect options information provided');
  return options;
}

function coerced(options) {
  if (options === undefined) return { __proto__: null };
  if (options === null) throw new TypeError('Cannot convert undefined or null to object');
  return Object(options);
}

// GetOption of ECMA-402 for texts and truth values. `service` is for the message.
function option(options, name, kind, values, fallback, service = '') {
  let value = options[name];
  if (value === undefined) return fallback;
  if (kind === 'boolean') return Boolean(value);
  // A symbol is refused.
  value = `${value}`;
  if (values !== undefined && !values.includes(value)) throw new RangeError(`Value ${value} out of range for ${service} options property ${name}`);
  return value;
}

function numberOption(value, least, most, fallback, name) {
  if (value === undefined) return fallback;
  const number = Number(value);
  if (!(number >= least && number <= most)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(number);
}

const MATCHER = ['lookup', 'best fit'];

// Checks a value of a keyword, such as a calendar's name.
function typeOption(options, name, service) {
  const value = option(options, name, 'string', undefined, undefined, service);
  if (value !== undefined && !/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(value)) throw new RangeError(`Invalid ${name} : ${value}`);
  return value === undefined ? undefined : lower(value);
}

function supportedLocales(locales, options, service) {
  const list = canonicalList(locales);
  if (options !== undefined) option(coerced(options), 'localeMatcher', 'string', MATCHER, 'best fit', service);
  return list.filter((text) => bestAvailable(baseName(parseTag(text))) !== undefined);
}

// Returns the region of a locale, by which habits such as the hour cycle are found.
function regionOf(name) {
  const tag = parseTag(name);
  const base = [tag.language, tag.script].filter(Boolean).join('-');
  return tag.region ?? index().regions[base] ?? index().regions[tag.language] ?? '001';
}

// Defines a constructor's properties like the language's own: methods are not enumerable.
function defineService(name, Service, { locales = true } = {}) {
  Object.defineProperty(Service.prototype, Symbol.toStringTag, { __proto__: null, value: `Intl.${name}`, configurable: true, writable: false, enumerable: false });
  if (locales) {
    const { supportedLocalesOf } = { supportedLocalesOf(locales) { return supportedLocales(locales, arguments[1], `Intl.${name}`); } };
    Object.defineProperty(Service, 'supportedLocalesOf', { __proto__: null, value: supportedLocalesOf, configurable: true, writable: true, enumerable: false });
  }
  return Service;
}

// Returns the state of a receiver, or throws V8's error.
function stateOf(map, receiver, method, service) {
  const state = typeof receiver === 'object' && receiver !== null ? map.get(receiver) : undefined;
  if (state === undefined) {
    let shown = 'Object';
    try {
      shown = typeof receiver === 'object' && receiver !== null ? `#<${receiver.constructor?.name ?? 'Object'}>` : String(receiver);
    } catch {
      // A receiver that cannot be shown is shown as an object.
    }
    throw new TypeError(`Method Intl.${service}.prototype.${method} called on incompatible receiver ${shown}`);
  }
  return state;
}

// --- Intl.Locale -------------------------------------------------------------------------------------------

const locale = new WeakMap();
const tagOf = (receiver, method) => stateOf(locale, receiver, method, 'Locale');

class Locale {
  constructor(tag, options) {
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('First argument to Intl.Locale constructor can\'t be empty or missing');
    const parsed = canonicalTag(locale.has(tag) ? tagText(locale.get(tag)) : String(tag));
    const given = coerced(options);
    const part = (name, form, how) => {
      const value = option(given, name, 'string', undefined, undefined);
      if (value === undefined) return;
      if (!form.test(value)) throw new RangeError('Incorrect locale information provided');
      parsed[name] = how(value);
    };
    part('language', /^(?:[a-z]{2,3}|[a-z]{5,8})$/i, lower);
    part('script', /^[a-z]{4}$/i, title);
    part('region', /^(?:[a-z]{2}|[0-9]{3})$/i, (value) => value.toUpperCase());
    const variants = option(given, 'variants', 'string', undefined, undefined);
    if (variants !== undefined) parsed.variants = lower(variants).split('-');
    const whole = canonicalTag(tagText(parsed));
    const keyword = (key, value) => { if (value !== undefined) whole.keywords.set(key, value); };
    const typed = (name) => {
      const value = option(given, name, 'string', undefined, undefined);
      if (value !== undefined && !/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(value)) throw new RangeError('Incorrect locale information provided');
      return value === undefined ? undefined : lower(value);
    };
    keyword('ca', typed('calendar'));
    keyword('co', typed('collation'));
    let first = option(given, 'firstDayOfWeek', 'string', undefined, undefined);
    if (first !== undefined) {
      first = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'][first] ?? first;
      if (!/^[a-z0-9]{3,8}(?:-[a-z0-9]{3,8})*$/i.test(first)) throw new RangeError('Incorrect locale information provided');
      keyword('fw', first);
    }
    keyword('hc', option(given, 'hourCycle', 'string', ['h11', 'h12', 'h23', 'h24'], undefined, 'Intl.Locale'));
    keyword('kf', option(given, 'caseFirst', 'string', ['upper', 'lower', 'false'], undefined, 'Intl.Locale'));
    const numeric = option(given, 'numeric', 'boolean');
    if (numeric !== undefined) keyword('kn', numeric ? '' : 'false');
    keyword('nu', typed('numberingSystem'));
    locale.set(this, canonicalTag(tagText(whole)));
  }
  toString() { return tagText(tagOf(this, 'toString')); }
  maximize() { return localeOf(maximal(tagOf(this, 'maximize'))); }
  minimize() { return localeOf(minimal(tagOf(this, 'minimize'))); }
  get baseName() { return baseName(tagOf(this, 'baseName')); }
  get language() { return tagOf(this, 'language').language; }
  get script() { return tagOf(this, 'script').script; }
  get region() { return tagOf(this, 'region').region; }
  get variants() { const { variants } = tagOf(this, 'variants'); return variants.length === 0 ? undefined : variants.join('-'); }
  get calendar() { return tagOf(this, 'calendar').keywords.get('ca'); }
  get collation() { return tagOf(this, 'collation').keywords.get('co'); }
  get hourCycle() { return tagOf(this, 'hourCycle').keywords.get('hc'); }
  get caseFirst() { return tagOf(this, 'caseFirst').keywords.get('kf'); }
  get firstDayOfWeek() { return tagOf(this, 'firstDayOfWeek').keywords.get('fw'); }
  get numeric() { const value = tagOf(this, 'numeric').keywords.get('kn'); return value === '' || value === 'true'; }
  get numberingSystem() { return tagOf(this, 'numberingSystem').keywords.get('nu'); }
  getCalendars() { const tag = tagOf(this, 'getCalendars'); return one(tag, 'ca') ?? calendarsOf(tagText(tag)); }
  getCollations() { return one(tagOf(this, 'getCollations'), 'co') ?? ['emoji', 'eor']; }
  getHourCycles() { const tag = tagOf(this, 'getHourCycles'); return one(tag, 'hc') ?? [hourCycleOf(baseName(tag))]; }
  getNumberingSystems() { const tag = tagOf(this, 'getNumberingSystems'); return one(tag, 'nu') ?? [dataOf(bestAvailable(baseName(tag)) ?? 'en', 'n').default]; }
  getTimeZones() {
    const { region } = tagOf(this, 'getTimeZones');
    if (region === undefined) return undefined;
    const { regions, canonical } = partOf('root/zones');
    return [...new Set(Object.keys(regions).filter((zone) => regions[zone] === region).map((zone) => canonical[zone]))].sort();
  }
  getTextInfo() {
    const { script } = maximal(tagOf(this, 'getTextInfo'));
    return { direction: ['Arab', 'Hebr', 'Thaa', 'Syrc', 'Nkoo', 'Adlm', 'Rohg'].includes(script) ? 'rtl' : 'ltr' };
  }
  getWeekInfo() {
    const tag = tagOf(this, 'getWeekInfo');
    const { week } = index();
    const [first, , start, , end] = week[tag.region ?? maximal(tag).region] ?? week['001'];
    // CLDR counts from Sunday, ECMA-402 from Monday.
    const day = (n) => n === 1 ? 7 : n - 1;
    const weekend = [];
    for (let at = start; ; at = at % 7 + 1) {
      weekend.push(day(at));
      if (at === end) break;
    }
    const asked = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].indexOf(tag.keywords.get('fw')) + 1;
    return { firstDay: asked || day(first), weekend: weekend.sort((a, b) => a - b) };
  }
}
const one = (tag, key) => tag.keywords.get(key) ? [tag.keywords.get(key)] : undefined;
function localeOf(tag) {
  return new Locale(tagText(tag));
}

function calendarsOf(text) {
  const names = { gregorian: 'gregory', 'islamic-civil': 'islamic-civil', 'ethiopic-amete-alem': 'ethioaa' };
  const { calendars } = index();
  return (calendars[maximal(parseTag(text)).region] ?? calendars['001']).map((name) => names[name] ?? name);
}

// Returns the hour cycle of a locale.
function hourCycleOf(name) {
  const { time } = index();
  const tag = parseTag(name);
  const region = tag.region ?? regionOf(name);
  const [preferred] = time[`${tag.language}_${region}`] ?? time[region] ?? time['001'];
  return { H: 'h23', h: 'h12', K: 'h11', k: 'h24' }[preferred[0]];
}
Object.defineProperty(Locale, 'length', { __proto__: null, value: 1, configurable: true });
defineService('Locale', Locale, { locales: false });

host.intl = {
  Locale, partOf, dataOf, index, parseTag, tagText, baseName, maximal, canonicalTag, canonicalList, bestAvailable, defaultLocale, resolveLocale, optionsObject, coerced,
  option, numberOption, typeOption, supportedLocales, regionOf, hourCycleOf, calendarsOf, defineService, stateOf, MATCHER,
};
})
