//# numbers in sixteen languages
const LOCALES = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'ru', 'tr', 'ja', 'ko', 'zh', 'ar', 'ar-EG', 'hi'];
for (const l of LOCALES) {
  const f = (n, o) => new Intl.NumberFormat(l, o).format(n);
  console.log(l, [f(1234567.891), f(-1234.5, { style: 'currency', currency: 'EUR' }), f(0.256, { style: 'percent', maximumFractionDigits: 1 }),
    f(16, { style: 'unit', unit: 'kilometer-per-hour' }), f(3, { style: 'unit', unit: 'liter', unitDisplay: 'long' }), f(1234567, { notation: 'compact' }),
    f(987654321, { notation: 'compact', compactDisplay: 'long' }), f(12.5, { style: 'currency', currency: 'JPY', currencyDisplay: 'name' })].join(' | '));
}
//# digits, rounding, signs and grouping
const f = (n, o, l = 'en') => console.log(JSON.stringify(o), new Intl.NumberFormat(l, o).format(n));
f(1.005, { maximumFractionDigits: 2 }); f(2.5, { maximumFractionDigits: 0, roundingMode: 'halfEven' }); f(1234.5678, { maximumSignificantDigits: 3 }); f(5, { minimumIntegerDigits: 3, minimumFractionDigits: 1 });
f(1.23, { roundingIncrement: 5, minimumFractionDigits: 2, maximumFractionDigits: 2 }); f(-0, { signDisplay: 'exceptZero' }); f(-5, { style: 'currency', currency: 'USD', currencySign: 'accounting' });
f(1e21, {}); f(123456789012345678901234567890n, {}); f('12345678901234567890.123', { maximumFractionDigits: 3 }); f(0.00001234, { notation: 'scientific' }); f(123456, { notation: 'engineering' });
f(1234, { useGrouping: false }); f(1234, { useGrouping: 'min2' }); f(1234567, {}, 'en-IN'); f(1234, {}, 'es'); f(12345, {}, 'pl'); f(NaN, {}); f(-Infinity, { style: 'percent' }); f(10, { trailingZeroDisplay: 'stripIfInteger', minimumFractionDigits: 2 });
f(1.5, { style: 'unit', unit: 'megabyte', unitDisplay: 'narrow' }); f(5, { style: 'unit', unit: 'meter-per-day' }, 'de'); f(1234.5, { numberingSystem: 'deva' }); f(1234.5, {}, 'en-u-nu-arab'); f(-3, { style: 'currency', currency: 'EUR' }, 'nl'); f(2, { style: 'currency', currency: 'USD', currencyDisplay: 'code' }, 'de-CH');
console.log(JSON.stringify(new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).formatToParts(-1234.5)));
console.log(JSON.stringify(new Intl.NumberFormat('en-US', { notation: 'compact', style: 'currency', currency: 'USD' }).resolvedOptions()));
console.log(new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' }).formatRange(3, 5), new Intl.NumberFormat('de', { style: 'currency', currency: 'EUR' }).formatRange(3, 5), new Intl.NumberFormat('en').formatRange(2, 2), new Intl.NumberFormat('fr', { notation: 'compact' }).formatRange(1000, 2000000));
//# dates in sixteen languages
const LOCALES = ['en-US', 'en-GB', 'de', 'fr', 'es', 'it', 'pt-BR', 'nl', 'pl', 'ru', 'tr', 'ja', 'ko', 'zh-CN', 'zh-TW', 'ar-EG', 'hi'];
const date = Date.UTC(2024, 6, 5, 13, 4, 5, 678);
for (const l of LOCALES) {
  const f = (o) => new Intl.DateTimeFormat(l, { timeZone: 'Europe/Berlin', ...o }).format(date);
  console.log(l, [f({}), f({ dateStyle: 'full' }), f({ dateStyle: 'medium', timeStyle: 'short' }), f({ timeStyle: 'full' }), f({ year: 'numeric', month: 'long' }), f({ weekday: 'short', day: 'numeric' }),
    f({ hour: 'numeric', minute: '2-digit', hour12: true }), f({ month: 'short', day: 'numeric', hour: 'numeric' }), f({ era: 'short', year: 'numeric' })].join(' | '));
}
//# zones, clocks, parts and ranges of dates
const date = Date.UTC(2024, 0, 5, 23, 4, 5, 678);
for (const timeZone of ['UTC', 'America/New_York', 'Asia/Kolkata', 'Australia/Sydney', 'America/Sao_Paulo', '+05:30', 'europe/paris'])
  for (const timeZoneName of ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric']) console.log(timeZone, new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName, hour: 'numeric' }).format(date));
for (const hourCycle of ['h11', 'h12', 'h23', 'h24']) console.log(hourCycle, new Intl.DateTimeFormat('en', { hourCycle, hour: 'numeric', minute: 'numeric', timeZone: 'UTC' }).format(new Date(0)), new Intl.DateTimeFormat('ja', { hourCycle, hour: '2-digit', timeZone: 'UTC' }).format(new Date(0)));
for (const o of [{ minute: 'numeric', second: 'numeric', fractionalSecondDigits: 3 }, { hour: 'numeric', dayPeriod: 'long' }, { weekday: 'narrow' }, { month: 'narrow' }]) console.log(JSON.stringify(new Intl.DateTimeFormat('en', { ...o, timeZone: 'UTC' }).formatToParts(date)));
const r = (l, o, days) => new Intl.DateTimeFormat(l, { timeZone: 'UTC', ...o }).formatRange(date, date + days * 864e5);
for (const l of ['en', 'de', 'ja', 'fr']) console.log(l, [0, 0.01, 2, 40, 400].map((d) => `${r(l, { dateStyle: 'medium' }, d)} | ${r(l, { year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: 'numeric' }, d)} | ${r(l, { month: 'short', day: 'numeric' }, d)}`).join(' || '));
console.log(JSON.stringify(new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).formatRangeToParts(date, date + 864e5)), JSON.stringify(new Intl.DateTimeFormat('de', { timeZone: 'Asia/Kolkata', hour: 'numeric' }).resolvedOptions()));
//# methods of numbers, dates, lists and strings
process.env.TZ = 'America/New_York'; const d = new Date(Date.UTC(2024, 6, 5, 13, 4, 5));
console.log(d.toLocaleString(), '|', d.toLocaleDateString('de'), '|', d.toLocaleTimeString('fr'), '|', d.toLocaleDateString(undefined, { weekday: 'long' }), '|', String(d), '|', d.toTimeString());
process.env.TZ = 'Asia/Kolkata'; console.log(d.toLocaleString('en-GB'), '|', String(d), '|', Intl.DateTimeFormat().resolvedOptions().timeZone); process.env.TZ = 'UTC'; console.log(String(d), new Date(NaN).toLocaleString());
console.log((1234.5).toLocaleString(), (1234.5).toLocaleString('de', { minimumFractionDigits: 2 }), (12345678901234567890n).toLocaleString('fr'), [1234.5, 6789].toLocaleString('de'), new Float64Array([1234.5]).toLocaleString('it'));
console.log('i'.toLocaleUpperCase('tr'), 'I'.toLocaleLowerCase('tr'), 'ΐ Ὀδυσσεύς'.toLocaleUpperCase('el'), 'straße'.toLocaleUpperCase('de'), ['ä', 'a', 'z'].sort((a, b) => a.localeCompare(b, 'sv')).join(), ['ä', 'a', 'z'].sort((a, b) => a.localeCompare(b, 'de')).join(), 'a'.localeCompare('B'));
//# order of strings
const words = ['z', 'a', 'Z', 'A', 'ä', 'å', 'ö', 'é', 'e', 'ñ', 'n', 'ch', 'c', 'cz', '10', '2', 'a b', 'ab', 'a-b', 'ı', 'i', 'I', '中', '文', 'あ', 'ア', '한', 'й', 'ё', 'ø', 'æ', 'łódź', 'lodz'];
for (const l of ['en', 'de', 'sv', 'cs', 'es', 'pl', 'tr', 'ja', 'ko', 'zh', 'da', 'lt']) console.log(l, words.toSorted(new Intl.Collator(l).compare).join(' '));
for (const o of [{ numeric: true }, { sensitivity: 'base' }, { sensitivity: 'accent' }, { sensitivity: 'case' }, { caseFirst: 'upper' }, { ignorePunctuation: true }]) { const c = new Intl.Collator('en', o); console.log(JSON.stringify(o), [['a', 'A'], ['a', 'á'], ['10', '2'], ['co-op', 'coop']].map(([a, b]) => c.compare(a, b)).join(), words.toSorted(c.compare).join(' ')); }
console.log(['Ad', 'Ä', 'Af'].sort(new Intl.Collator('de-u-co-phonebk').compare).join(), new Intl.Collator('de-u-co-phonebk-kn').resolvedOptions());
//# plurals, lists, relative times, durations
for (const l of ['en', 'de', 'ru', 'ar', 'pl', 'ja', 'lt', 'fr']) { const c = new Intl.PluralRules(l); const o = new Intl.PluralRules(l, { type: 'ordinal' }); console.log(l, [0, 1, 2, 3, 5, 11, 21, 1.5, 1e6].map((n) => `${c.select(n)}/${o.select(n)}`).join(' '), c.selectRange(0, 1), c.resolvedOptions().pluralCategories.join()); }
for (const l of ['en', 'de', 'es', 'ja', 'ar', 'he']) console.log(l, ['conjunction', 'disjunction', 'unit'].map((type) => ['long', 'narrow'].map((style) => new Intl.ListFormat(l, { type, style }).format(['a', 'b', 'iglesia'])).join(' | ')).join(' || '));
for (const l of ['en', 'de', 'fr', 'ru', 'zh', 'ar']) console.log(l, [[-1, 'day'], [1, 'day'], [-2, 'weeks'], [5, 'month'], [1, 'year'], [-0, 'second'], [1234.5, 'hour']].map(([n, u]) => ['always', 'auto'].map((numeric) => new Intl.RelativeTimeFormat(l, { numeric }).format(n, u)).join('/')).join(' | '), new Intl.RelativeTimeFormat(l, { style: 'narrow' }).format(-3, 'month'));
for (const style of ['long', 'short', 'narrow', 'digital']) console.log(style, ['en', 'de', 'ja'].map((l) => new Intl.DurationFormat(l, { style }).format({ days: 1, hours: 2, minutes: 3, seconds: 4, milliseconds: 567 })).join(' | '));
//# names, segments and tags
for (const l of ['en', 'de', 'ja', 'ru']) console.log(l, [['language', 'zh-Hant'], ['language', 'pt-BR'], ['region', 'US'], ['region', '419'], ['script', 'Cyrl'], ['currency', 'EUR'], ['calendar', 'gregory'], ['dateTimeField', 'weekOfYear']].map(([type, of]) => new Intl.DisplayNames(l, { type }).of(of)).join(' | '));
const s = (granularity, text) => console.log(granularity, JSON.stringify([...new Intl.Segmenter('en', { granularity }).segment(text)].map((x) => x.segment + (x.isWordLike ? '+' : ''))));
s('grapheme', 'e\u0301\u{1f468}\u200d\u{1f469}\u200d\u{1f467}\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}स्ते\r\n한'); s('word', 'Can\'t pay 3.14, foo_bar? Да, мир.'); s('sentence', 'Mr. Smith went. "Really?" Yes! 1.5 km.');
console.log(Intl.getCanonicalLocales(['EN-us', 'zh-hans-cn', 'iw', 'cmn', 'de-u-kn-true-co-phonebk', 'art-lojban', 'ru-SU']), Intl.NumberFormat.supportedLocalesOf(['de-AT', 'xx', 'zh-Hant-HK']));
const locale = new Intl.Locale('zh-TW', { hourCycle: 'h23' }); console.log(String(locale), String(locale.maximize()), String(new Intl.Locale('en-Latn-US').minimize()), locale.getWeekInfo(), locale.getTextInfo());
//# wrong arguments
const t = (f) => { try { console.log(f()); } catch (e) { console.log(e.name, e.message); } };
t(() => new Intl.NumberFormat('en', { style: 'currency' })); t(() => new Intl.NumberFormat('en', { style: 'x' })); t(() => new Intl.NumberFormat('en', { maximumFractionDigits: 101 })); t(() => new Intl.DateTimeFormat('en', { timeZone: 'Nowhere/X' }));
t(() => new Intl.DateTimeFormat('en').format(NaN)); t(() => new Intl.NumberFormat('e')); t(() => new Intl.NumberFormat(null)); t(() => new Intl.RelativeTimeFormat('en').format(1, 'foo')); t(() => new Intl.NumberFormat('en', { style: 'unit', unit: 'foo' })); t(() => new Intl.Segmenter('en', { granularity: 'x' }));
t(() => Object.getOwnPropertyNames(Intl).join()); t(() => String(Intl)); t(() => Intl.NumberFormat('de').format(1.5)); t(() => typeof Intl.DateTimeFormat.prototype.formatToParts.call({})); t(() => [Intl.NumberFormat.name, Intl.NumberFormat.length, Intl.supportedValuesOf('unit').length].join());
//# decoders of the Encoding Standard
const hex = (h) => Buffer.from(h, 'hex'); const d = (label, h, o) => { try { console.log(label, JSON.stringify(new TextDecoder(label, o).decode(hex(h)))); } catch (e) { console.log(label, e.name, e.code); } };
d('shift_jis', '82a0834183'); d('sjis', '8ae08365'); d('euc-jp', 'a4a28fb0a1'); d('iso-2022-jp', '1b2442242a1b284261'); d('big5', 'a4a4a4e5'); d('gb18030', '8130813081308130c4e3'); d('gbk', 'c4e3bac3'); d('euc-kr', 'b0a1b0a2'); d('utf-16le', '41000041d83d'); d('utf-16be', '00410042'); d('utf-16le', 'fffe4100'); d('utf-16le', 'fffe4100', { ignoreBOM: true });
d('windows-1252', '80e4ff'); d('latin1', 'e4'); d('koi8-r', 'c1'); d('macintosh', '80'); d('ibm866', '80'); d('iso-8859-15', 'a4'); d('x-user-defined', '80ff'); d('euc-kr', 'b0', { fatal: true }); d('shift_jis', '82', { fatal: true }); d('utf-16le', '00d8', { fatal: true }); d('nope', '00');
const s = new TextDecoder('shift_jis'); console.log(s.decode(hex('82'), { stream: true }), s.decode(hex('a082'), { stream: true }), JSON.stringify(s.decode()), s.encoding, s.fatal); const u = new TextDecoder('utf-16be'); console.log(u.decode(hex('00'), { stream: true }) + u.decode(hex('41')));
const { transcode } = require('buffer'); console.log(transcode(Buffer.from('€aä'), 'utf8', 'latin1'), transcode(Buffer.from('€aä😀'), 'utf8', 'ascii'), transcode(Buffer.from('aä😀'), 'utf8', 'ucs2'), transcode(Buffer.from('e4', 'hex'), 'latin1', 'utf8')); try { transcode(Buffer.from('a'), 'hex', 'utf8'); } catch (e) { console.log(e.message, e.code, e.errno); }
