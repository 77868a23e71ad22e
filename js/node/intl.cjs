// Makes the archive of locale data for `Intl`: `node intl.cjs PROGRAM OUT`, where PROGRAM is the
// pinned Node, which also runs this. The data are those of the ICU in that program, so results have
// the same version of CLDR as Node's.
//
// Each locale has parts, which are read when they are needed: numbers (`n`), currencies (`c`),
// units (`u`), dates (`d`), lists (`l`), relative times (`r`), names (`k`) and zones (`z`). A part
// `de/n` is JSON of what differs from the part of the locale's parent. Parts that differ in nothing
// are absent. `root/index`, `root/subtags`, `root/plurals`,
// `root/zones` and the rules of text boundaries belong to no locale.
'use strict';
const fs = require('fs');
const { Bundles, isTable } = require('./icu.cjs');
const { writeArchive } = require('./archive.cjs');

// The languages with data. All of ICU's would be 2 MB instead of 0.6 MB. Persian and Thai are left
// out because their calendars are.
const LANGUAGES = 'ar bg bn ca cs da de el en es et fi fr he hi hr hu id it ja ko lt lv ms nb nl nn no pl pt ro ru sk sl sr sv ta tr uk vi zh'.split(' ');

// The units that ECMA-402 permits (table 2).
const UNITS = 'acre bit byte celsius centimeter day degree fahrenheit fluid-ounce foot gallon gigabit gigabyte gram hectare hour inch kilobit kilobyte kilogram kilometer liter megabit megabyte meter microsecond mile mile-scandinavian milliliter millimeter millisecond minute month nanosecond ounce percent petabyte pound second stone terabit terabyte week yard year'.split(' ');

const [program, out] = process.argv.slice(2);
const icu = new Bundles(program);
const tag = (name) => name.replaceAll('_', '-');

// --- the locales ---------------------------------------------------------------------------------

const names = icu.names.filter((name) => /^[a-z]{2,3}(_[A-Z][a-z]{3})?(_[A-Z0-9]{2,3})?\.res$/.test(name)).map((name) => name.slice(0, -4))
  .filter((name) => LANGUAGES.includes(name.split('_')[0]));
// The tags that Node supports, which include those without the script (`zh-TW`).
const tags = new Set(names.flatMap((name) => [tag(name), tag(name).replace(/^([a-z]+)-[A-Z][a-z]{3}-/, '$1-')]));
const available = Intl.NumberFormat.supportedLocalesOf([...tags]).filter((name) => tags.has(name)).sort();

// Returns the name of the bundle of a tag.
function bundleOf(tag) {
  const name = tag.replaceAll('-', '_');
  const alias = icu.value(name)?.['%%ALIAS'];
  if (alias !== undefined) return alias;
  if (icu.value(name) !== undefined) return name;
  const full = new Intl.Locale(tag).maximize();
  return `${full.language}_${full.script}_${full.region}`;
}
const bundles = new Set(['root']);
const targets = {};
for (const name of available) {
  const bundle = bundleOf(name);
  if (tag(bundle) !== name) targets[name] = bundle;
  for (let at = bundle; at !== undefined; at = icu.parent(at)) bundles.add(at);
}
const parents = {};
for (const name of bundles) {
  const usual = name.includes('_') ? name.slice(0, name.lastIndexOf('_')) : 'root';
  if (name !== 'root' && icu.parent(name) !== usual) parents[name] = icu.parent(name);
}

// --- the parts of a locale -----------------------------------------------------------------------

function pick(table, keys) {
  return Object.fromEntries(keys.filter((key) => table?.[key] !== undefined).map((key) => [key, table[key]]));
}

const NUMBERS = ['miscPatterns', 'patterns', 'patternsLong', 'patternsShort', 'symbols'];
// The data of digits that are not a locale's own are those of the root.
const SYSTEMS = ['latn', 'arab', 'arabext', 'beng', 'deva', 'tamldec'];

function numbers(name) {
  const { default: usual, native, minimumGroupingDigits, ...systems } = icu.inherited('', name, ['NumberElements']);
  const parts = SYSTEMS.filter((system) => systems[system] !== undefined).map((system) => [system, pick(systems[system], NUMBERS)]);
  return { default: usual, native, minimumGroupingDigits, ...Object.fromEntries(parts) };
}

function units(name) {
  const widths = {};
  for (const [width, key] of [['long', 'units'], ['short', 'unitsShort'], ['narrow', 'unitsNarrow']]) {
    const found = widths[width] = {};
    for (const [kind, table] of Object.entries(icu.inherited('unit/', name, [key]))) {
      if (kind === 'compound') found.per = table.per;
      else Object.keys(table).filter(isUnit).forEach((unit) => { found[unit] = forms(table[unit]); });
    }
  }
  return widths;
}
const isUnit = (unit) => unit.split('-per-').every((part) => UNITS.includes(part));
const forms = (table) => pick(table, ['zero', 'one', 'two', 'few', 'many', 'other', 'per']);

const dates = (name) => pick(icu.inherited('', name, ['calendar', 'gregorian']), [
  'AmPmMarkers', 'AmPmMarkersAbbr', 'AmPmMarkersNarrow', 'DateTimePatterns', 'DateTimePatterns%atTime', 'DateTimeSkeletons', 'appendItems',
  'availableFormats', 'dayNames', 'dayPeriod', 'eras', 'intervalFormats', 'monthNames', 'quarters']);

const FIELDS = /^(year|quarter|month|week|day|hour|minute|second|era|weekday|dayperiod|zone)(-short|-narrow)?$/;
const relative = (name) => Object.fromEntries(Object.entries(icu.inherited('', name, ['fields'])).filter(([key]) => FIELDS.test(key)));

const currencies = (name) => {
  const get = (key) => icu.inherited('curr/', name, [key]);
  return { names: get('Currencies'), narrow: get('Currencies%narrow'), plurals: get('CurrencyPlurals'), patterns: get('CurrencyUnitPatterns'), spacing: get('currencySpacing') };
};

const displayNames = (name) => {
  const of = (folder, ...path) => icu.inherited(folder, name, path);
  return {
    languages: of('lang/', 'Languages'), languagesShort: of('lang/', 'Languages%short'), languagesMenu: of('lang/', 'Languages%menu'),
    scripts: of('lang/', 'Scripts'), scriptsAlone: of('lang/', 'Scripts%stand-alone'),
    calendars: of('lang/', 'Types', 'calendar'), pattern: of('lang/', 'localeDisplayPattern'),
    regions: of('region/', 'Countries'), regionsShort: of('region/', 'Countries%short'),
  };
};

const PARTS = {
  n: numbers, c: currencies, u: units, d: dates, l: (name) => icu.inherited('', name, ['listPattern']), r: relative,
  k: displayNames, z: (name) => icu.inherited('zone/', name, ['zoneStrings']),
};

// Returns the part of `value` that differs from `parent`; undefined if nothing does.
function difference(value, parent) {
  if (parent === undefined) return value;
  if (!isTable(value) || !isTable(parent)) return JSON.stringify(value) === JSON.stringify(parent) ? undefined : value;
  const out = {};
  for (const key in value) {
    const part = difference(value[key], parent[key]);
    if (part !== undefined) out[key] = part;
  }
  return Object.keys(out).length === 0 ? undefined : out;
}

// --- data of no locale -----------------------------------------------------------------------------

const supplemental = icu.value('supplementalData');

// Returns the likely subtags of all languages, scripts and regions that ICU names, by the keys
// `language`, `language-REGION`, `language-Script`, where they do not follow from a shorter key.
function likelySubtags() {
  const english = { languages: Object.keys(icu.inherited('lang/', 'en', ['Languages'])), scripts: Object.keys(icu.inherited('lang/', 'en', ['Scripts'])),
                    regions: Object.keys(icu.inherited('region/', 'en', ['Countries'])).filter((region) => /^[A-Z]{2}$/.test(region)) };
  const table = {};
  const maximal = (text) => new Intl.Locale(text).maximize().toString();
  const languages = ['und', ...new Set([...english.languages.filter((language) => /^[a-z]{2,3}$/.test(language)), ...names.map((name) => name.split('_')[0])])];
  for (const language of languages) {
    const own = maximal(language);
    if (own !== language) table[language] = own;
    const [, script] = own.split('-');
    for (const region of english.regions) {
      const full = maximal(`${language}-${region}`);
      if (full !== `${language}-${script}-${region}` && full !== `${language}-${region}`) table[`${language}-${region}`] = full;
    }
    for (const other of english.scripts) {
      const full = maximal(`${language}-${other}`);
      if (full !== `${language}-${other}-${own.split('-')[2]}` && full !== `${language}-${other}`) table[`${language}-${other}`] = full;
    }
  }
  return table;
}

function aliases() {
  const out = {};
  for (const [kind, table] of Object.entries(icu.value('metadata').alias)) {
    out[kind] = Object.fromEntries(Object.entries(table).map(([from, { replacement }]) => [tag(from).toLowerCase(), tag(replacement)]));
  }
  return out;
}

const systems = Object.entries(icu.value('numberingSystems').numberingSystems).filter(([, { algorithmic, radix }]) => !algorithmic && radix === 10)
  .map(([name, { desc }]) => [name, desc]);

const index = {
  available, targets, parents, systems: Object.fromEntries(systems), units: UNITS,
  regions: Object.fromEntries(available.map((name) => new Intl.Locale(name)).filter((locale) => locale.region === undefined)
    .map((locale) => [locale.toString(), locale.maximize().region])),
  time: Object.fromEntries(Object.entries(supplemental.timeData).map(([region, { preferred, allowed }]) => [region, [preferred, ...[allowed].flat()]])),
  // The languages with rules of their own for searching.
  searches: [...new Set(available.map((name) => name.split('-')[0]))].filter((name) => icu.value(`coll/${name}`)?.collations?.search !== undefined),
  collators: available.filter((name) => new Intl.Collator(name).resolvedOptions().locale === name),
  week: Object.fromEntries(Object.entries(supplemental.weekData).map(([region, days]) => [region, days.slice(0, 5)])),
  calendars: supplemental.calendarPreferenceData,
  currencyDigits: Object.fromEntries(Object.entries(icu.value('curr/supplementalData').CurrencyMeta).map(([code, [digits]]) => [code, digits])),
};

// What only tags that are not canonical, and `Intl.Locale`, need.
const subtags = {
  aliases: aliases(), likely: likelySubtags(),
  supported: Object.fromEntries(['collation', 'currency', 'unit'].map((kind) => [kind, Intl.supportedValuesOf(kind)])),
};

const rulesOf = (sets) => Object.fromEntries(Object.entries(sets).map(([set, rules]) => [set, isTable(rules)
  ? Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, typeof rule === 'string' ? rule.split('@')[0].trim() : rule])) : rules]));
const plurals = {
  ...icu.value('plurals'), rules: rulesOf(icu.value('plurals').rules), ranges: icu.value('pluralRanges'), periods: icu.value('dayPeriods'),
};

const { metazoneInfo, mapTimezones } = icu.value('metaZones');
const colons = (table) => Object.fromEntries(Object.entries(table).map(([zone, value]) => [zone.replaceAll(':', '/'), value]));
const { Names: zoneNames, Regions: zoneRegions } = icu.value('zoneinfo64');
const ZONES = new Map(zoneNames.map((name, i) => [name, zoneRegions[i]]));
// The names that Node reports for other names of a zone.
const canonical = {};
for (const name of zoneNames) {
  try {
    canonical[name] = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    // ICU has some names that ECMA-402 does not permit.
  }
}
// The number of zones of each region, without other names of a zone.
const count = {};
for (const name of new Set(Object.values(canonical))) {
  const region = ZONES.get(name);
  if (region !== undefined) count[region] = (count[region] ?? 0) + 1;
}
const zones = {
  canonical, regions: Object.fromEntries(Object.keys(canonical).map((name) => [name, ZONES.get(name)])), count,
  meta: colons(metazoneInfo), map: mapTimezones, primary: icu.value('metaZones').primaryZones, names: Intl.supportedValuesOf('timeZone'),
};

// --- the rules of text boundaries ------------------------------------------------------------------

// A part of `brkitr` is a header of ICU (its length in the first two bytes) and the rules' tables,
// whose own length is the third number of their header (`rbbidata.h`).
function breaks(name) {
  const bytes = icu.bytes(`brkitr/${name}.brk`);
  const head = bytes.readUInt16LE(0);
  return bytes.subarray(head, head + bytes.readUInt32LE(head + 8)).toString('base64');
}

const archive = [['root/index', JSON.stringify(index)], ['root/subtags', JSON.stringify(subtags)], ['root/plurals', JSON.stringify(plurals)], ['root/zones', JSON.stringify(zones)]];
for (const name of ['char', 'word', 'sent']) archive.push([`root/${name}`, breaks(name)]);
const made = new Map();
function part(name, key) {
  const id = `${name}/${key}`;
  if (!made.has(id)) made.set(id, PARTS[key](name));
  return made.get(id);
}
for (const key of Object.keys(PARTS)) {
  for (const name of [...bundles].sort()) {
    const parent = icu.parent(name);
    const own = difference(part(name, key), parent === undefined ? undefined : part(parent, key));
    if (own !== undefined) archive.push([`${name}/${key}`, JSON.stringify(own)]);
  }
}
fs.writeFileSync(out, writeArchive(archive));
